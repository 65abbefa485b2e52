"""Checks of printed changes against the printed cells and the models, and of numbers that are printed twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from imlp_audit.checks.cells import find_own_column
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Comparison, Measured, compare
from imlp_audit.checks.frames import (
    Countable,
    Frame,
    countable,
    frame_of,
    interval_ends,
    record_fit,
    record_unmeasured,
    unless_counted,
    unless_missing,
    write_sign_hint,
)
from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.numbers.printed import LIKELY, Printed, Rounding
from imlp_audit.records.check import PASSES, DeltaCheck, RepeatCheck, Verdict
from imlp_audit.spec.plan import DeltaPlan, RepeatPlan

C = TypeVar("C", DeltaCheck, RepeatCheck)


def check_delta(plan: DeltaPlan, context: Context) -> DeltaCheck:
    """Judge whether a printed change follows from the printed cells, or from the measured values."""
    if plan.measured:
        return check_measured_change(plan, context)
    delta = plan.change
    read = context.conventions(plan.cell.row.paper)
    own = read.roundings_of(plan.cell.column) if plan.cell.column.measure in read.about.rounding_of else ()
    agreement = follows_from_cells(delta, plan.cell.printed, plan.base.printed, read.roundings, own)
    return _from_agreement(DeltaCheck, plan, delta, "%", agreement, read.roundings[0])


def check_repeat(plan: RepeatPlan, context: Context) -> RepeatCheck:
    """Judge whether a number that is printed twice is the same in both places."""
    one, other = plan.numbers
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
    return _with_sign_hint(found, delta, possible)


def _with_sign_hint(found: Agreement, delta: Printed, possible: Interval) -> Agreement:
    """Add a hint where a change has the size that is printed and the other sign."""
    opposite = delta.negated.interval(found.rounding)
    if found.verdict is not Verdict.INCONSISTENT or not possible.meets(opposite):
        return found
    return replace(found, hints=(*found.hints, write_sign_hint(delta)))


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


_TWO_READINGS = re.compile(r"(.+) \(baseline (.+)\)")
_TWO_COUNTERS = "the row and its baseline were counted by different conventions: their difference compares two counts"


@dataclass(frozen=True)
class _Side:
    """One of the two cells: its measurements by declared conventions and by others, and what it is judged under."""

    counted: Countable
    frame: Frame
    declared: list[Measured]
    others: list[Measured]

    @classmethod
    def of(cls, counted: Countable, context: Context) -> _Side:
        """Return a cell's side. Raises NotMeasuredError."""
        cell = counted.cell
        return cls(counted, frame_of(cell, context), *context.measurements(cell.row, counted.recipe, cell.column))

    @property
    def allowed(self) -> list[Measured]:
        """The measurements that the cell's hypothesis allows, the best supported first."""
        return self.frame.select(self.declared)


_Pair = tuple[Measured, Measured]  # of the row, and of its baseline


@dataclass(frozen=True)
class _Pairing:
    """Which measurements of a row and of its baseline a change can lie between: one counter made both.

    A reading is chosen for each family of models, so rows of two families need not share one.
    """

    variant: _Side
    base: _Side
    context: Context

    def pairs(self, ours: Iterable[Measured], theirs: Iterable[Measured]) -> list[_Pair]:
        """Return the pairs of measurements with a change between them."""
        bases = list(theirs)
        return [(v, b) for v in ours for b in bases if self.counted_alike(v, b) and self._read_alike(v, b)]

    def counted_alike(self, one: Measured, other: Measured) -> bool:
        """Return whether two measurements were made by the same counter."""
        cell = self.variant.counted.cell
        read = self.context.conventions(cell.row.paper)
        return read.counter_of(cell.column, one.convention) == read.counter_of(cell.column, other.convention)

    def _read_alike(self, one: Measured, other: Measured) -> bool:
        families = {side.counted.recipe.family for side in (self.variant, self.base)} - {None}
        return one.reading == other.reading or len(families) > 1

    @property
    def default(self) -> Measured:
        """The names of the default reading and convention; no convention where the two cells have not the same."""
        ours, theirs = self.variant.declared[0], self.base.declared[0]
        convention = ours.convention if self.counted_alike(ours, theirs) else None
        return Measured(Fraction(0), _name_readings(ours, theirs), convention)


