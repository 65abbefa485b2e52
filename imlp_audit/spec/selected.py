"""Narrowing the planned checks to those that are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from imlp_audit.errors import UsageError
from imlp_audit.near import did_you_mean
from imlp_audit.spec.library import Selection
from imlp_audit.spec.plan import EquationPlan, Plan, plan


def planned(
    selection: Selection, only: Sequence[str] = (), skip: Sequence[str] = (), *, solving: bool = False
) -> list[Plan]:
    """Return the checks of the selected papers in order: of the files asked for, and by globs of their ids.

    Statements about functions that need a solver are among them with `solving` alone. Raises UsageError where none
    is left.
    """
    plans = [
        check
        for check in _all(selection)
        if (not only or any(fnmatchcase(check.id, glob) for glob in only))
        and not any(fnmatchcase(check.id, glob) for glob in skip)
        and (solving or not (isinstance(check, EquationPlan) and check.claim.needs))
    ]
    if not plans:
        asked = "".join([*(f" --only {glob}" for glob in only), *(f" --skip {glob}" for glob in skip)])
        raise UsageError(f"no check is selected{' by' if asked else ''}{asked}; `imlp-audit list` prints their ids")
    return plans


def planned_equations(selection: Selection, patterns: Sequence[str] = ()) -> list[Plan]:
    """Return the checks of statements about functions: all of them, or those whose id or name a pattern matches.

    Raises UsageError for a pattern that matches none.
    """
    plans = [check for check in _all(selection) if isinstance(check, EquationPlan)]
    for pattern in patterns:
        if not any(_matches(plan, pattern) for plan in plans):
            names = [plan.id if "/" in pattern else plan.claim.name for plan in plans]
            raise UsageError(f"no claim matches {pattern!r}; {did_you_mean(pattern, names, 'claims')}")
    return [plan for plan in plans if not patterns or any(_matches(plan, pattern) for pattern in patterns)]


def _matches(plan: EquationPlan, pattern: str) -> bool:
    return fnmatchcase(plan.id, pattern) or fnmatchcase(plan.claim.name, pattern)


def _all(selection: Selection) -> Iterator[Plan]:
    """Yield the checks of the selected papers, and of the files that the selection was narrowed to."""
    for paper in selection.papers:
        only = selection.only_files.get(paper.id)
        for check in plan(paper, selection.known):
            if not only or check.source.file in only:
                yield check
