"""What a paper's text says about its own numbers, as the YAML writes it."""

from __future__ import annotations

from typing import Annotated, Self, TypeAlias, assert_never

from pydantic import Discriminator, Field, Tag, model_validator

from imlp_audit.models.host import Count
from imlp_audit.records.base import Record
from imlp_audit.spec.conditions import ConditionEntry, OrderEntry
from imlp_audit.spec.fields import (
    HOLDS_FOR,
    MAPPING,
    TABLE_NAME,
    TEXT,
    CellId,
    Place,
    RowGlob,
    Sentence,
    Slug,
    exactly_one,
    text_or_mapping,
)


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


class MeaningEntry(Record):
    """What a sentence states, in words and in the numbers that it is checked by."""

    meaning: Sentence | None = None
    rows: tuple[RowGlob, ...] = ()
    conditions: Annotated[tuple[ConditionEntry, ...], Field(min_length=1)] | None = None
    holds_for: Annotated[str, Field(pattern=HOLDS_FOR)] = "all"
    order: OrderEntry | None = None
    reference: ReferenceEntry | None = None
    average: AverageEntry | None = None
    input: InputEntry | None = None

    @property
    def forms(self) -> dict[str, Form | None]:
        """What it can state, by key; one of them is given."""
        return {
            "conditions": self.conditions,
            "order": self.order,
            "reference": self.reference,
            "average": self.average,
            "input": self.input,
        }

    @property
    def form(self) -> Form:
        """The one of its forms that is given."""
        return next(form for form in self.forms.values() if form is not None)

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
        form = exactly_one(self, tuple(self.forms))
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
