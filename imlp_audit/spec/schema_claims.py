"""The records of claims: what a paper's text says about its own numbers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from imlp_audit.spec.forms import HOLDS_FOR, CellId, Place, Record, RowGlob, Sentence, Slug, exactly_one

QUANTITIES = ("value", "change", "difference", "step", "mlp_share")
RELATIONS = ("equals", "above", "at_least", "below", "at_most")


class Quantity(Record):
    """What a claim is about, of one row: a column's value, its change (percent) or difference from the row's
    baseline, its step from the row before, or the share (percent) of the column's measure that the MLPs have.
    """

    value: Slug | None = None
    change: Slug | None = None
    difference: Slug | None = None
    step: Slug | None = None
    mlp_share: Slug | None = None

    @property
    def kind(self) -> str:
        """The name of the quantity that is given."""
        return exactly_one(self, QUANTITIES)

    @property
    def column(self) -> str:
        """The column it is taken from."""
        column: str = getattr(self, self.kind)
        return column

    @model_validator(mode="after")
    def _one_quantity(self) -> Self:
        exactly_one(self, QUANTITIES)
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
    """A table that the text points to, and the cells it is said to hold."""

    table: Slug
    holds: Annotated[tuple[CellId, ...], Field(min_length=1)]


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

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        form = exactly_one(self, ("conditions", "order", "reference"))
        if form != "reference" and not self.rows:
            raise ValueError("name the rows the claim is about, e.g. rows: [imlp/1/deit_ti_imlp] or a glob of them")
        return self
