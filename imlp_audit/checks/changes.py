"""Checks of printed changes and of numbers that are printed twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from imlp_audit.checks.cells import find_own_column
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Measured, compare
from imlp_audit.checks.printed import Countable, countable, interval_ends, record_fit, record_unmeasured, unless_missing
from imlp_audit.checks.votes import frame_of
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import PASSES, Check, Verdict
from imlp_audit.spec.plan import DeltaPlan, RepeatPlan


def check_delta(plan: DeltaPlan, context: Context) -> Check:
    """Judge whether a printed change follows from the printed cells, or from the measured values."""
    delta = plan.change
    read = context.conventions(plan.cell.row.paper)
    if not plan.measured:
        agreement = follows_from_cells(delta, plan.cell.printed, plan.base.printed, read.roundings)
        return _from_agreement(plan, delta, "%", agreement, read.roundings[0])
    variant, base = countable(plan.cell), countable(plan.base)
    if isinstance(variant, str):
        return record_unmeasured(plan, delta, "%", variant)
    if isinstance(base, str):
        return record_unmeasured(plan, delta, "%", base)
    declared, others = _changes(variant, base, context)
    frames = [frame_of(cell, context) for cell in (plan.cell, plan.base)]
    allowed = [one for one in frames[0].select(declared) if frames[1].allows(one)]
    if not allowed:
        reason = "the row and its baseline were counted by different conventions: their difference compares two counts"
        return record_unmeasured(plan, delta, "%", reason)
    comparison = compare(delta, declared, frames[0].roundings, others, allowed=allowed, rules=read.roundings)
    column = find_own_column(variant, context)
    if column is not None:
        reason = f"{plan.cell.printed.text} belongs to {column!r}, so its change is not one of {plan.cell.column_id!r}"
        comparison = replace(comparison, verdict=Verdict.DIFFERS, reason=reason, under=())
    comparison = unless_missing(comparison, context, plan.cell.row.paper, variant.recipe, base.recipe)
    check = record_fit(plan, delta, "%", comparison)
    weak = comparison.verdict in PASSES and any(frame.weak for frame in frames)
    return check.model_copy(update={"weak": weak})


def _changes(variant: Countable, base: Countable, context: Context) -> tuple[list[Measured], list[Measured]]:
    """Return the measured changes, each between measurements of one reading and one convention."""
    column = variant.cell.column
    bases = {
        (b.reading, b.convention): b for side in context.measurements(base.cell.row, base.recipe, column) for b in side
    }
    declared, others = (
        [(v, bases[v.reading, v.convention]) for v in side if (v.reading, v.convention) in bases]
        for side in context.measurements(variant.cell.row, variant.recipe, column)
    )
    return [_change(*pair) for pair in declared], [_change(v, b) for v, b in others if b.value]


def _change(variant: Measured, base: Measured) -> Measured:
    if base.value == 0:
        raise NotMeasuredError(f"a change in percent from 0 is not defined (convention {base.convention})")
    uncounted = tuple(sorted({*variant.uncounted, *base.uncounted}))
    return Measured(percent_change(variant.value, base.value), variant.reading, variant.convention, uncounted)


def check_repeat(plan: RepeatPlan, context: Context) -> Check:
    """Judge whether a number that is printed twice is the same in both places."""
    one, other = plan.numbers
    name = f"{plan.other.id}.delta" if plan.delta else plan.other.id
    roundings = context.conventions(plan.cell.row.paper).roundings
    theirs = context.conventions(plan.other.row.paper).roundings
    unit = "%" if plan.delta else plan.cell.column.unit
    agreement = agree(one, other, name, roundings, theirs)
    agreement = replace(agreement, reason=f"{agreement.reason}; {plan.matched_by}")
    if agreement.verdict is Verdict.INCONSISTENT and plan.other.row.paper.id != plan.cell.row.paper.id:
        agreement = replace(agreement, verdict=Verdict.DIFFERS)  # two papers disagree; neither contradicts itself
    if agreement.verdict is Verdict.INCONSISTENT and not plan.said:
        hint = "if its model was trained differently, say how: `training` of the row"
        agreement = replace(agreement, hints=(*agreement.hints, hint))
    check = _from_agreement(plan, one, unit, agreement, roundings[0])
    return check.model_copy(update={"repeats": plan.other.id})


def _from_agreement(
    plan: DeltaPlan | RepeatPlan, printed: Printed, unit: str, agreement: Agreement, usual: Rounding
) -> Check:
    """Record how a printed number agrees with others."""
    return Check(
        id=plan.id,
        kind=plan.kind,
        verdict=agreement.verdict,
        reason=agreement.reason,
        source=plan.source,
        printed=printed.text,
        unit=unit,
        interval=interval_ends(printed, agreement.rounding),
        measured=agreement.judged_by,
        rounding=agreement.rounding,
        under=() if agreement.rounding is usual else (f"rounding {agreement.rounding}",),
        hints=agreement.hints,
    )


def percent_change(value: Fraction, base: Fraction) -> Fraction:
    """Return the change from `base` to `value` in percent. Raises ZeroDivisionError for a base of 0."""
    return (value / base - 1) * 100


@dataclass(frozen=True)
class Agreement:
    """Whether printed numbers agree: under which rounding rule, what they were judged by, and a hint if not."""

    verdict: Verdict
    reason: str
    rounding: Rounding
    judged_by: str
    hints: tuple[str, ...] = ()


def follows_from_cells(delta: Printed, cell: Printed, base: Printed, roundings: Sequence[Rounding]) -> Agreement:
    """Say whether some values that print as the two cells have a change that prints as `delta`.

    The first rounding rule is the default, the rest are declared; one rule holds for all three numbers.
    """
    judged_by = f"{base.text} to {cell.text}"
    usual = roundings[0]
    possible = cell.interval(usual).change_from(base.interval(usual))
    if possible is None or base.value == 0:
        reason = f"a change in percent from {base.text} is not defined"
        return Agreement(Verdict.UNVERIFIABLE, reason, usual, judged_by)
    plain = readable(percent_change(cell.value, base.value), 2)
    between = f"between {readable(possible.low, 2)} and {readable(possible.high, 2)} before rounding"
    reason = f"{judged_by} is a change of {plain} %, {between}"

    def meets(rule: Rounding) -> bool:
        change = cell.interval(rule).change_from(base.interval(rule))
        return change is not None and change.meets(delta.interval(rule))

    return _agreement(meets, roundings, reason, f"{reason}; {delta.text} is not among them", judged_by)


def agree(
    one: Printed, other: Printed, other_id: str, roundings: Sequence[Rounding], theirs: Sequence[Rounding] = ()
) -> Agreement:
    """Say whether one value can print as both numbers, each at its own precision.

    The other number may belong to a paper with other rules (`theirs`), whose default rule then holds for it.
    """

    def meets(rule: Rounding) -> bool:
        return any(one.interval(rule).meets(other.interval(its)) for its in (rule, *theirs[:1]))

    reason = f"{other_id} prints {other.text}"
    return _agreement(meets, roundings, reason, f"{reason}, here it is {one.text}", other.text)


def _agreement(
    meets: Callable[[Rounding], bool], roundings: Sequence[Rounding], success: str, failure: str, judged_by: str
) -> Agreement:
    for rule in roundings:
        if meets(rule):
            verdict = Verdict.REPRODUCED if rule is roundings[0] else Verdict.REPRODUCED_UNDER
            return Agreement(verdict, success, rule, judged_by)
    hints = tuple(
        f"they would agree under rounding {rule}, which the spec does not declare"
        for rule in Rounding
        if rule not in roundings and meets(rule)
    )
    return Agreement(Verdict.INCONSISTENT, failure, roundings[0], judged_by, hints)
