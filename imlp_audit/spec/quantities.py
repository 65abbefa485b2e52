"""Quantities that claims are about: as the YAML writes them, and as the cells of a row that they are taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Self, TypeAlias, assert_never

from pydantic import Field, model_validator

from imlp_audit.models.recipe import Recipe
from imlp_audit.records.base import Record
from imlp_audit.spec.fields import RowId, Slug, exactly_one
from imlp_audit.spec.references import CellRef, RowRef, find_row

if TYPE_CHECKING:
    from imlp_audit.spec.paper import Paper


class QuantityKind(StrEnum):
    """The kinds of quantity; each is the key that names its column."""

    VALUE = "value"
    CHANGE = "change"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    STEP = "step"
    POSITION = "position"
    MLP_SHARE = "mlp_share"


_KINDS = tuple(QuantityKind)
# compared with the baseline, or with the row `against`
AGAINST = (QuantityKind.CHANGE, QuantityKind.DIFFERENCE, QuantityKind.RATIO)


class QuantityEntry(Record):
    """What a claim is about in one row: a column's value; its change (percent) or difference from, or its ratio to,
    that of the row's baseline or of the row `against`; its step from the row before; its position (percent) on the
    way between two rows; or the share (percent) of the column's measure that the MLPs have.
    """

    value: Slug | None = None
    change: Slug | None = None
    difference: Slug | None = None
    ratio: Slug | None = None
    step: Slug | None = None
    position: Slug | None = None
    mlp_share: Slug | None = None
    against: RowId | None = None
    between: Annotated[tuple[RowId, ...], Field(min_length=2, max_length=2)] | None = None

    @property
    def kind(self) -> QuantityKind:
        """The kind of quantity that is given."""
        return QuantityKind(exactly_one(self, _KINDS))

    @property
    def column(self) -> str:
        """The column it is taken from."""
        column: str = getattr(self, self.kind)
        return column

    @property
    def name(self) -> str:
        """What reasons call it."""
        return f"{self.kind} of {self.column}"

    @property
    def rows_named(self) -> tuple[str, ...]:
        """The ids of the rows that it names in addition to the claim's own."""
        return (*([self.against] if self.against else []), *(self.between or ()))

    @model_validator(mode="after")
    def _one_quantity(self) -> Self:
        kind = exactly_one(self, _KINDS)
        if self.against is not None and kind not in AGAINST:
            raise ValueError(f"`against` goes with {', '.join(AGAINST)}, not with a {kind}")
        if (self.between is not None) != (kind == QuantityKind.POSITION):
            raise ValueError("`between: [row, row]` goes with a position, and only with that")
        return self


def describe(entry: QuantityEntry) -> str:
    """Say what a quantity is, in words."""
    base = entry.against or "the row's baseline"
    match entry.kind:
        case QuantityKind.VALUE:
            return "the printed number"
        case QuantityKind.STEP:
            return "step: the number minus that of the row before"
        case QuantityKind.CHANGE:
            return f"change: from {base}, in percent"
        case QuantityKind.DIFFERENCE:
            return f"difference: the number minus that of {base}"
        case QuantityKind.RATIO:
            return f"ratio: the number divided by that of {base}"
        case QuantityKind.POSITION:
            return f"position: how far it is, in percent, on the way from {' to '.join(entry.rows_named)}"
        case QuantityKind.MLP_SHARE:
            return "share: the part of the model's measured number that is in its MLPs, in percent"
        case _:
            assert_never(entry.kind)


@dataclass(frozen=True)
class Value:
    """The printed number."""

    cell: CellRef


@dataclass(frozen=True)
class Step:
    """The number minus that of the row before."""

    cell: CellRef
    before: CellRef


@dataclass(frozen=True)
class _Compared:
    cell: CellRef
    base: CellRef


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
        case Step():
            return quantity.cell, quantity.before
        case Change() | Difference() | Ratio():
            return quantity.cell, quantity.base
        case Position():
            return quantity.cell, quantity.start, quantity.end
        case _:
            assert_never(quantity)


class MissingError(Exception):
    """A row lacks what a quantity is taken from; the message says what."""


def find_quantities(entry: QuantityEntry, rows: Sequence[RowRef], papers: Sequence[Paper]) -> list[Quantity]:
    """Return the quantity of each row; the first row has no step. Raises MissingError."""
    cells = [_cell(row, entry.column) for row in rows]
    named = [_named_cell(name, entry.column, papers) for name in entry.rows_named]
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
            start, end = named
            quantities += [Position(cell, start, end) for cell in cells]
        case QuantityKind.MLP_SHARE:
            quantities += [MlpShare(cell, _counted_recipe(cell)) for cell in cells]
        case _:
            assert_never(entry.kind)
    units = {unit_of(quantity) for quantity in quantities}
    units |= {cell.column.unit for q in quantities if isinstance(q, Difference) for cell in cells_of(q)}
    if len(units) > 1:
        quoted = " and ".join(sorted(map(repr, units)))
        raise MissingError(f"the rows print {entry.column!r} in {quoted}; make a claim for each unit")
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
