"""Claims: what a paper's text says about its own numbers, as it is judged.

An entry is parsed once, by `parse_claims`, into one of the kinds of `Statement`, with every row and cell looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias, assert_never

from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.printed import Printed
from imlp_audit.spec.claim_entries import AverageEntry, ClaimEntry, InputEntry, MeaningEntry, ReferenceEntry
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.conditions import (
    ALL_DIGITS,
    Conditions,
    Order,
    OrderEntry,
    parse_conditions,
    parse_order,
)
from imlp_audit.spec.lookup import Lookup
from imlp_audit.spec.references import CellRef, RowRef
from imlp_audit.spec.tree import Located

if TYPE_CHECKING:
    from imlp_audit.spec.paper import Paper


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


@dataclass(frozen=True)
class ParsedClaim:
    """What a claim states, or the problems for which it states nothing."""

    claim: Located[ClaimEntry]
    meanings: Meanings | None
    problems: Sequence[Problem]


@lru_cache(maxsize=32)  # the rules ask, and the plan
def parse_claims(paper: Paper, papers: tuple[Paper, ...]) -> Sequence[ParsedClaim]:
    """Return what a paper's claims state, with their rows and cells looked up in `papers`."""
    return [_parse_claim(claim, paper, papers) for claim in paper.claims]


def _parse_claim(located: Located[ClaimEntry], paper: Paper, papers: Sequence[Paper]) -> ParsedClaim:
    strict, problems = _parse_meaning(located, paper, papers)
    other = located.value.charitable
    charitable, more = None, list[Problem]()
    if isinstance(other, MeaningEntry):
        charitable, more = _parse_meaning(Located(other, located.file, (*located.path, "charitable")), paper, papers)
    problems += more
    return ParsedClaim(located, None if strict is None or problems else Meanings(strict, charitable), problems)


def _parse_meaning(
    located: Located[MeaningEntry], paper: Paper, papers: Sequence[Paper]
) -> tuple[Statement | None, list[Problem]]:
    lookup = Lookup(located, papers, paper.about.value.decimal)
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
