"""What a paper's text says about its own numbers, as the YAML writes it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self, TypeAlias, assert_never

from pydantic import Discriminator, Field, Tag, model_validator

from imlp_audit.models.host import Count
from imlp_audit.records.base import Record
from imlp_audit.spec.fields import (
    HOLDS_FOR,
    MAPPING,
    TABLE_NAME,
    TEXT,
    CellId,
    Place,
    RowGlob,
    RowId,
    Sentence,
    Slug,
    exactly_one,
    text_or_mapping,
)


class QuantityKind(StrEnum):
    """The kinds of quantity; each is the key that names its column."""

    VALUE = "value"
    CHANGE = "change"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    STEP = "step"
    POSITION = "position"
    MLP_SHARE = "mlp_share"


class Relation(StrEnum):
    """How a quantity is compared with the number in the text."""

    EQUALS = "equals"
    ABOVE = "above"
    AT_LEAST = "at_least"
    BELOW = "below"
    AT_MOST = "at_most"


class Direction(StrEnum):
    """Which way a sequence goes, strictly."""

    INCREASING = "increasing"
    DECREASING = "decreasing"


_KINDS, _RELATIONS = tuple(QuantityKind), tuple(Relation)
# compared with the baseline, or with the row `against`
_AGAINST = (QuantityKind.CHANGE, QuantityKind.DIFFERENCE, QuantityKind.RATIO)


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
        if self.against is not None and kind not in _AGAINST:
            raise ValueError(f"`against` goes with {', '.join(_AGAINST)}, not with a {kind}")
        if (self.between is not None) != (kind == QuantityKind.POSITION):
            raise ValueError("`between: [row, row]` goes with a position, and only with that")
        return self

    def describe(self) -> str:
        """Say what the quantity is, in words."""
        base = self.against or "the row's baseline"
        return _DESCRIBED[self.kind].format(base=base, between=" to ".join(self.rows_named))


_DESCRIBED = {
    QuantityKind.VALUE: "the printed number",
    QuantityKind.STEP: "step: the number minus that of the row before",
    QuantityKind.CHANGE: "change: from {base}, in percent",
    QuantityKind.DIFFERENCE: "difference: the number minus that of {base}",
    QuantityKind.RATIO: "ratio: the number divided by that of {base}",
    QuantityKind.POSITION: "position: how far it is, in percent, on the way from {between}",
    QuantityKind.MLP_SHARE: "share: the part of the model's measured number that is in its MLPs, in percent",
}


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


class ReferenceEntry(Record):
    """A table that the text points to, and the cells that it should hold. A missing table is named as printed."""

    table: Annotated[str, Field(pattern=TABLE_NAME)]
    holds: Annotated[tuple[CellId, ...], Field(min_length=1)]


class AverageEntry(Record):
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
            raise ValueError(f"the average has {len(self.of)} members, more than count: {self.count}")
        return self


class InputEntry(Record):
    """The side of the images that the rows' models take according to the text, and the column of FLOPs that decides it.

    `tried` gives, by the id of a row, other sides at which its model is published.
    """

    size: Count
    decided_by: Slug
    tried: dict[Slug, tuple[Count, ...]] = Field(default_factory=dict)


Form: TypeAlias = tuple[ConditionEntry, ...] | OrderEntry | ReferenceEntry | AverageEntry | InputEntry
_FORMS = ("conditions", "order", "reference", "average", "input")


class MeaningEntry(Record):
    """What a sentence states, in words and in the numbers that it is checked by; one of its forms is given."""

    meaning: Sentence | None = None
    rows: tuple[RowGlob, ...] = ()
    conditions: Annotated[tuple[ConditionEntry, ...], Field(min_length=1)] | None = None
    holds_for: Annotated[str, Field(pattern=HOLDS_FOR)] = "all"
    order: OrderEntry | None = None
    reference: ReferenceEntry | None = None
    average: AverageEntry | None = None
    input: InputEntry | None = None

    @property
    def form(self) -> Form:
        """The one of its forms that is given."""
        form: Form = getattr(self, exactly_one(self, _FORMS))
        return form

    @property
    def ids_named(self) -> tuple[str, ...]:
        """The ids, or globs of ids, of the rows and cells that it names."""
        match self.form:
            case tuple() as conditions:
                named: tuple[str, ...] = tuple(name for condition in conditions for name in condition.rows_named)
            case OrderEntry() as order:
                named = order.rows_named
            case ReferenceEntry() as reference:
                named = reference.holds
            case AverageEntry() as average:
                named = (average.cell, *average.of)
            case InputEntry():
                named = ()
            case _:
                assert_never(self.form)
        return (*self.rows, *named)

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        form = exactly_one(self, _FORMS)
        if form not in ("reference", "average") and not self.rows:
            raise ValueError("name the rows that the claim is about, e.g. rows: [imlp/1/deit_ti_imlp] or a glob")
        return self


class LeftOut(Record):
    """Rows that a sentence covers and its claims leave out, and why."""

    rows: Annotated[tuple[RowGlob, ...], Field(min_length=1)]
    because: Sentence


CharitableEntry: TypeAlias = Annotated[
    Annotated[Sentence, Tag(TEXT)] | Annotated[MeaningEntry, Tag(MAPPING)], Discriminator(text_or_mapping)
]
"""Why the meaning that is checked asks for less than the words do, or a meaning that does."""


class ClaimEntry(MeaningEntry):
    """A sentence of the paper about its own numbers, with the meaning that it is checked in: the strict one.

    `charitable` is a meaning that asks for less, tried where the strict one fails; or the reason why the one meaning
    that the entry has asks for less than the words do. `covers` are the rows that the
    sentence speaks of: each needs a claim about it with the same text, or is `left_out` with the reason.
    """

    id: Slug
    text: Sentence
    source: Place
    charitable: CharitableEntry | None = None
    covers: tuple[RowGlob, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @model_validator(mode="after")
    def _says_what_it_is_charitable_about(self) -> Self:
        if isinstance(self.charitable, MeaningEntry) and self.charitable.meaning is None:
            raise ValueError("say what the charitable meaning is: charitable: {meaning: ..., ...}")
        return self
