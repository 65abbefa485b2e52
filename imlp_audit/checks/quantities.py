"""The values that the printed digits, or a model's counts, allow for a quantity that a claim is about."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import assert_never

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Measured, name_departures_of
from imlp_audit.checks.truth import middle
from imlp_audit.checks.votes import frame_of
from imlp_audit.count.conventions import ParameterConvention, total
from imlp_audit.models.reading import PaperReading
from imlp_audit.numbers.forms import SCALES
from imlp_audit.numbers.interval import Interval
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef
from imlp_audit.spec.quantities import (
    Change,
    Difference,
    MlpShare,
    Position,
    Quantity,
    Ratio,
    Step,
    TakenFromCells,
    Value,
)


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


def values_of(quantity: TakenFromCells, values: Callable[[CellRef], Interval]) -> Interval | None:
    """Return the possible values of a quantity, in base units, from those of its cells; None where undefined."""
    match quantity:
        case Value(cell):
            return values(cell)
        case Step(cell, before):
            return values(cell) - values(before)
        case Change(cell, base):
            return values(cell).change_from(values(base))
        case Difference(cell, base):
            return values(cell) - values(base)
        case Ratio(cell, base):
            return values(cell).ratio_to(values(base))
        case Position(cell, start, end):
            return values(cell).position_between(values(start), values(end))
        case _:
            assert_never(quantity)


def interval_of(cell: CellRef, context: Context) -> Interval:
    """Return the values that print as a cell does, under the default rounding rule for its column."""
    return cell.printed.interval(context.conventions(cell.row.paper).roundings_of(cell.column)[0])


def format_values(quantity: Quantity, values: Interval | None) -> str:
    """Write a possible range in the unit that it is printed in."""
    if values is None:
        return "undefined"
    match quantity:
        case Value() | Step() | Difference():
            return middle(values * Fraction(1, SCALES.get(quantity.cell.column.unit, 1)))
        case Change() | Ratio() | Position() | MlpShare():
            return middle(values)
        case _:
            assert_never(quantity)


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
