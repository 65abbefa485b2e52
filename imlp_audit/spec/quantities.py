"""Quantities that claims are about, as the cells of a row that they are taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, assert_never

from imlp_audit.models.recipe import Recipe
from imlp_audit.spec.claim_entries import QuantityEntry, QuantityKind
from imlp_audit.spec.paper import CellRef, Paper, RowRef, find_row


@dataclass(frozen=True)
class Value:
    """The printed number."""

    cell: CellRef


@dataclass(frozen=True)
class _Compared:
    cell: CellRef
    base: CellRef


class Step(_Compared):
    """The number minus that of the row before."""


class Change(_Compared):
    """The change from another number, in percent."""


class Difference(_Compared):
    """The number minus another one."""


class Ratio(_Compared):
    """The number divided by another one."""


@dataclass(frozen=True)
class Position:
    """How far the number is on the way between two others, in percent."""

    cell: CellRef
    start: CellRef
    end: CellRef


@dataclass(frozen=True)
class MlpShare:
    """The share of the column's measure that the model's MLPs have, in percent."""

    cell: CellRef
    recipe: Recipe


TakenFromCells: TypeAlias = Value | Step | Change | Difference | Ratio | Position
Quantity: TypeAlias = TakenFromCells | MlpShare


def unit_of(quantity: Quantity) -> str:
    """Return the unit of a quantity: that of its column, unless it is a percentage or a ratio."""
    match quantity:
        case Change() | Position() | MlpShare():
            return "%"
        case Ratio():
            return ""
        case Value() | Step() | Difference():
            return quantity.cell.column.unit
        case _:
            assert_never(quantity)


def cells_of(quantity: Quantity) -> tuple[CellRef, ...]:
    """Return the cells that a quantity is taken from, its own first."""
    match quantity:
        case Value() | MlpShare():
            return (quantity.cell,)
        case Step() | Change() | Difference() | Ratio():
            return quantity.cell, quantity.base
        case Position():
            return quantity.cell, quantity.start, quantity.end
        case _:
            assert_never(quantity)


def all_cells(quantities: Sequence[Quantity]) -> list[CellRef]:
    """Return the cells that quantities are taken from, their own before those they are compared with."""
    own = [quantity.cell for quantity in quantities]
    others = [cell for quantity in quantities for cell in cells_of(quantity)[1:]]
    return list({cell.id: cell for cell in own + others}.values())


class MissingError(Exception):
    """A row lacks what a quantity is taken from; the message says what."""


def find_quantities(entry: QuantityEntry, rows: Sequence[RowRef], papers: Sequence[Paper]) -> list[Quantity]:
    """Return the quantity of each row; the first row has no step. Raises MissingError."""
    column = entry.column
    cells = [_cell(row, column) for row in rows]
    named = [_named_cell(name, column, papers) for name in entry.rows_named]
    quantities: list[Quantity] = []
    match entry.kind:
        case QuantityKind.VALUE:
            quantities += [Value(cell) for cell in cells]
        case QuantityKind.STEP:
            quantities += [Step(cell, before) for before, cell in pairwise(cells)]
        case QuantityKind.CHANGE:
            quantities += [Change(cell, _base(cell, named)) for cell in cells]
        case QuantityKind.DIFFERENCE:
            quantities += [Difference(cell, _base(cell, named)) for cell in cells]
        case QuantityKind.RATIO:
            quantities += [Ratio(cell, _base(cell, named)) for cell in cells]
        case QuantityKind.POSITION:
            quantities += [Position(cell, *named) for cell in cells]
        case QuantityKind.MLP_SHARE:
            quantities += [MlpShare(cell, _counted_recipe(cell)) for cell in cells]
        case _:
            assert_never(entry.kind)
    units = {unit_of(quantity) for quantity in quantities}
    units |= {cell.column.unit for q in quantities if isinstance(q, Difference) for cell in cells_of(q)}
    if len(units) > 1:
        quoted = " and ".join(sorted(map(repr, units)))
        raise MissingError(f"the rows print {column!r} in {quoted}; make a claim for each unit")
    return quantities


def _cell(row: RowRef, column: str) -> CellRef:
    cell = row.cell(column)
    if cell is None:
        raise MissingError(f"{row.id} prints no {column!r}")
    return cell


def _named_cell(name: str, column: str, papers: Sequence[Paper]) -> CellRef:
    row = find_row(papers, name)
    cell = row.cell(column) if row is not None else None
    if cell is None:
        raise MissingError(f"no row {name!r} that prints {column!r}")
    return cell


def _base(cell: CellRef, named: Sequence[CellRef]) -> CellRef:
    """Return what a cell is compared with: the one that is named, or its baseline's."""
    if named:
        return named[0]
    base = cell.row.baseline.cell(cell.column_id) if cell.row.baseline is not None else None
    if base is None:
        raise MissingError(f"{cell.row.id} has no baseline row that prints {cell.column_id!r}")
    return base


def _counted_recipe(cell: CellRef) -> Recipe:
    recipe = cell.recipe
    if recipe is None or not cell.column.measure.totalled:
        raise MissingError(f"{cell.row.id} has no counted {cell.column_id!r} to take a share of")
    return recipe
