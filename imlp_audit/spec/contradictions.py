"""Numbers by which a paper contradicts itself, whatever its models have: two totals of one model that cannot be one."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.printed import Rounding
from imlp_audit.spec.columns import Column, Measure
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import CellRef, rows_of
from imlp_audit.spec.repeats import Twins


def find_contradictions(paper: Paper) -> Iterator[Twins]:
    """Yield each total for which the paper prints another number elsewhere, once for each pair of numbers.

    Both are of one model on inputs of one size, by one counter: that of a table's column, of columns of one heading
    if the paper declares only one, or the one that both rows state. Two columns may count two things: "Params" and
    "Backbone params", "MACs" and "FLOPs".
    """
    printed: dict[tuple[Recipe, Measure, str, str], list[CellRef]] = {}
    for row in rows_of(paper):
        for name in row.row.printed:
            cell = CellRef(row, name)
            if not cell.column.measure.totalled or cell.column.needs or cell.recipe is None:
                continue
            numbers = printed.setdefault((cell.recipe, cell.column.measure, cell.column.heading, _counter(cell)), [])
            if numbers and not any(_agree(cell, other) for other in numbers):
                measure = cell.column.measure
                yield Twins(cell, numbers[0], f"both are {measure} of one model on inputs of one size")
                numbers.append(cell)
            numbers += [] if numbers else [cell]


def _counter(cell: CellRef) -> str:
    """Return what two cells of one counter share."""
    row, column, about = cell.row, cell.column, cell.row.paper.about.value
    own = next((by.convention for measure, by in row.row.counted_by.items() if measure is column.measure), None)
    declared = about.parameters if column.measure is Measure.PARAMETERS else about.flops
    table = row.table.value.table if len(declared) > 1 and own is None else ""
    return f"{own or ''}/{table}"


def _agree(one: CellRef, other: CellRef) -> bool:
    """Return whether one value prints as both numbers, by some declared rounding rule."""
    rules = _rules(one.column, one.row.paper)
    return any(one.printed.interval(rule).meets(other.printed.interval(rule)) for rule in rules)


def _rules(column: Column, paper: Paper) -> tuple[Rounding, ...]:
    about = paper.about.value
    return next((rules for name, rules in about.rounding_of.items() if name is column.measure), about.rounding)
