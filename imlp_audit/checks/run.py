"""Making each planned check; one that cannot be made is an error on record, never the end of the audit."""

from __future__ import annotations

from typing import assert_never

from imlp_audit.checks.cells import check_cell
from imlp_audit.checks.changes import check_delta, check_repeat
from imlp_audit.checks.claims import check_claim
from imlp_audit.checks.columns import check_columns
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.equations import check_equation
from imlp_audit.checks.marks import check_mark
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.plan import CellPlan, ClaimPlan, ColumnsPlan, DeltaPlan, EquationPlan, MarkPlan, Plan, RepeatPlan


def run_check(plan: Plan, context: Context) -> Check:
    """Make one check."""
    try:
        return _dispatch(plan, context)
    except NotMeasuredError as error:
        printed = plan.cell.row.row.printed[plan.cell.column_id] if isinstance(plan, CellPlan) else None
        return Check(
            id=plan.id, kind=plan.kind, verdict=Verdict.ERROR, reason=str(error), source=plan.source, printed=printed
        )  # fmt: skip


def _dispatch(plan: Plan, context: Context) -> Check:
    match plan:
        case CellPlan():
            return check_cell(plan, context)
        case DeltaPlan():
            return check_delta(plan, context)
        case MarkPlan():
            return check_mark(plan, context)
        case RepeatPlan():
            return check_repeat(plan, context)
        case ColumnsPlan():
            return check_columns(plan, context)
        case ClaimPlan():
            return check_claim(plan, context)
        case EquationPlan():
            return check_equation(plan, context.outcomes[plan.id])
        case _:
            assert_never(plan)
