"""Quantities of claims: their values by printed digits or by counts, and whether statements about them hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from operator import sub
from typing import assert_never

from imlp_audit.checks.comparison import Measured, name_departures_of
from imlp_audit.checks.context import Context, Conventions, Counter, NotMeasuredError
from imlp_audit.checks.judged_under import Countable, countable, frame_of, unless_counted
from imlp_audit.count.conventions import ParameterConvention, total
from imlp_audit.count.facts import ModelFacts
from imlp_audit.models.readings import AnyFamily
from imlp_audit.numbers.interval import Interval, decimal_text
from imlp_audit.numbers.parsing import SCALES
from imlp_audit.records.check import RowTruth, Truth, Verdict
from imlp_audit.spec.claim_entries import QuantityKind, Relation
from imlp_audit.spec.claims import MlpShare, Quantity
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef

_Kin = tuple[str, AnyFamily]  # the paper and the family that a reading is chosen for
_VERDICTS = {Truth.YES: Verdict.REPRODUCED, Truth.NO: Verdict.INCONSISTENT, Truth.OPEN: Verdict.UNVERIFIABLE}
"""A claim's verdict where its words have one meaning; a claim read in a stated meaning is not so certain."""
_VALUES: Mapping[QuantityKind, Callable[..., Interval | None]] = {
    QuantityKind.VALUE: lambda value: value,
    QuantityKind.STEP: sub,
    QuantityKind.DIFFERENCE: sub,
    QuantityKind.CHANGE: Interval.change_from,
    QuantityKind.RATIO: Interval.ratio_to,
    QuantityKind.POSITION: Interval.position_between,
}
"""What a quantity that is taken from cells is of their values, its own first."""


def judge_relation(value: Interval, relation: Relation, bound: Interval) -> Truth:
    """Judge `value relation bound`, e.g. `above` a point.

    `equals` asks whether the two can be the same number, as the bound is itself a printed, rounded one.
    """
    match relation:
        case Relation.EQUALS:
            return Truth.YES if value.meets(bound) else Truth.NO
        case Relation.ABOVE:
            return _decide(bound < value, value <= bound)
        case Relation.AT_LEAST:
            return _decide(bound <= value, value < bound)
        case Relation.BELOW:
            return _decide(value < bound, bound <= value)
        case Relation.AT_MOST:
            return _decide(value <= bound, bound < value)
        case _:
            assert_never(relation)


def _decide(always: bool, never: bool) -> Truth:
    return Truth.YES if always else Truth.NO if never else Truth.OPEN


def all_of(truths: Sequence[Truth]) -> Truth:
    """Return whether all statements hold."""
    if Truth.NO in truths:
        return Truth.NO
    return Truth.OPEN if Truth.OPEN in truths else Truth.YES


def judge_share(rows: Sequence[RowTruth], holds_for: str) -> tuple[Verdict, str]:
    """Judge a claim about several rows: `all` of them, or `at least N%`."""
    yes = sum(row.truth is Truth.YES for row in rows)
    maybe = sum(row.truth is not Truth.NO for row in rows)
    share = Fraction(1) if holds_for == "all" else Fraction(int(holds_for.removeprefix("at least ")[:-1]), 100)
    needed = share * len(rows)
    truth = _decide(yes >= needed, maybe < needed)
    against = [row for row in rows if row.truth is not Truth.YES]
    parts = [count_rows(rows)] if len(rows) > 1 else []  # of one row, its own words are enough
    return _VERDICTS[truth], "; ".join([*parts, *(f"{row.row}: {row.because}" for row in against or rows[:1])])


def count_rows(rows: Sequence[RowTruth]) -> str:
    """Say in how many rows a claim holds, and in how many that cannot be decided."""
    yes, undecided = (sum(row.truth is truth for row in rows) for truth in (Truth.YES, Truth.OPEN))
    met, conditions = sum(row.met for row in rows), sum(row.conditions for row in rows)
    text = f"it holds in {yes} of {len(rows)} rows"
    if met and not yes and len(rows) < conditions:
        text = f"{met} of its {conditions} comparisons hold, in no row all of them"
    return f"{text} and cannot be decided in {undecided}" if undecided else text


