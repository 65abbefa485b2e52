"""Checks of the paper's sentences about its own numbers."""

from __future__ import annotations

from imlp_audit.checks.averages import judge_average
from imlp_audit.checks.claim_arithmetic import RowTruth, Truth, all_of, compared, middle, ordered, quantified
from imlp_audit.checks.context import Context
from imlp_audit.checks.inputs import input_truth
from imlp_audit.checks.quantities import bound_of, named, shown, value_of
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.plan import ClaimPlan
from imlp_audit.spec.references import RowRef, find_cell, rows_of_claim
from imlp_audit.spec.schema_claims import Claim, Direction, Reference


def check_claim(plan: ClaimPlan, context: Context) -> Check:
    """Judge a claim in the meaning that the spec states for it."""
    claim = plan.claim.value
    if claim.reference is not None:
        verdict, reason, measured = _reference(plan, claim.reference, context)
    elif claim.order is not None:
        verdict, reason, measured = _order(plan, context)
    elif claim.average is not None:
        verdict, reason, measured = judge_average(claim.average, context)
    elif claim.input is not None:
        truths = [input_truth(row, claim.input, context) for row in rows_of_claim(plan.claim.value, context.papers)]
        verdict, reason, measured = _quantified(truths, claim)
    else:
        verdict, reason, measured = _conditions(plan, context)
    if verdict is Verdict.INCONSISTENT and claim.meaning is not None:
        verdict = Verdict.DIFFERS  # false in the meaning the spec states; the words may bear another
    return Check(
        id=plan.id, kind=plan.kind, verdict=verdict, reason=reason, source=plan.source,
        printed=claim.text, statement=claim.meaning, measured=measured,
    )  # fmt: skip


def _reference(plan: ClaimPlan, reference: Reference, context: Context) -> tuple[Verdict, str, str]:
    """Judge whether the table that the text points to holds the cells it speaks of."""
    cells = [cell for name in reference.holds if (cell := find_cell(context.papers, name)) is not None]
    tables = sorted({f"{cell.row.paper.id}/{cell.row.table.value.table}" for cell in cells})
    pointed = f"{plan.paper.id}/{reference.table}"
    title = next((t.value.title for t in plan.paper.tables if t.value.table == reference.table), None)
    stand = " and ".join(tables)
    if tables == [pointed]:
        return Verdict.REPRODUCED, f"table {pointed} holds them", stand
    told = f"table {pointed} is {title!r}" if title else f"there is no table {reference.table}"
    return Verdict.INCONSISTENT, f"the numbers stand in table {stand}; {told}", stand


def _order(plan: ClaimPlan, context: Context) -> tuple[Verdict, str, str]:
    """Judge whether a quantity goes one way along the rows."""
    order, rows = plan.claim.value.order, rows_of_claim(plan.claim.value, context.papers)
    assert order is not None
    values = [(row.row.id, value_of(row, order, context, rows)) for row in rows[order.kind == "step" :]]
    verdict, reason = ordered(values, increasing=order.direction is Direction.INCREASING)
    heading = named(order)
    return (
        verdict,
        f"{heading}, to be {order.direction}: {reason}",
        ", ".join(middle(value) for _, value in values if value),
    )


def _conditions(plan: ClaimPlan, context: Context) -> tuple[Verdict, str, str]:
    """Judge whether all conditions hold in all rows, or in as many as the claim says."""
    claim, rows = plan.claim.value, rows_of_claim(plan.claim.value, context.papers)
    truths = [truth for row in rows if (truth := _row_truth(row, claim, context, rows)) is not None]
    return _quantified(truths, claim)


def _quantified(truths: list[RowTruth], claim: Claim) -> tuple[Verdict, str, str]:
    verdict, reason = quantified(truths, claim.holds_for)
    return verdict, reason, "; ".join(f"{truth.row}: {truth.values}" for truth in truths)


def _row_truth(row: RowRef, claim: Claim, context: Context, rows: list[RowRef]) -> RowTruth | None:
    """Judge the conditions in a row; the first row has no step, and no part in a claim about steps alone."""
    parts = []
    for condition in claim.conditions or ():
        if condition.kind == "step" and row is rows[0]:
            continue
        value = value_of(row, condition, context, rows)
        truth = Truth.OPEN if value is None else compared(value, condition.relation, bound_of(row, condition, context))
        parts.append((truth, condition, shown(row, condition, value)))
    if not parts:
        return None
    overall = all_of([truth for truth, _, _ in parts])
    because = ", ".join(
        f"{named(condition)} ({value}) {condition.relation.replace('_', ' ')} {condition.bound} {truth.value}"
        for truth, condition, value in parts
        if truth is overall
    )
    return RowTruth(row.row.id, overall, because, ", ".join(f"{named(c)} {value}" for _, c, value in parts))
