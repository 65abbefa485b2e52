"""What the printed digits, or a model's counts, leave possible for a quantity that a claim is about."""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.truth import middle
from imlp_audit.measure.conventions import ParameterConvention, total
from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.printed import Printed, parse_printed
from imlp_audit.spec.claims import Condition, Quantity
from imlp_audit.spec.references import RowRef, find_row
from imlp_audit.spec.tables import Measure


def value_of(row: RowRef, quantity: Quantity, context: Context, rows: list[RowRef]) -> Interval | None:
    """Return what is possible for a quantity of a row, in base units; None where it is undefined."""

    def possible(other: RowRef) -> Interval:
        return _cell(other, quantity).interval(context.conventions(other.paper).roundings[0])

    kind = quantity.kind
    match kind:
        case "mlp_share":
            return Interval.point(_mlp_share(row, quantity, context))
        case "value":
            return possible(row)
        case "step":
            index = rows.index(row)
            return possible(row) - possible(rows[index - 1]) if index else None
        case "change":
            return possible(row).change_from(possible(_reference(row, quantity, context)))
        case "difference":
            return possible(row) - possible(_reference(row, quantity, context))
        case "ratio":
            return possible(row).ratio_to(possible(_reference(row, quantity, context)))
        case "position":
            start, end = (_named_row(name, context) for name in quantity.references)
            return possible(row).position_between(possible(start), possible(end))
        case _:
            raise ValueError(kind)


def bound_of(row: RowRef, condition: Condition, context: Context) -> Interval:
    """Return the claim's number: a rounded one where it is said to equal, a point where it is a limit."""
    number = parse_printed(condition.bound, _unit(row, condition))
    if condition.relation == "equals":
        return number.interval(context.conventions(row.paper).roundings[0])
    return Interval.point(number.value * number.scale)


def format_value(row: RowRef, quantity: Quantity, value: Interval | None) -> str:
    """Write a possible range in the unit that it is printed in."""
    scale = 1 if quantity.in_percent or quantity.kind == "ratio" else _cell(row, quantity).scale
    return "undefined" if value is None else middle(value * Fraction(1, scale))


def name_quantity(quantity: Quantity) -> str:
    """Name a quantity in a reason."""
    return f"{quantity.kind} of {quantity.column}"


def _unit(row: RowRef, quantity: Quantity) -> str:
    if quantity.in_percent:
        return "%"
    return "" if quantity.kind == "ratio" else row.table.value.columns[quantity.column].unit


def _cell(row: RowRef, quantity: Quantity) -> Printed:
    cell = row.cell(quantity.column)
    assert cell is not None, "spec.rules has seen to it"
    return cell.printed


def _reference(row: RowRef, quantity: Quantity, context: Context) -> RowRef:
    """Return the row that a quantity is taken from: the one it names, or the row's baseline."""
    if quantity.against is not None:
        return _named_row(quantity.against, context)
    assert row.baseline is not None, "spec.rules has seen to it"
    return row.baseline


def _named_row(name: str, context: Context) -> RowRef:
    row = find_row(context.papers, name)
    assert row is not None, "spec.rules has seen to it"
    return row


def _mlp_share(row: RowRef, quantity: Quantity, context: Context) -> Fraction:
    """Return the share, in percent, of the parameters or of the default convention's work that the MLPs have."""
    recipe, read = row.row.model, context.conventions(row.paper)
    assert recipe is not None, "spec.rules has seen to it"
    facts = context.model(recipe, next(iter(read.readings.values())))
    if not facts.mlps:
        raise NotMeasuredError(f"{recipe.name} has no MLP of a known kind to take a share of")
    column = row.table.value.columns[quantity.column]
    usual = str(read.declared_for(row.row, column)[0])
    if column.measure is Measure.PARAMETERS:
        parameters = facts.parameters.get(ParameterConvention(usual))
        if parameters is None:
            raise NotMeasuredError(f"{recipe.name} has no head for {usual}")
        return Fraction(100 * facts.mlp_parameters, parameters)
    convention = read.flops[usual]
    assert facts.ledger is not None, "work was asked for"
    whole = total(facts.ledger, convention)
    if facts.ledger.unknown or not whole:
        raise NotMeasuredError(f"not all work of {recipe.name} is counted by {convention.name}")
    return Fraction(100 * total(facts.ledger.within(facts.mlps), convention), whole)