def judge_order(values: Sequence[tuple[str, Interval | None]], *, increasing: bool) -> tuple[Verdict, str]:
    """Judge whether the values go strictly one way along their rows; an undefined one (None) leaves it open."""
    listed = ", ".join(f"{row}: {middle(value) if value else 'undefined'}" for row, value in values)
    known = [value for _, value in values if value is not None]
    if len(known) < len(values):
        return _VERDICTS[Truth.OPEN], listed
    pairs = list(pairwise(known if increasing else known[::-1]))
    truth = all_of([_decide(earlier < later, later <= earlier) for earlier, later in pairs])
    return _VERDICTS[truth], listed


def middle(value: Interval) -> str:
    """Write a possible range by its middle and its half-width."""
    half = (value.high - value.low) / 2
    centre = decimal_text((value.high + value.low) / 2, 3)
    return centre if half == 0 else f"{centre} ± {decimal_text(half, 3)}"


@dataclass(frozen=True)
class Option:
    """One choice of all that is open about some quantities: the values of each, and how it departs from the defaults.

    The values are None where they are undefined.
    """

    values: Sequence[Interval | None]
    under: tuple[str, ...] = ()


class IncomparableError(Exception):
    """Cells that cannot be compared as counted; the message says why."""


def options_of(quantities: Sequence[Quantity], context: Context, *, measured: bool) -> list[Option]:
    """Return each choice that is open about quantities, the defaults first: as their cells were printed, or counted.

    Printed digits allow an interval, and one quantity has the values of each choice. Several that are shares of MLPs,
    which no number prints, are each taken over all choices. Raises IncomparableError.
    """
    if measured:
        return _counted_options(quantities, context)
    each = [_printed_options(quantity, context) for quantity in quantities]
    if len(each) == 1:
        return each[0]
    under = (name for options in each for one in options for name in one.under)
    return [Option([_span([one.values[0] for one in options]) for options in each], tuple(dict.fromkeys(under)))]


def _printed_options(quantity: Quantity, context: Context) -> list[Option]:
    if isinstance(quantity, MlpShare):
        return [Option([Interval.point(share)], names) for share, names in mlp_shares(quantity, context)]
    return [Option([values_of(quantity, [interval_of(cell, context) for cell in quantity.cells])])]


def _span(options: Sequence[Interval | None]) -> Interval | None:
    """Return the interval from the least to the largest value of several options."""
    known = [one for one in options if one is not None]
    if len(options) == 1:
        return options[0]
    return Interval(min(one.low for one in known), max(one.high for one in known))


def values_of(quantity: Quantity, values: Sequence[Interval]) -> Interval | None:
    """Return the possible values of a quantity, in base units, from those of its cells; None where undefined."""
    return _VALUES[quantity.kind](*values)


def interval_of(cell: CellRef, context: Context) -> Interval:
    """Return the values that print as a cell does, under the default rounding rule for its column."""
    return context.printed(cell).interval(context.conventions(cell.row.paper).roundings_of(cell.column)[0])


def format_values(quantity: Quantity, values: Interval | None) -> str:
    """Write a possible range in the unit that it is printed in."""
    if values is None:
        return "undefined"
    scale = SCALES.get(quantity.cell.column.unit, 1) if quantity.in_units_of_its_column else 1
    return middle(values * Fraction(1, scale))


@dataclass(frozen=True)
class _Counted:
    """A cell, what a reading is chosen for, its measurements, and those allowed to it, which go by their counters."""

    cell: CellRef
    kin: _Kin | None
    declared: Sequence[Measured]
    allowed: Sequence[tuple[Counter, Measured]]

    @property
    def counters(self) -> list[Counter]:
        """The counters that are allowed, in order."""
        return list(dict.fromkeys(counter for counter, _ in self.allowed))

    def under(self, counter: Counter, readings: Mapping[_Kin, str | None]) -> Measured | None:
        """Return the measurement by a counter under readings, if it is allowed."""
        found = (
            one
            for its, one in self.allowed
            if its == counter and (self.kin is None or one.reading == readings[self.kin])
        )
        return next(found, None)


