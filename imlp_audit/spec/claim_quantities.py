"""Quantities that claims are about, as the cells of a row that they are taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

from imlp_audit.models.recipe import Recipe
from imlp_audit.spec.claim_entries import QuantityEntry, QuantityKind
from imlp_audit.spec.paper import CellRef, Paper, RowRef, find_row


@dataclass(frozen=True)
class Quantity:
    """A quantity of a row: its cell, and the cells that it is taken against, in the order that the kind gives them."""

    kind: QuantityKind
    cell: CellRef
    others: tuple[CellRef, ...] = ()

    @property
    def cells(self) -> tuple[CellRef, ...]:
        """The cells that it is taken from, its own first."""
        return self.cell, *self.others

    @property
    def unit(self) -> str:
        """That of its column, unless it is a percentage or a ratio."""
        return _UNITS.get(self.kind, self.cell.column.unit)

    @property
    def in_units_of_its_column(self) -> bool:
        """Whether it is a number such as its column prints."""
        return self.kind not in _UNITS


_UNITS = {QuantityKind.CHANGE: "%", QuantityKind.POSITION: "%", QuantityKind.MLP_SHARE: "%", QuantityKind.RATIO: ""}


@dataclass(frozen=True, kw_only=True)
class MlpShare(Quantity):
    """The share of the column's measure that the model's MLPs have, in percent, which no number prints."""

    kind: QuantityKind = QuantityKind.MLP_SHARE
    recipe: Recipe


def all_cells(quantities: Sequence[Quantity]) -> list[CellRef]:
    """Return the cells that quantities are taken from, their own before those they are compared with."""
    own = [quantity.cell for quantity in quantities]
    others = [cell for quantity in quantities for cell in quantity.others]
    return list({cell.id: cell for cell in own + others}.values())


class MissingError(Exception):
    """A row lacks what a quantity is taken from; the message says what."""


def find_quantities(entry: QuantityEntry, rows: Sequence[RowRef], papers: Sequence[Paper]) -> list[Quantity]:
    """Return the quantity of each row; the first row has no step. Raises MissingError."""
    column = entry.column
    cells = [_cell(row, column) for row in rows]
    named = [_named_cell(name, column, papers) for name in entry.rows_named]
    quantities: list[Quantity]
    match entry.kind:
        case QuantityKind.STEP:
            quantities = [Quantity(entry.kind, cell, (before,)) for before, cell in pairwise(cells)]
        case QuantityKind.MLP_SHARE:
            quantities = [MlpShare(cell=cell, recipe=_counted_recipe(cell)) for cell in cells]
        case QuantityKind.VALUE | QuantityKind.POSITION:
            quantities = [Quantity(entry.kind, cell, tuple(named)) for cell in cells]
        case QuantityKind.CHANGE | QuantityKind.DIFFERENCE | QuantityKind.RATIO:
            quantities = [Quantity(entry.kind, cell, (_base(cell, named),)) for cell in cells]
        case _:
            assert_never(entry.kind)
    units = {quantity.unit for quantity in quantities}
    units |= {c.column.unit for q in quantities if q.kind is QuantityKind.DIFFERENCE for c in q.cells}
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