def check_measured_change(plan: DeltaPlan, context: Context) -> DeltaCheck:
    """Judge whether a printed change follows from the measured values, each under its own cell's hypothesis."""
    sides = []
    for cell in (plan.cell, plan.base):
        counted = countable(cell)
        if isinstance(counted, str):
            return record_unmeasured(DeltaCheck, plan, plan.change, "%", counted)
        sides.append(_Side.of(counted, context))
    variant, base = sides
    pairing = _Pairing(variant, base, context)
    if not any(pairing.counted_alike(ours, theirs) for ours in variant.allowed for theirs in base.allowed):
        return record_unmeasured(DeltaCheck, plan, plan.change, "%", _TWO_COUNTERS)
    comparison = _compare_change(plan.change, pairing, context)
    column = find_own_column(variant.counted, context)
    if column is not None:
        reason = f"{plan.cell.printed.text} belongs to {column!r}, so its change is not one of {plan.cell.column_id!r}"
        comparison = replace(comparison, verdict=Verdict.DIFFERS, reason=reason, under=())
    comparison = unless_missing(comparison, context, plan.cell.row.paper, *(side.counted.recipe for side in sides))
    check = record_fit(DeltaCheck, plan, plan.change, "%", comparison)
    weak = comparison.verdict in PASSES and any(side.frame.weak for side in sides)
    return check.model_copy(update={"weak": weak, "hints": (*check.hints, *_sign_hint(plan.change, check, comparison))})


def _compare_change(delta: Printed, pairing: _Pairing, context: Context) -> Comparison:
    """Compare a change with those between allowed measurements. Raises NotMeasuredError where there is none."""
    variant, base = pairing.variant, pairing.base
    allowed = _changes(pairing.pairs(variant.allowed, base.allowed))
    if not allowed:
        for side in (variant, base):
            unless_counted(context, side.counted.cell.row.paper, side.counted.recipe)
        zero = next(b.convention for b in base.allowed if not b.value)
        raise NotMeasuredError(f"a change in percent from 0 is not defined (convention {zero})")
    cell, paper = variant.counted.cell, variant.counted.cell.row.paper
    rules = context.conventions(paper).roundings  # of the change; its column may have others of its own
    return compare(
        delta,
        _changes(pairing.pairs(variant.declared, base.declared)),
        rules if cell.column.measure in paper.about.value.rounding_of else variant.frame.roundings,
        _changes(pairing.pairs(variant.others, [*base.declared, *base.others])),
        allowed=allowed,
        rules=rules,
        default=pairing.default,
        unit="" if "%" in delta.text else " %",
        support=variant.frame.support,
        elsewhere=context.conventions(paper).named(cell.column),
    )


def _changes(pairs: Iterable[_Pair]) -> list[Measured]:
    """Return the changes of pairs, without those from 0: no percentage says them."""
    return [_change(variant, base) for variant, base in pairs if base.value]


def _change(variant: Measured, base: Measured) -> Measured:
    uncounted = tuple(sorted({*variant.uncounted, *base.uncounted}))
    change = percent_change(variant.value, base.value)
    return Measured(change, _name_readings(variant, base), variant.convention, uncounted)


def _name_readings(variant: Measured, base: Measured) -> str | None:
    """Name the reading of a row and, where it is another one, of its baseline."""
    if variant.reading == base.reading:
        return variant.reading
    return f"{variant.reading} (baseline {base.reading})"


def readings_of_change(name: str | None) -> tuple[str | None, str | None]:
    """Return the readings of a row and of its baseline by the name that a change has for the two."""
    two = _TWO_READINGS.fullmatch(name or "")
    return (two[1], two[2]) if two is not None else (name, name)


def percent_change(value: Fraction, base: Fraction) -> Fraction:
    """Return the change from `base` to `value` in percent. Raises ZeroDivisionError for a base of 0."""
    return (value / base - 1) * 100


def _sign_hint(delta: Printed, check: DeltaCheck, comparison: Comparison) -> Iterator[str]:
    """Yield a hint where a change has the size that is printed and the other sign."""
    other = delta.negated
    if check.verdict is Verdict.DIFFERS and comparison.deciding.value in other.interval(comparison.rounding):
        yield write_sign_hint(delta)
