"""Narrowing the planned checks to those that are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from imlp_audit.errors import UsageError
from imlp_audit.spec.library import Selection
from imlp_audit.spec.plan import Plan, plan


def planned(selection: Selection, only: Sequence[str] = (), skip: Sequence[str] = ()) -> list[Plan]:
    """Return the checks of the selected papers in order: of the files asked for, and by globs of their ids.

    Raises UsageError where none is left.
    """
    plans = [
        check
        for paper in selection.papers
        for check in plan(paper, selection.known)
        if check.source.file in (selection.only_files.get(paper.id) or {check.source.file})
        and (not only or any(fnmatchcase(check.id, glob) for glob in only))
        and not any(fnmatchcase(check.id, glob) for glob in skip)
    ]
    if not plans:
        asked = "".join([*(f" --only {glob}" for glob in only), *(f" --skip {glob}" for glob in skip)])
        raise UsageError(f"no check is selected{' by' if asked else ''}{asked}; `imlp-audit list` prints their ids")
    return plans
