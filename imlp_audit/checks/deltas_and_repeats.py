"""Checks of printed changes against the printed cells and the models, and of numbers that are printed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product, starmap
from typing import TypeVar

from imlp_audit.checks.cells import find_own_column
from imlp_audit.checks.comparison import Comparison, Measured, Ways, compare
from imlp_audit.checks.context import Context, Conventions, NotMeasuredError
from imlp_audit.checks.judged_under import (
    Countable,
    Frame,
    countable,
    frame_of,
    interval_ends,
    record_fit,
    record_unmeasured,
    unless_counted,
    unless_missing,
)
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import LIKELY, Printed, Rounding
from imlp_audit.records.check import PASSES, DeltaCheck, RepeatCheck, Verdict
from imlp_audit.spec.plan import DeltaPlan, RepeatPlan

C = TypeVar("C", DeltaCheck, RepeatCheck)
_TWO_COUNTERS = "the row and its baseline were counted by different conventions: their difference compares two counts"


def check_delta(plan: DeltaPlan, context: Context) -> DeltaCheck:
    """Judge whether a printed change follows from the printed cells, or from the measured values."""
    if plan.measured:
        return check_measured_change(plan, context)
    delta = plan.change
    read = context.conventions(plan.cell.row.paper)
    own = read.roundings_of(plan.cell.column) if plan.cell.column.measure in read.about.rounding_of else ()
    cells = context.printed(plan.cell), context.printed(plan.base)
    agreement = follows_from_cells(delta, *cells, read.roundings, own)
    return _from_agreement(DeltaCheck, plan, delta, "%", agreement, read.roundings[0])


def check_repeat(plan: RepeatPlan, context: Context) -> RepeatCheck:
    """Judge whether a number that is printed twice is the same in both places."""
    one, other = plan.numbers if plan.delta else map(context.printed, (plan.cell, plan.other))
    name = f"{plan.other.id}.delta" if plan.delta else plan.other.id
    read, its = (context.conventions(cell.row.paper) for cell in (plan.cell, plan.other))
    roundings = read.roundings if plan.delta else read.roundings_of(plan.cell.column)
    theirs = its.roundings if plan.delta else its.roundings_of(plan.other.column)
    unit = "%" if plan.delta else plan.cell.unit
    agreement = agree(one, other, name, roundings, theirs)
    agreement = replace(agreement, reason=f"{agreement.reason}; {plan.matched_by}")
    if agreement.verdict is Verdict.INCONSISTENT and plan.other.row.paper.id != plan.cell.row.paper.id:
        agreement = replace(agreement, verdict=Verdict.DIFFERS)  # two papers disagree; neither contradicts itself
    if agreement.verdict is Verdict.INCONSISTENT and not plan.said:
        hint = "if its model was trained differently, say how: `training` of the row"
        agreement = replace(agreement, hints=(*agreement.hints, hint))
    check = _from_agreement(RepeatCheck, plan, one, unit, agreement, roundings[0])
    return check.model_copy(update={"repeats": plan.other.id})


def _from_agreement(
    kind: type[C], plan: DeltaPlan | RepeatPlan, printed: Printed, unit: str, agreement: Agreement, usual: Rounding
) -> C:
    return kind(
        id=plan.id,
        verdict=agreement.verdict,
        reason=agreement.reason,
        source=plan.source,
        printed=printed.text,
        unit=unit,
        interval=interval_ends(printed, agreement.rounding),
        measured=agreement.judged_by,
        rounding=agreement.rounding,
        under=agreement.under or (() if agreement.rounding is usual else (f"rounding {agreement.rounding}",)),
        hints=agreement.hints,
    )


@dataclass(frozen=True)
class Agreement:
    """Whether printed numbers agree: under which rounding rule, what they were judged by, and a hint if not.

    `under` is given where the rule of another number departs.
    """

    verdict: Verdict
    reason: str
    rounding: Rounding
    judged_by: str
    hints: tuple[str, ...] = ()
    under: tuple[str, ...] = ()


def follows_from_cells(
    delta: Printed, cell: Printed, base: Printed, roundings: Sequence[Rounding], own: Sequence[Rounding] = ()
) -> Agreement:
    """Say whether some values that print as the two cells have a change that prints as `delta`.

    The first rounding rule is the default, the rest are declared; one rule holds for all three numbers, unless the
    cells have rules of their `own`.
    """
    found = [_follows(delta, cell, base, roundings, rule) for rule in own or (None,)]
    agreement = next((one for one in found if one.verdict in PASSES), found[0])
    if agreement is found[0] or agreement.verdict not in PASSES:
        return agreement
    under = (f"rounding {own[found.index(agreement)]} of the two numbers",)
    return replace(agreement, verdict=Verdict.REPRODUCED_UNDER, under=under)


def _follows(
    delta: Printed, cell: Printed, base: Printed, roundings: Sequence[Rounding], own: Rounding | None
) -> Agreement:
    """Judge a change under one rule for the cells, or under the change's."""
    judged_by = f"{base.text} to {cell.text}"
    usual = own or roundings[0]
    possible = cell.interval(usual).change_from(base.interval(usual))
    if possible is None or base.value == 0:
        reason = f"a change in percent from {base.text} is not defined"
        return Agreement(Verdict.UNVERIFIABLE, reason, roundings[0], judged_by)
    plain = readable(percent_change(cell.value * cell.scale, base.value * base.scale), 2)
    between = f"between {readable(possible.low, 2)} and {readable(possible.high, 2)} before rounding"
    reason = f"{judged_by} is a change of {plain} %, {between}"

    def meets(rule: Rounding) -> bool:
        change = cell.interval(own or rule).change_from(base.interval(own or rule))
        return change is not None and change.meets(delta.interval(rule))

    found = _agreement(meets, roundings, reason, f"{reason}; {delta.text} is not among them", judged_by)
    if found.verdict is Verdict.INCONSISTENT and possible.meets(delta.negated.interval(found.rounding)):
        return replace(found, hints=(*found.hints, _write_sign_hint(delta)))
    return found


