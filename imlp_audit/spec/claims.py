"""Claims: what a paper's text says about its own numbers, as the YAML writes it and as it is judged.

An entry is parsed once, by `parse_claim`, into one of the kinds of `Statement`, with every row and cell looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Self, TypeAlias, assert_never

from pydantic import Field, model_validator

from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.models.hosts.host import Count
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.base import Record
from imlp_audit.spec.conditions import (
    ALL_DIGITS,
    ConditionEntry,
    Conditions,
    Order,
    OrderEntry,
    parse_conditions,
    parse_order,
)
from imlp_audit.spec.fields import HOLDS_FOR, TABLE_NAME, CellId, Place, RowGlob, Sentence, Slug, exactly_one
from imlp_audit.spec.lookup import Lookup
from imlp_audit.spec.references import CellRef, RowRef
from imlp_audit.spec.tables import Measure
from imlp_audit.spec.tree import Located

if TYPE_CHECKING:
    from imlp_audit.spec.paper import Paper


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


class ClaimEntry(MeaningEntry):
    """A sentence of the paper about its own numbers, with the meaning that it is checked in: the strict one.

    `charitable` is a meaning that asks for less, tried where the strict one fails. `covers` are the rows that the
    sentence speaks of: each needs a claim about it with the same text, or is `left_out` with the reason.
    """

    id: Slug
    text: Sentence
    source: Place
    charitable: MeaningEntry | None = None
    covers: tuple[RowGlob, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @model_validator(mode="after")
    def _says_what_it_is_charitable_about(self) -> Self:
        if self.charitable is not None and self.charitable.meaning is None:
            raise ValueError("say what the charitable meaning is: charitable: {meaning: ..., ...}")
        return self


@dataclass(frozen=True)
class Reference:
    """The table that the text points to, by its id and by its title where there is such a table, holds the cells."""

    table: str
    title: str | None
    cells: Sequence[CellRef]

    judged_by = "whether the cells stand in the table that the text points to"


@dataclass(frozen=True)
class Average:
    """A cell is the average of `count` scores, of which these members are printed; none is above `at_most`."""

    cell: CellRef
    members: Sequence[CellRef]
    count: int
    at_most: Printed

    judged_by = ALL_DIGITS

    @property
    def cells(self) -> list[CellRef]:
        """The printed numbers that it is about."""
        return [self.cell, *self.members]


@dataclass(frozen=True)
class Sized:
    """A row's printed FLOPs, the model that they follow from, and other sizes at which it is published."""

    cell: CellRef
    recipe: Recipe
    tried: tuple[int, ...]


@dataclass(frozen=True)
class Input:
    """The models of the rows take square images of this size."""

    size: int
    rows: Sequence[Sized]
    holds_for: str

    @property
    def judged_by(self) -> str:
        """What decides it."""
        return f"whether the printed FLOPs follow from images of {self.size} pixels a side, or only from another size"

    @property
    def cells(self) -> list[CellRef]:
        """The printed numbers that it is about."""
        return [row.cell for row in self.rows]


Statement: TypeAlias = Conditions | Order | Reference | Average | Input


@dataclass(frozen=True)
class Meanings:
    """What a claim states in its strict meaning, and in the charitable one where it has one."""

    strict: Statement
    charitable: Statement | None = None

    @property
    def all(self) -> tuple[Statement, ...]:
        """Every meaning, the strict one first."""
        return (self.strict,) if self.charitable is None else (self.strict, self.charitable)


def parse_claim(
    located: Located[ClaimEntry], paper: Paper, papers: Sequence[Paper]
) -> tuple[Meanings | None, list[Problem]]:
    """Return what a claim states, with its rows and cells looked up in `papers`; or what is wrong with it."""
    strict, problems = _parse_meaning(located, paper, papers)
    other = located.value.charitable
    charitable, more = None, list[Problem]()
    if other is not None:
        charitable, more = _parse_meaning(Located(other, located.file, (*located.path, "charitable")), paper, papers)
    problems += more
    return (None if strict is None or problems else Meanings(strict, charitable)), problems


def _parse_meaning(
    located: Located[MeaningEntry], paper: Paper, papers: Sequence[Paper]
) -> tuple[Statement | None, list[Problem]]:
    lookup = Lookup(located, papers)
    entry, rows = located.value, lookup.rows(located.value.rows)
    form = entry.form
    if isinstance(form, ReferenceEntry | AverageEntry) and entry.rows:
        lookup.report("a reference or an average names cells; remove its rows", "rows")
    if isinstance(form, OrderEntry | ReferenceEntry | AverageEntry) and "holds_for" in entry.model_fields_set:
        lookup.report("only conditions and input can hold for some rows and not for others", "holds_for")
    statement: Statement | None
    match form:
        case tuple() as conditions:
            statement = parse_conditions(lookup, conditions, rows, entry.holds_for)
        case OrderEntry() as order:
            statement = parse_order(lookup, order, rows)
        case ReferenceEntry() as reference:
            statement = _parse_reference(lookup, reference, paper)
        case AverageEntry() as average:
            statement = _parse_average(lookup, average)
        case InputEntry() as given:
            statement = _parse_input(lookup, given, rows, entry.holds_for)
        case _:
            assert_never(form)
    return (None if lookup.problems else statement), lookup.problems


def _parse_reference(lookup: Lookup, entry: ReferenceEntry, paper: Paper) -> Reference:
    titles = {table.value.table: table.value.title for table in paper.tables}
    absent = "." in entry.table  # a table that the text names and the paper does not have: no slug has a dot
    if entry.table not in titles and not absent:
        hint = did_you_mean(entry.table, list(titles))
        lookup.report(f"no table {entry.table!r}; {hint}", "reference", "table")
    cells = [lookup.cell(name, "reference", "holds", i) for i, name in enumerate(entry.holds)]
    return Reference(f"{paper.id}/{entry.table}", titles.get(entry.table), [c for c in cells if c is not None])


def _parse_average(lookup: Lookup, entry: AverageEntry) -> Average | None:
    cell = lookup.cell(entry.cell, "average", "cell")
    members = [lookup.cell(name, "average", "of", i) for i, name in enumerate(entry.of)]
    at_most = lookup.number(entry.at_most, "", "average", "at_most")
    if cell is None or at_most is None:
        return None
    return Average(cell, [member for member in members if member is not None], entry.count, at_most)


def _parse_input(lookup: Lookup, entry: InputEntry, rows: Sequence[RowRef], holds_for: str) -> Input | None:
    ids = [row.row.id for row in rows]
    for name in entry.tried:
        if name not in ids:
            message = f"the claim has no row {name!r}; {did_you_mean(name, ids)}"
            lookup.report(message, "input", "tried", name)
    sized = []
    for row in rows:
        cell, recipe = row.cell(entry.decided_by), row.row.model
        if cell is None or cell.column.measure is not Measure.FLOPS or recipe is None:
            lookup.report(f"{row.id} has no counted FLOPs {entry.decided_by!r}", "input", "decided_by")
            return None
        sized.append(Sized(cell, recipe, entry.tried.get(row.row.id, ())))
    return Input(entry.size, sized, holds_for)
