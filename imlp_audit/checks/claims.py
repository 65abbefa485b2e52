"""Checks of the paper's sentences about its own numbers."""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.checks.context import Context
from imlp_audit.checks.inputs import input_truth
from imlp_audit.checks.quantities import bound_of, format_value, name_quantity, value_of
from imlp_audit.checks.truth import RowTruth, Truth, all_of, judge_order, judge_relation, judge_share, middle
from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.printed import parse_printed
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.claims import Average, Claim, Direction, Reference
from imlp_audit.spec.plan import ClaimPlan
from imlp_audit.spec.references import CellRef, RowRef, find_cell, rows_of_claim


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
        verdict, reason, measured = _judge_rows(truths, claim)
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
    verdict, reason = judge_order(values, increasing=order.direction is Direction.INCREASING)
    heading = name_quantity(order)
    return (
        verdict,
        f"{heading}, to be {order.direction}: {reason}",
        ", ".join(middle(value) for _, value in values if value),
    )


def _conditions(plan: ClaimPlan, context: Context) -> tuple[Verdict, str, str]:
    """Judge whether all conditions hold in all rows, or in as many as the claim says."""
    claim, rows = plan.claim.value, rows_of_claim(plan.claim.value, context.papers)
    truths = [truth for row in rows if (truth := _row_truth(row, claim, context, rows)) is not None]
    return _judge_rows(truths, claim)


def _judge_rows(truths: list[RowTruth], claim: Claim) -> tuple[Verdict, str, str]:
    verdict, reason = judge_share(truths, claim.holds_for)
    return verdict, reason, "; ".join(f"{truth.row}: {truth.values}" for truth in truths)


def _row_truth(row: RowRef, claim: Claim, context: Context, rows: list[RowRef]) -> RowTruth | None:
    """Judge the conditions in a row; the first row has no step, and no part in a claim about steps alone."""
    parts = []
    for condition in claim.conditions or ():
        if condition.kind == "step" and row is rows[0]:
            continue
        value = value_of(row, condition, context, rows)
        truth = (
            Truth.OPEN
            if value is None
            else judge_relation(value, condition.relation, bound_of(row, condition, context))
        )
        parts.append((truth, condition, format_value(row, condition, value)))
    if not parts:
        return None
    overall = all_of([truth for truth, _, _ in parts])
    because = ", ".join(
        f"{name_quantity(condition)} ({value}) {condition.relation.replace('_', ' ')} {condition.bound} {truth.value}"
        for truth, condition, value in parts
        if truth is overall
    )
    return RowTruth(row.row.id, overall, because, ", ".join(f"{name_quantity(c)} {value}" for _, c, value in parts))


def judge_average(average: Average, context: Context) -> tuple[Verdict, str, str]:
    """Judge an average by its printed members; those that are not printed lie between 0 and the largest score."""
    printed = _interval(_cell(average.cell, context), context)
    known = sum((_interval(_cell(name, context), context) for name in average.of), Interval.point(0))
    rest = average.count - len(average.of)
    if rest == 0:
        mean = known * Fraction(1, average.count)
        verdict = Verdict.REPRODUCED if mean.meets(printed) else Verdict.INCONSISTENT
        return verdict, f"the mean of the {average.count} is {middle(mean)}", middle(mean)
    others = (printed * average.count - known) * Fraction(1, rest)
    told = f"the {rest} that are not printed must average {middle(others)}"
    if not others.meets(Interval(Fraction(0), parse_printed(average.at_most).value)):
        return Verdict.INCONSISTENT, f"{told}, but each lies between 0 and {average.at_most}", middle(others)
    return Verdict.UNVERIFIABLE, f"{told}, which is possible", middle(others)


def _cell(name: str, context: Context) -> CellRef:
    cell = find_cell(context.papers, name)
    assert cell is not None, "spec.rules has seen to it"
    return cell


def _interval(cell: CellRef, context: Context) -> Interval:
    return cell.printed.interval(context.conventions(cell.row.paper).roundings[0])