def _write_sign_hint(delta: Printed) -> str:
    """Say that a change would follow with the other sign."""
    fault = "the sign is wrong" if delta.has_sign else f"{delta.text} has no sign and is read as an increase"
    return f"{delta.negated.text} would follow: {fault}"


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
        for rule in LIKELY
        if rule not in roundings and meets(rule)
    )
    return Agreement(Verdict.INCONSISTENT, failure, roundings[0], judged_by, hints)


@dataclass(frozen=True)
class _Side:
    """One of the two cells: what it is judged under, and the ways to measure it."""

    counted: Countable
    frame: Frame
    ways: Ways


@dataclass(frozen=True)
class _Pairing:
    """Which measurements of a row and its baseline a change can lie between: one counter made both."""

    variant: _Side
    base: _Side
    read: Conventions

    def changes(self, ours: Iterable[Measured], theirs: Sequence[Measured]) -> list[Measured]:
        """Return the changes between measurements that belong together; from 0, no percentage says one."""
        families = {side.counted.recipe.family for side in (self.variant, self.base)} - {None}
        return [
            Measured(
                percent_change(one.value, base.value),
                _name_readings(one, base),
                one.convention,
                tuple(sorted({*one.uncounted, *base.uncounted})),
            )
            for one, base in product(ours, theirs)
            if base.value and self.counted_alike(one, base) and (one.reading == base.reading or len(families) > 1)
        ]

    def counted_alike(self, one: Measured, other: Measured) -> bool:
        """Return whether two measurements were made by the same counter."""
        column = self.variant.counted.cell.column
        return self.read.counter_of(column, one.convention) == self.read.counter_of(column, other.convention)

    @property
    def default(self) -> Measured:
        """The names of the default reading and convention; no convention where the two cells have not the same."""
        ours, theirs = self.variant.ways.declared[0], self.base.ways.declared[0]
        convention = ours.convention if self.counted_alike(ours, theirs) else None
        return Measured(Fraction(0), _name_readings(ours, theirs), convention)


def check_measured_change(plan: DeltaPlan, context: Context) -> DeltaCheck:
    """Judge whether a printed change follows from the measured values, each under its own cell's hypothesis."""
    sides = []
    for cell in (plan.cell, plan.base):
        counted = countable(cell)
        if isinstance(counted, str):
            return record_unmeasured(DeltaCheck, plan, plan.change, "%", counted)
        declared, others = context.measurements(cell.row, counted.recipe, cell.column)
        frame = frame_of(cell, context)
        sides.append(_Side(counted, frame, frame.ways(declared, frame.roundings, others)))
    variant, base = sides
    pairing = _Pairing(variant, base, context.conventions(plan.cell.row.paper))
    if not any(starmap(pairing.counted_alike, product(variant.ways.allowed, base.ways.allowed))):
        return record_unmeasured(DeltaCheck, plan, plan.change, "%", _TWO_COUNTERS)
    comparison = _compare_change(plan.change, pairing, context)
    column = find_own_column(variant.counted, context)
    if column is not None:
        reason = f"{plan.cell.printed.text} belongs to {column!r}, so its change is not one of {plan.cell.column_id!r}"
        comparison = replace(comparison, verdict=Verdict.DIFFERS, reason=reason, under=())
    comparison = unless_missing(comparison, context, plan.cell.row.paper, *(side.counted.recipe for side in sides))
    check = record_fit(DeltaCheck, plan, plan.change, "%", comparison)
    weak, hints = comparison.verdict in PASSES and any(side.frame.weak for side in sides), check.hints
    opposite = plan.change.negated.interval(comparison.rounding)
    if check.verdict is Verdict.DIFFERS and comparison.deciding.value in opposite:
        hints = (*hints, _write_sign_hint(plan.change))
    return check.model_copy(update={"weak": weak, "hints": hints})


def _compare_change(delta: Printed, pairing: _Pairing, context: Context) -> Comparison:
    """Compare a change with those between allowed measurements. Raises NotMeasuredError where there is none."""
    variant, base = pairing.variant.ways, pairing.base.ways
    allowed = pairing.changes(variant.allowed, base.allowed)
    if not allowed:
        for side in (pairing.variant, pairing.base):
            unless_counted(context, side.counted.cell.row.paper, side.counted.recipe)
        zero = next(one.convention for one in base.allowed if not one.value)
        raise NotMeasuredError(f"a change in percent from 0 is not defined (convention {zero})")
    column, read = pairing.variant.counted.cell.column, pairing.read
    ways = replace(
        variant,
        declared=pairing.changes(variant.declared, base.declared),
        allowed=allowed,
        roundings=read.roundings if column.measure in read.about.rounding_of else variant.roundings,
        rules=read.roundings,  # of the change; its column may have others of its own
        undeclared=pairing.changes(variant.undeclared, [*base.declared, *base.undeclared]),
        default=pairing.default,
        elsewhere=read.named(column),
    )
    return compare(delta, ways, unit="" if "%" in delta.text else " %")


def _name_readings(variant: Measured, base: Measured) -> str | None:
    """Name the reading of a row and, where it is another one, of its baseline."""
    if variant.reading == base.reading:
        return variant.reading
    return f"{variant.reading} (baseline {base.reading})"


def percent_change(value: Fraction, base: Fraction) -> Fraction:
    """Return the change from `base` to `value` in percent. Raises ZeroDivisionError for a base of 0."""
    return (value / base - 1) * 100
