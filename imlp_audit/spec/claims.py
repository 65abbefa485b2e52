"""The records of claims: what a paper's text says about its own numbers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from imlp_audit.models.hosts.host import Count
from imlp_audit.records.base import Record
from imlp_audit.spec.fields import HOLDS_FOR, TABLE_NAME, CellId, Place, RowGlob, RowId, Sentence, Slug, exactly_one

QUANTITIES = ("value", "change", "difference", "ratio", "step", "position", "mlp_share")
COMPARED = ("change", "difference", "ratio")  # with the row's baseline, or with the row named by `against`
RELATIONS = ("equals", "above", "at_least", "below", "at_most")


class Quantity(Record):
    """What a claim is about, of one row: a column's value; its change (percent) or difference from, or its ratio to,
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
    def kind(self) -> str:
        """The name of the quantity that is given."""
        return exactly_one(self, QUANTITIES)

    @property
    def column(self) -> str:
        """The column it is taken from."""
        column: str = getattr(self, self.kind)
        return column

    @property
    def in_percent(self) -> bool:
        """Whether it is a percentage, whatever the unit of the column."""
        return self.kind in ("change", "position", "mlp_share")

    @property
    def references(self) -> tuple[str, ...]:
        """The ids of the rows that it names beside the claim's own."""
        return (*([self.against] if self.against else []), *(self.between or ()))

    @model_validator(mode="after")
    def _one_quantity(self) -> Self:
        kind = exactly_one(self, QUANTITIES)
        if self.against is not None and kind not in COMPARED:
            raise ValueError(f"only {', '.join(COMPARED)} are taken against another row, not a {kind}")
        if (self.between is not None) != (kind == "position"):
            raise ValueError("a position, and nothing else, is between two rows: between: [row, row]")
        return self


class Condition(Quantity):
    """A quantity and the number the text compares it with, as printed there."""

    equals: str | None = None
    above: str | None = None
    at_least: str | None = None
    below: str | None = None
    at_most: str | None = None

    @property
    def relation(self) -> str:
        """The name of the relation that is given."""
        return exactly_one(self, RELATIONS)

    @property
    def bound(self) -> str:
        """The number it is compared with."""
        bound: str = getattr(self, self.relation)
        return bound

    @model_validator(mode="after")
    def _one_relation(self) -> Self:
        exactly_one(self, RELATIONS)
        return self


class Direction(StrEnum):
    """Which way a sequence goes, strictly."""

    INCREASING = "increasing"
    DECREASING = "decreasing"


class Order(Quantity):
    """A quantity that grows or shrinks along the rows."""

    direction: Direction


class Reference(Record):
    """A table that the text points to, and the cells it is said to hold. One that is not there is named as printed."""

    table: Annotated[str, Field(pattern=TABLE_NAME)]
    holds: Annotated[tuple[CellId, ...], Field(min_length=1)]


class Average(Record):
    """A printed average of `count` scores, of which the tables print those of the cells in `of`; none is above
    `at_most`.
    """

    cell: CellId
    of: Annotated[tuple[CellId, ...], Field(min_length=1)]
    count: Count
    at_most: str = "100"

    @model_validator(mode="after")
    def _has_no_more_than_it_counts(self) -> Self:
        if len(self.of) > self.count:
            raise ValueError(f"an average of {self.count} has {len(self.of)} members; count is too small")
        return self


class Input(Record):
    """The side of the images that the models of the rows are said to take, and the column of FLOPs that decides it.

    `tried` gives, by the id of a row, other sides at which its model is published.
    """

    size: Count
    decided_by: Slug
    tried: dict[Slug, tuple[Count, ...]] = Field(default_factory=dict)


class Claim(Record):
    """A sentence of the paper about its own numbers, with the meaning that it is checked in."""

    id: Slug
    text: Sentence
    source: Place
    meaning: Sentence | None = None
    rows: tuple[RowGlob, ...] = ()
    conditions: Annotated[tuple[Condition, ...], Field(min_length=1)] | None = None
    holds_for: Annotated[str, Field(pattern=HOLDS_FOR)] = "all"
    order: Order | None = None
    reference: Reference | None = None
    average: Average | None = None
    input: Input | None = None

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """What its conditions or its order are about."""
        return (*(self.conditions or ()), *([self.order] if self.order else []))

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        form = exactly_one(self, ("conditions", "order", "reference", "average", "input"))
        if form not in ("reference", "average") and not self.rows:
            raise ValueError("name the rows the claim is about, e.g. rows: [imlp/1/deit_ti_imlp] or a glob of them")
        return self
