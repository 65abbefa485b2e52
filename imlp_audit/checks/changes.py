"""Checks of printed changes and of numbers that are printed twice."""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.checks.cells import misplaced
from imlp_audit.checks.change_arithmetic import Agreement, agree, follows_from_cells, percent_change
from imlp_audit.checks.compare import Measured, compare
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.numbers import ends, from_outcome, missing_for, unless_missing, unmeasured
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.plan import DeltaPlan, RepeatPlan


def check_delta(plan: DeltaPlan, context: Context) -> Check:
    """Judge whether a printed change follows from the printed cells, or from the measured values."""
    delta = plan.cell.delta
    assert delta is not None
    read = context.conventions(plan.cell.row.paper)
    if not plan.measured:
        agreement = follows_from_cells(delta, plan.cell.printed, plan.base.printed, read.roundings)
        return _from_agreement(plan, delta, "%", agreement, read.roundings[0])
    missing = missing_for(plan.cell) or missing_for(plan.base)
    if missing is not None:
        return unmeasured(plan, delta, "%", missing)
    variant, base = plan.cell.row.row.model, plan.base.row.row.model
    assert variant is not None
    assert base is not None
    declared, others = _changes(plan, variant, base, context)
    outcome = compare(delta, declared, read.roundings, others)
    column = misplaced(plan.cell, context)
    if column is not None:
        told = f"{plan.cell.printed.text} is of the column {column!r}, so its change is none of {plan.cell.column_id!r}"
        outcome = replace(outcome, verdict=Verdict.DIFFERS, reason=told, under=())
    return from_outcome(plan, delta, "%", unless_missing(outcome, context, plan.cell.row.paper, variant, base))


def _changes(plan: DeltaPlan, variant: Recipe, base: Recipe, context: Context) -> tuple[list[Measured], list[Measured]]:
    """Return the measured changes, each between measurements of one reading and one convention."""
    column = plan.cell.column
    bases = {(b.reading, b.convention): b for side in context.measured(plan.base.row, base, column) for b in side}
    declared, others = (
        [(v, bases[v.reading, v.convention]) for v in side if (v.reading, v.convention) in bases]
        for side in context.measured(plan.cell.row, variant, column)
    )
    return [_change(*pair) for pair in declared], [_change(v, b) for v, b in others if b.value]


def _change(variant: Measured, base: Measured) -> Measured:
    if base.value == 0:
        raise NotMeasuredError(f"a change in percent from 0 is not defined (convention {base.convention})")
    uncounted = tuple(sorted({*variant.uncounted, *base.uncounted}))
    return Measured(percent_change(variant.value, base.value), variant.reading, variant.convention, uncounted)


def check_repeat(plan: RepeatPlan, context: Context) -> Check:
    """Judge whether a number that is printed twice is the same."""
    one = plan.cell.delta if plan.delta else plan.cell.printed
    other = plan.other.delta if plan.delta else plan.other.printed
    assert one is not None
    assert other is not None
    name = f"{plan.other.id}.delta" if plan.delta else plan.other.id
    roundings = context.conventions(plan.cell.row.paper).roundings
    theirs = context.conventions(plan.other.row.paper).roundings
    unit = "%" if plan.delta else plan.cell.column.unit
    agreement = agree(one, other, name, roundings, theirs)
    if agreement.verdict is Verdict.INCONSISTENT and plan.other.row.paper.id != plan.cell.row.paper.id:
        agreement = replace(agreement, verdict=Verdict.DIFFERS)  # two papers disagree; neither contradicts itself
    return _from_agreement(plan, one, unit, agreement, roundings[0])


def _from_agreement(
    plan: DeltaPlan | RepeatPlan, printed: Printed, unit: str, agreement: Agreement, usual: Rounding
) -> Check:
    """Put on record how a printed number goes with others."""
    return Check(
        id=plan.id,
        kind=plan.kind,
        verdict=agreement.verdict,
        reason=agreement.reason,
        source=plan.source,
        printed=printed.text,
        unit=unit,
        interval=ends(printed, agreement.rounding),
        measured=agreement.judged_by,
        rounding=agreement.rounding,
        under=() if agreement.rounding is usual else (f"rounding {agreement.rounding}",),
        hints=agreement.hints,
    )
