"""The values that printed digits, or a model's counts, allow for a quantity, and whether statements about them hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from operator import sub
from typing import assert_never

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Measured, name_departures_of
from imlp_audit.checks.frames import frame_of
from imlp_audit.count.conventions import ParameterConvention, total
from imlp_audit.models.readings import PaperReading
from imlp_audit.numbers.interval import Interval, decimal_text
from imlp_audit.numbers.parsing import SCALES
from imlp_audit.records.check import RowTruth, Truth, Verdict
from imlp_audit.spec.claim_entries import QuantityKind, Relation
from imlp_audit.spec.claim_quantities import MlpShare, Quantity
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef


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
    return _verdict(truth), "; ".join([*parts, *(f"{row.row}: {row.because}" for row in against or rows[:1])])


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
        return _verdict(Truth.OPEN), listed
    pairs = list(pairwise(known if increasing else known[::-1]))
    truth = all_of([_decide(earlier < later, later <= earlier) for earlier, later in pairs])
    return _verdict(truth), listed


def middle(value: Interval) -> str:
    """Write a possible range by its middle and its half-width."""
    half = (value.high - value.low) / 2
    centre = decimal_text((value.high + value.low) / 2, 3)
    return centre if half == 0 else f"{centre} ± {decimal_text(half, 3)}"


def _verdict(truth: Truth) -> Verdict:
    """Return a claim's verdict where its words have one meaning; a claim read in a stated meaning is not so certain."""
    match truth:
        case Truth.YES:
            return Verdict.REPRODUCED
        case Truth.NO:
            return Verdict.INCONSISTENT
        case Truth.OPEN:
            return Verdict.UNVERIFIABLE


def printed_values(quantity: Quantity, context: Context) -> Interval | None:
    """Return the values of a quantity that the printed digits allow, or that a share has; None where undefined."""
    options = printed_options(quantity, context)
    if isinstance(quantity, MlpShare):
        shares = [share for one in options if one is not None for share in (one.low, one.high)]
        return Interval(min(shares), max(shares))
    return options[0]


def printed_options(quantity: Quantity, context: Context) -> list[Interval | None]:
    """Return the possible values under each option that is open: one, unless it is a share, which is measured."""
    if isinstance(quantity, MlpShare):
        return [Interval.point(share) for share, _ in mlp_shares(quantity, context)]
    return [values_of(quantity, lambda cell: interval_of(cell, context))]


_VALUES: Mapping[QuantityKind, Callable[..., Interval | None]] = {
    QuantityKind.VALUE: lambda value: value,
    QuantityKind.STEP: sub,
    QuantityKind.DIFFERENCE: sub,
    QuantityKind.CHANGE: Interval.change_from,
    QuantityKind.RATIO: Interval.ratio_to,
    QuantityKind.POSITION: Interval.position_between,
}
"""What a quantity that is taken from cells is of their values, its own first."""


def values_of(quantity: Quantity, values: Callable[[CellRef], Interval]) -> Interval | None:
    """Return the possible values of a quantity, in base units, from those of its cells; None where undefined."""
    return _VALUES[quantity.kind](*map(values, quantity.cells))


def interval_of(cell: CellRef, context: Context) -> Interval:
    """Return the values that print as a cell does, under the default rounding rule for its column."""
    return cell.printed.interval(context.conventions(cell.row.paper).roundings_of(cell.column)[0])


def format_values(quantity: Quantity, values: Interval | None) -> str:
    """Write a possible range in the unit that it is printed in."""
    if values is None:
        return "undefined"
    scale = SCALES.get(quantity.cell.column.unit, 1) if quantity.in_units_of_its_column else 1
    return middle(values * Fraction(1, scale))


def mlp_shares(share: MlpShare, context: Context) -> list[tuple[Fraction, tuple[str, ...]]]:
    """Return the share, in percent, of the parameters or of the work that the MLPs have, with how it departs.

    There is one for each option that the hypothesis leaves to the cell.
    """
    row, frame = share.cell.row, frame_of(share.cell, context)
    read = context.conventions(row.paper)
    declared = [str(name) for name in read.declared_for(row.row, share.cell.column)]
    every = [
        Measured(_mlp_share(share, context, reading, convention), name, convention)
        for name, reading in read.readings.items()
        for convention in declared
        if convention == declared[0] or _counts(share, context, reading, convention)
    ]
    return [(one.value, name_departures_of(one, every)) for one in every if frame.allows(one)]


def _counts(share: MlpShare, context: Context, reading: PaperReading, convention: str) -> bool:
    """Return whether a convention counts the model: one without a head has none to leave out."""
    facts = context.model(share.recipe, reading)
    if share.cell.column.measure is Measure.PARAMETERS:
        return ParameterConvention(convention) in facts.parameters
    return facts.has_total(context.conventions(share.cell.row.paper).flops[convention])


def _mlp_share(share: MlpShare, context: Context, reading: PaperReading, convention: str) -> Fraction:
    read = context.conventions(share.cell.row.paper)
    facts = context.model(share.recipe, reading)
    if not facts.mlps:
        raise NotMeasuredError(f"{share.recipe.name} has no MLP of a known kind to take a share of")
    if share.cell.column.measure is Measure.PARAMETERS:
        parameters = facts.parameters.get(ParameterConvention(convention))
        if parameters is None:
            raise NotMeasuredError(f"{share.recipe.name} has no head for {convention}")
        return Fraction(100 * facts.mlp_parameters, parameters)
    counter = read.flops[convention]
    if not facts.has_total(counter):
        raise NotMeasuredError(f"{share.recipe.name} has no head for {convention}")
    ledger = facts.ledger
    if ledger is None or ledger.unknown or not (whole := total(ledger, counter)):
        raise NotMeasuredError(f"not all work of {share.recipe.name} is counted by {counter.name}")
    return Fraction(100 * total(ledger.within(facts.mlps), counter), whole)
