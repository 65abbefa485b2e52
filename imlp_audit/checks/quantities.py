"""The values that the printed digits, or a model's counts, allow for a quantity that a claim is about."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.truth import middle
from imlp_audit.measure.conventions import ParameterConvention, total
from imlp_audit.numbers.interval import Interval
from imlp_audit.spec.quantities import (
    Change,
    Difference,
    MlpShare,
    Position,
    Quantity,
    Ratio,
    Step,
    Value,
)
from imlp_audit.spec.references import CellRef
from imlp_audit.spec.tables import Measure


def possible_values(quantity: Quantity, context: Context) -> Interval | None:
    """Return the possible values of a quantity, in base units; None where it is undefined."""

    def values(cell: CellRef) -> Interval:
        return interval_of(cell, context)

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
        case MlpShare():
            return Interval.point(_mlp_share(quantity, context))
        case _:
            assert_never(quantity)


def interval_of(cell: CellRef, context: Context) -> Interval:
    """Return the values that print as a cell does, under its paper's default rounding rule."""
    return cell.printed.interval(context.conventions(cell.row.paper).roundings[0])


def format_values(quantity: Quantity, values: Interval | None) -> str:
    """Write a possible range in the unit that it is printed in."""
    if values is None:
        return "undefined"
    match quantity:
        case Value() | Step() | Difference():
            return middle(values * Fraction(1, quantity.cell.printed.scale))
        case Change() | Ratio() | Position() | MlpShare():
            return middle(values)
        case _:
            assert_never(quantity)


def _mlp_share(share: MlpShare, context: Context) -> Fraction:
    """Return the share, in percent, of the parameters or of the default convention's work that the MLPs have."""
    row, column = share.cell.row, share.cell.column
    read = context.conventions(row.paper)
    facts = context.model(share.recipe, next(iter(read.readings.values())))
    if not facts.mlps:
        raise NotMeasuredError(f"{share.recipe.name} has no MLP of a known kind to take a share of")
    usual = str(read.declared_for(row.row, column)[0])
    if column.measure is Measure.PARAMETERS:
        parameters = facts.parameters.get(ParameterConvention(usual))
        if parameters is None:
            raise NotMeasuredError(f"{share.recipe.name} has no head for {usual}")
        return Fraction(100 * facts.mlp_parameters, parameters)
    convention = read.flops[usual]
    ledger = facts.ledger
    whole = total(ledger, convention) if ledger is not None else 0
    if ledger is None or ledger.unknown or not whole:
        raise NotMeasuredError(f"not all work of {share.recipe.name} is counted by {convention.name}")
    return Fraction(100 * total(ledger.within(facts.mlps), convention), whole)
