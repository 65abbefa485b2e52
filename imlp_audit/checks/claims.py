"""Checks of the paper's sentences about its own numbers."""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.arithmetic.claims import (
    RowTruth,
    Truth,
    all_of,
    compared,
    middle,
    ordered,
    quantified,
)
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.interval import Interval
from imlp_audit.measure.conventions import total
from imlp_audit.printed import Printed, parse_printed
from imlp_audit.result import Check, Verdict
from imlp_audit.spec.plan import ClaimPlan
from imlp_audit.spec.references import RowRef, find_cell, find_rows
from imlp_audit.spec.schema import Measure
from imlp_audit.spec.schema_claims import Claim, Condition, Direction, Quantity, Reference


def check_claim(plan: ClaimPlan, context: Context) -> Check:
    """Judge a claim in the meaning that the spec states for it."""
    claim = plan.claim.value
    if claim.reference is not None:
        verdict, reason, measured = _reference(plan, claim.reference, context)
    elif claim.order is not None:
        verdict, reason, measured = _order(plan, context)
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
    title = next(t.value.title for t in plan.paper.tables if t.value.table == reference.table)
    stand = " and ".join(tables)
    if tables == [pointed]:
        return Verdict.REPRODUCED, f"table {pointed} holds them", stand
    return Verdict.INCONSISTENT, f"the numbers stand in table {stand}; table {pointed} is {title!r}", stand


def _rows(plan: ClaimPlan, context: Context) -> list[RowRef]:
    found = (row for glob in plan.claim.value.rows for row in find_rows(context.papers, glob))
    return list({row.id: row for row in found}.values())


def _order(plan: ClaimPlan, context: Context) -> tuple[Verdict, str, str]:
    """Judge whether a quantity goes one way along the rows."""
    order, rows = plan.claim.value.order, _rows(plan, context)
    assert order is not None
    values = [(row.row.id, _value(row, order, context, rows)) for row in rows[order.kind == "step" :]]
    verdict, reason = ordered(values, increasing=order.direction is Direction.INCREASING)
    heading = f"{order.kind} of {order.column}"
    return (
        verdict,
        f"{heading}, to be {order.direction}: {reason}",
        ", ".join(middle(value) for _, value in values if value),
    )


def _conditions(plan: ClaimPlan, context: Context) -> tuple[Verdict, str, str]:
    """Judge whether all conditions hold in all rows, or in as many as the claim says."""
    claim, rows = plan.claim.value, _rows(plan, context)
    truths = [truth for row in rows if (truth := _row_truth(row, claim, context, rows)) is not None]
    verdict, reason = quantified(truths, claim.holds_for)
    return verdict, reason, "; ".join(f"{truth.row}: {truth.values}" for truth in truths)


def _row_truth(row: RowRef, claim: Claim, context: Context, rows: list[RowRef]) -> RowTruth | None:
    """Judge the conditions in a row; the first row has no step, and no part in a claim about steps alone."""
    parts = []
    for condition in claim.conditions or ():
        if condition.kind == "step" and row is rows[0]:
            continue
        value = _value(row, condition, context, rows)
        truth = Truth.OPEN if value is None else compared(value, condition.relation, _bound(row, condition, context))
        parts.append((truth, condition, _shown(row, condition, value)))
    if not parts:
        return None
    overall = all_of([truth for truth, _, _ in parts])
    because = ", ".join(
        f"{_named(condition)} ({value}) {condition.relation.replace('_', ' ')} {condition.bound} {truth.value}"
        for truth, condition, value in parts
        if truth is overall
    )
    return RowTruth(row.row.id, overall, because, ", ".join(f"{_named(c)} {value}" for _, c, value in parts))


def _named(condition: Condition) -> str:
    return f"{condition.kind} of {condition.column}"


def _shown(row: RowRef, condition: Condition, value: Interval | None) -> str:
    scale = 1 if _in_percent(condition) else _cell(row, condition).scale
    return "undefined" if value is None else middle(value * Fraction(1, scale))


def _in_percent(quantity: Quantity) -> bool:
    return quantity.kind in ("change", "mlp_share")


def _bound(row: RowRef, condition: Condition, context: Context) -> Interval:
    """Return the claim's number: a rounded one where it is said to equal, a point where it is a limit."""
    unit = "%" if _in_percent(condition) else row.table.value.columns[condition.column].unit
    number = parse_printed(condition.bound, unit)
    if condition.relation == "equals":
        return number.interval(context.conventions(row.paper).roundings[0])
    return Interval.point(number.value * number.scale)


def _cell(row: RowRef, quantity: Quantity) -> Printed:
    cell = row.cell(quantity.column)
    assert cell is not None, "spec.rules has seen to it"
    return cell.printed


def _value(row: RowRef, quantity: Quantity, context: Context, rows: list[RowRef]) -> Interval | None:
    """Return what the printed digits leave possible for a quantity; None where it is undefined."""
    rounding = context.conventions(row.paper).roundings[0]
    if quantity.kind == "mlp_share":
        return Interval.point(_mlp_share(row, quantity, context))
    here = _cell(row, quantity).interval(rounding)
    if quantity.kind == "value":
        return here
    if quantity.kind == "step":
        index = rows.index(row)
        return here - _cell(rows[index - 1], quantity).interval(rounding) if index else None
    assert row.baseline is not None, "spec.rules has seen to it"
    base = _cell(row.baseline, quantity).interval(rounding)
    return here.change_from(base) if quantity.kind == "change" else here - base


def _mlp_share(row: RowRef, quantity: Quantity, context: Context) -> Fraction:
    """Return the share, in percent, of the parameters or of the default convention's work that the MLPs have."""
    recipe, read = row.row.model, context.conventions(row.paper)
    assert recipe is not None, "spec.rules has seen to it"
    facts = context.model(recipe, next(iter(read.readings.values())))
    if not facts.mlps:
        raise NotMeasuredError(f"{recipe.timm} has no MLP of a known kind to take a share of")
    if row.table.value.columns[quantity.column].measure is Measure.PARAMETERS:
        return Fraction(100 * facts.mlp_parameters, facts.parameters[read.about.parameters[0]])
    convention = read.flops[read.about.flops[0]]
    assert facts.ledger is not None, "work was asked for"
    whole = total(facts.ledger, convention)
    if facts.ledger.unknown or not whole:
        raise NotMeasuredError(f"not all work of {recipe.timm} is counted by {convention.name}")
    return Fraction(100 * total(facts.ledger.within(facts.mlps), convention), whole)