def _counted_options(quantities: Sequence[Quantity], context: Context) -> list[Option]:
    """Return each choice of a counter and of a reading for each family of models, under which all cells are counted."""
    cells = {cell.id: cell for quantity in quantities for cell in quantity.cells}
    counted = [_count(cell, context) for cell in cells.values()]
    counters = [counter for counter in counted[0].counters if all(counter in one.counters for one in counted)]
    if not counters:
        raise IncomparableError(
            "its numbers were counted by different conventions: to compare them compares two counts"
        )
    kin = list(dict.fromkeys(one.kin for one in counted if one.kin is not None))
    choices = [list(dict.fromkeys(m.reading for one in counted if one.kin == k for _, m in one.allowed)) for k in kin]
    options = []
    for counter, readings in product(counters, product(*choices)):
        chosen = dict(zip(kin, readings, strict=True))
        found = {one.cell.id: m for one in counted if (m := one.under(counter, chosen)) is not None}
        if len(found) == len(counted):
            under = (name for one in counted for name in name_departures_of(found[one.cell.id], one.declared))
            points = {name: Interval.point(one.value) for name, one in found.items()}
            values = [values_of(quantity, [points[cell.id] for cell in quantity.cells]) for quantity in quantities]
            options.append(Option(values, tuple(dict.fromkeys(under))))
    if not options:
        raise IncomparableError("no reading is left to all of its numbers")
    return options


def _count(cell: CellRef, context: Context) -> _Counted:
    found = countable(cell)
    if not isinstance(found, Countable):
        raise IncomparableError(f"{cell.id}: {found}")
    frame, family = frame_of(cell, context), found.recipe.family
    declared, _ = context.measurements(cell.row, found.recipe, cell.column)
    unless_counted(context, cell.row.paper, found.recipe)
    allowed = [one for one in declared if frame.allows(one)]
    unknown = next((one.uncounted for one in allowed if one.uncounted), ())
    if unknown:
        raise IncomparableError(
            f"{cell.id}: no formula counts {', '.join(unknown)}, so the measured value leaves out work"
        )
    read, kin = context.conventions(cell.row.paper), None if family is None else (cell.row.paper.id, family)
    return _Counted(cell, kin, declared, [(read.counter_of(cell.column, one.convention), one) for one in allowed])


def mlp_shares(share: MlpShare, context: Context) -> list[tuple[Fraction, tuple[str, ...]]]:
    """Return the share, in percent, of the parameters or of the work that the MLPs have, with how it departs.

    There is one for each option that the hypothesis leaves to the cell and that counts the model.
    """
    row, frame = share.cell.row, frame_of(share.cell, context)
    read = context.conventions(row.paper)
    usual, *others = (str(name) for name in read.declared_for(row.row, share.cell.column))
    every = []
    for name, reading in read.readings.items():
        for convention in (usual, *others):
            value = _mlp_share(share, context.model(share.recipe, reading), convention, read)
            if value is not None:
                every.append(Measured(value, name, convention))
            elif convention == usual:
                raise NotMeasuredError(f"{share.recipe.name} has no head for {convention}")
    return [(one.value, name_departures_of(one, every)) for one in every if frame.allows(one)]


def _mlp_share(share: MlpShare, facts: ModelFacts, convention: str, read: Conventions) -> Fraction | None:
    """Return the share by a convention; None where it leaves out a head that the model has not."""
    if not facts.mlps:
        raise NotMeasuredError(f"{share.recipe.name} has no MLP of a known kind to take a share of")
    if share.cell.column.measure is Measure.PARAMETERS:
        parameters = facts.parameters.get(ParameterConvention(convention))
        return None if parameters is None else Fraction(100 * facts.mlp_parameters, parameters)
    counter, ledger = read.flops[convention], facts.ledger
    if not facts.has_total(counter):
        return None
    if ledger is None or ledger.unknown or not (whole := total(ledger, counter)):
        raise NotMeasuredError(f"not all work of {share.recipe.name} is counted by {counter.name}")
    return Fraction(100 * total(ledger.within(facts.mlps), counter), whole)
