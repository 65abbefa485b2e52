"""Sentences about a quantity: conditions that it meets in every row, and the order that it has along the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import model_validator

from imlp_audit.numbers.printed import Printed
from imlp_audit.spec.fields import exactly_one
from imlp_audit.spec.lookup import Lookup
from imlp_audit.spec.quantities import MlpShare, Quantity, QuantityEntry, QuantityKind, cells_of, unit_of
from imlp_audit.spec.references import CellRef, RowRef


class Relation(StrEnum):
    """How a quantity is compared with the number in the text."""

    EQUALS = "equals"
    ABOVE = "above"
    AT_LEAST = "at_least"
    BELOW = "below"
    AT_MOST = "at_most"


_RELATIONS = tuple(Relation)


class Direction(StrEnum):
    """Which way a sequence goes, strictly."""

    INCREASING = "increasing"
    DECREASING = "decreasing"


class ConditionEntry(QuantityEntry):
    """A quantity and the number the text compares it with, as printed there."""

    equals: str | None = None
    above: str | None = None
    at_least: str | None = None
    below: str | None = None
    at_most: str | None = None

    @property
    def relation(self) -> Relation:
        """The relation that is given."""
        return Relation(exactly_one(self, _RELATIONS))

    @property
    def bound(self) -> str:
        """The number it is compared with."""
        bound: str = getattr(self, self.relation)
        return bound

    @model_validator(mode="after")
    def _one_relation(self) -> Self:
        exactly_one(self, _RELATIONS)
        return self


class OrderEntry(QuantityEntry):
    """A quantity that grows or shrinks along the rows."""

    direction: Direction


ALL_DIGITS = "each printed number can be any number that prints so; the claim holds if it holds for all of them"


@dataclass(frozen=True)
class Condition:
    """A quantity of each row, by the row's id, and the number that it is compared with.

    `rows_named` are the ids of the rows that the quantity is taken against.
    """

    name: str
    relation: Relation
    bound: Printed
    by_row: Mapping[str, Quantity]
    rows_named: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conditions:
    """All conditions hold in all rows, or in as many as `holds_for` says."""

    rows: Sequence[RowRef]
    conditions: Sequence[Condition]
    holds_for: str

    @property
    def judged_by(self) -> str:
        """What decides it."""
        needed = "" if self.holds_for == "all" else f"; it has to hold for {self.holds_for} of the rows"
        return ALL_DIGITS + needed

    @property
    def cells(self) -> list[CellRef]:
        """The printed numbers that it is about."""
        return _cells_of(self._quantities)

    @property
    def shares(self) -> list[MlpShare]:
        """The shares of MLPs that it is about, which no number prints."""
        return [quantity for quantity in self._quantities if isinstance(quantity, MlpShare)]

    @property
    def _quantities(self) -> list[Quantity]:
        return [c.by_row[row.id] for row in self.rows for c in self.conditions if row.id in c.by_row]


@dataclass(frozen=True)
class Order:
    """A quantity grows, or shrinks, along the rows."""

    name: str
    direction: Direction
    along: Sequence[tuple[RowRef, Quantity]]

    judged_by = ALL_DIGITS

    @property
    def cells(self) -> list[CellRef]:
        """The printed numbers that it is about."""
        return _cells_of([quantity for _, quantity in self.along])

    @property
    def shares(self) -> list[MlpShare]:
        """The shares of MLPs that it is about, which no number prints."""
        return [quantity for _, quantity in self.along if isinstance(quantity, MlpShare)]


def parse_conditions(
    lookup: Lookup, entries: Sequence[ConditionEntry], rows: Sequence[RowRef], holds_for: str
) -> Conditions:
    """Return the conditions with the quantity of each row."""
    conditions = []
    for index, entry in enumerate(entries):
        if entry.kind is QuantityKind.STEP and len(rows) == 1:
            lookup.report("a step needs two rows or more, since the first row has none", "conditions", index, "step")
        along = lookup.quantities(entry, rows, "conditions", index)
        bound = lookup.number(entry.bound, unit_of(along[0][1]), "conditions", index) if along else None
        if bound is not None:
            by_row = {row.id: quantity for row, quantity in along}
            conditions.append(Condition(entry.name, entry.relation, bound, by_row, entry.rows_named))
    return Conditions(rows, conditions, holds_for)


def parse_order(lookup: Lookup, entry: OrderEntry, rows: Sequence[RowRef]) -> Order:
    """Return the order with the quantity of each row."""
    along = lookup.quantities(entry, rows, "order")
    least = 3 if entry.kind is QuantityKind.STEP else 2
    if len(rows) < least:
        lookup.report(f"an order of this quantity needs {least} rows or more", "rows")
    return Order(entry.name, entry.direction, along)


def _cells_of(quantities: Sequence[Quantity]) -> list[CellRef]:
    """Return the cells that quantities are taken from, their own before those they are compared with."""
    found = [cells_of(quantity) for quantity in quantities]
    cells = [cell for own, *_ in found for cell in (own,)] + [cell for _, *others in found for cell in others]
    return list({cell.id: cell for cell in cells}.values())
