"""Explaining a check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from imlp_audit.checks.context import Conventions
from imlp_audit.checks.printed import missing_for
from imlp_audit.explain.cells import measurements, opening
from imlp_audit.explain.changes import delta, repeat
from imlp_audit.explain.claims import claim
from imlp_audit.explain.equations import equation
from imlp_audit.explain.head import head, stands_at
from imlp_audit.explain.layout import Lines, document
from imlp_audit.explain.tables import columns, mark
from imlp_audit.explain.totals import anatomy
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.plan import CellPlan, ClaimPlan, ColumnsPlan, DeltaPlan, EquationPlan, MarkPlan, Plan, RepeatPlan


def rests_on(plan: Plan) -> tuple[str, ...]:
    """Return the ids of the cells whose checks an explanation needs beside the plan's own."""
    match plan:
        case DeltaPlan(measured=True):
            return plan.base.id, plan.cell.id
        case MarkPlan():
            return (plan.cell.id,)
        case _:
            return ()


def explain(plan: Plan, checks: Mapping[str, Check], papers: Sequence[Paper]) -> str:
    """Return what a check found, and why, in words and numbers.

    `checks` are that of the plan, by its id, and those it rests on; `papers` are all that cells can be looked up in.
    """
    return document(_sections(plan, checks, papers))


def _sections(plan: Plan, checks: Mapping[str, Check], papers: Sequence[Paper]) -> Iterator[Lines]:
    yield from _explained(plan, checks, papers)
    paper, _, rest = plan.id.partition("/")
    waiver = checks.get(f"{paper}/waivers/{rest}")
    if waiver is not None:
        yield head(waiver, ("declared", stands_at(waiver.source)))


def _explained(plan: Plan, checks: Mapping[str, Check], papers: Sequence[Paper]) -> Iterator[Lines]:
    check = checks[plan.id]
    match plan:
        case CellPlan():
            return _cell(plan, check)
        case DeltaPlan():
            return delta(plan, check, checks, _read(plan.cell.row.paper))
        case RepeatPlan():
            return repeat(plan, check, _read(plan.cell.row.paper))
        case MarkPlan():
            return mark(plan, check, checks, _read(plan.row.paper))
        case ColumnsPlan():
            return columns(plan, check)
        case ClaimPlan():
            return claim(plan, check, papers)
        case EquationPlan():
            return equation(check)
        case _:
            assert_never(plan)


def _read(paper: Paper) -> Conventions:
    return Conventions(paper.about.value)


def _cell(plan: CellPlan, check: Check) -> Iterator[Lines]:
    cell, read = plan.cell, _read(plan.cell.row.paper)
    yield opening(check, cell, read)
    yield measurements(check, cell, read)
    if cell.column.measure.totalled and missing_for(cell) is None and check.verdict is not Verdict.ERROR:
        yield from anatomy(check, cell, read)
