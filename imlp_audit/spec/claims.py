"""Claims: what a paper's text says about its own numbers, as it is judged.

An entry is parsed once, by `parse_claims`, into one of the kinds of `Statement`, with every row and cell looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias, assert_never

from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Printed
from imlp_audit.spec.claim_entries import (
    AverageEntry,
    ClaimEntry,
    ConditionEntry,
    Direction,
    InputEntry,
    MeaningEntry,
    OrderEntry,
    QuantityEntry,
    QuantityKind,
    ReferenceEntry,
    Relation,
)
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef, Paper, RowRef, find_cell, find_rows
from imlp_audit.spec.tree import Located

ALL_DIGITS = "each printed number can be any number that prints so; the claim holds if it holds for all of them"
_UNITS = {QuantityKind.CHANGE: "%", QuantityKind.POSITION: "%", QuantityKind.MLP_SHARE: "%", QuantityKind.RATIO: ""}


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


@dataclass(frozen=True, kw_only=True)
class MlpShare(Quantity):
    """The share of the column's measure that the model's MLPs have, in percent, which no number prints."""

    kind: QuantityKind = QuantityKind.MLP_SHARE
    recipe: Recipe


class MissingError(Exception):
    """A row lacks what a quantity is taken from; the message says what."""


def find_quantities(entry: QuantityEntry, rows: Sequence[RowRef], papers: Sequence[Paper]) -> list[Quantity]:
    """Return the quantity of each row; the first row has no step. Raises MissingError."""
    column = entry.column
    cells = [_require(row.cell(column), f"{row.id} prints no {column!r}") for row in rows]
    against = [(name, find_cell(papers, f"{name}/{column}")) for name in entry.rows_named]
    named = [_require(cell, f"no row {name!r} that prints {column!r}") for name, cell in against]
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


def _require(cell: CellRef | None, lack: str) -> CellRef:
    if cell is None:
        raise MissingError(lack)
    return cell


def _base(cell: CellRef, named: Sequence[CellRef]) -> CellRef:
    if named:
        return named[0]
    base = cell.row.baseline.cell(cell.column_id) if cell.row.baseline is not None else None
    return _require(base, f"{cell.row.id} has no baseline row that prints {cell.column_id!r}")


def _counted_recipe(cell: CellRef) -> Recipe:
    recipe = cell.recipe
    if recipe is None or not cell.column.measure.totalled:
        raise MissingError(f"{cell.row.id} has no counted {cell.column_id!r} to take a share of")
    return recipe


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
class _OfQuantities:
    @property
    def quantities(self) -> list[Quantity]:
        """The quantities that it is about, row by row."""
        raise NotImplementedError

    @property
    def cells(self) -> list[CellRef]:
        """The printed numbers that it is about, its quantities' own before those they are compared with."""
        own = [quantity.cell for quantity in self.quantities]
        others = [cell for quantity in self.quantities for cell in quantity.others]
        return list({cell.id: cell for cell in own + others}.values())

    @property
    def shares(self) -> list[MlpShare]:
        """The shares of MLPs that it is about, which no number prints."""
        return [quantity for quantity in self.quantities if isinstance(quantity, MlpShare)]


@dataclass(frozen=True)
class Conditions(_OfQuantities):
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
    def quantities(self) -> list[Quantity]:
        """The quantities that it is about, row by row."""
        return [c.by_row[row.id] for row in self.rows for c in self.conditions if row.id in c.by_row]


@dataclass(frozen=True)
class Order(_OfQuantities):
    """A quantity grows, or shrinks, along the rows."""

    name: str
    direction: Direction
    along: Sequence[tuple[RowRef, Quantity]]

    judged_by = ALL_DIGITS

    @property
    def quantities(self) -> list[Quantity]:
        """The quantity of each row."""
        return [quantity for _, quantity in self.along]


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

    @property
    def counted(self) -> Meanings | None:
        """What it states about totals over models, which are counted as well as printed; None where that is nothing."""
        strict, *others = map(_counted, self.all)
        return None if strict is None else Meanings(strict, *others)


def _counted(statement: Statement) -> Statement | None:
    match statement:
        case Conditions():
            kept = [c for c in statement.conditions if all(map(_is_total, c.by_row.values()))]
            counts = any(_is_countable(q) for c in kept for q in c.by_row.values())
            return replace(statement, conditions=kept) if counts else None
        case Order(quantities=quantities):
            counts = any(map(_is_countable, quantities))
            return statement if counts and all(map(_is_total, quantities)) else None
        case Reference() | Average() | Input():
            return None
        case _:
            assert_never(statement)


def _is_total(quantity: Quantity) -> bool:
    """Return whether a quantity is taken from printed totals; a share of the MLPs is measured to begin with."""
    return not isinstance(quantity, MlpShare) and all(cell.column.measure.totalled for cell in quantity.cells)


def _is_countable(quantity: Quantity) -> bool:
    return all(cell.row.row.model is not None for cell in quantity.cells)


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
    entries: list[Located[MeaningEntry]] = [located]
    if isinstance(other := located.value.charitable, MeaningEntry):
        entries.append(Located(other, located.file, (*located.path, "charitable")))
    parsers = [_Parser(entry, paper, papers) for entry in entries]
    statements = [statement for parser in parsers if (statement := parser.parse()) is not None]
    problems = [problem for parser in parsers for problem in parser.problems]
    return ParsedClaim(located, None if problems else Meanings(*statements), problems)


class _Parser:
    """Parses what an entry states; every name that leads nowhere is a problem at its place."""

    def __init__(self, located: Located[MeaningEntry], paper: Paper, papers: Sequence[Paper]) -> None:
        self.problems: list[Problem] = []
        self._located, self._paper, self._papers = located, paper, papers

    def parse(self) -> Statement | None:
        """Return what the entry states; without meaning where there are problems."""
        entry = self._located.value
        form, rows = entry.form, self._rows(entry.rows)
        if isinstance(form, ReferenceEntry | AverageEntry) and entry.rows:
            self._report("a reference or an average names cells; remove its rows", "rows")
        if isinstance(form, OrderEntry | ReferenceEntry | AverageEntry) and "holds_for" in entry.model_fields_set:
            self._report("only conditions and input can hold for some rows and not for others", "holds_for")
        match form:
            case tuple() as conditions:
                parsed = [self._condition(index, one, rows) for index, one in enumerate(conditions)]
                return Conditions(rows, [one for one in parsed if one is not None], entry.holds_for)
            case OrderEntry():
                return self._order(form, rows)
            case ReferenceEntry():
                return self._reference(form)
            case AverageEntry():
                return self._average(form)
            case InputEntry():
                return self._input(form, rows, entry.holds_for)
            case _:
                assert_never(form)

    def _condition(self, index: int, entry: ConditionEntry, rows: Sequence[RowRef]) -> Condition | None:
        if entry.kind is QuantityKind.STEP and len(rows) == 1:
            self._report("a step needs two rows or more, since the first row has none", "conditions", index, "step")
        along = self._quantities(entry, rows, "conditions", index)
        bound = self._number(entry.bound, along[0][1].unit, "conditions", index) if along else None
        if bound is None:
            return None
        by_row = {row.id: quantity for row, quantity in along}
        return Condition(entry.name, entry.relation, bound, by_row, entry.rows_named)

    def _order(self, entry: OrderEntry, rows: Sequence[RowRef]) -> Order:
        along = self._quantities(entry, rows, "order")
        least = 3 if entry.kind is QuantityKind.STEP else 2
        if len(rows) < least:
            self._report(f"an order of this quantity needs {least} rows or more", "rows")
        return Order(entry.name, entry.direction, along)

    def _reference(self, entry: ReferenceEntry) -> Reference:
        titles = {table.value.table: table.value.title for table in self._paper.tables}
        absent = "." in entry.table  # a table that the text names and the paper does not have: no slug has a dot
        if entry.table not in titles and not absent:
            hint = did_you_mean(entry.table, list(titles))
            self._report(f"no table {entry.table!r}; {hint}", "reference", "table")
        cells = self._cells(entry.holds, "reference", "holds")
        return Reference(f"{self._paper.id}/{entry.table}", titles.get(entry.table), cells)

    def _average(self, entry: AverageEntry) -> Average | None:
        cell = self._cell(entry.cell, "average", "cell")
        members = self._cells(entry.of, "average", "of")
        at_most = self._number(entry.at_most, "", "average", "at_most")
        return None if cell is None or at_most is None else Average(cell, members, entry.count, at_most)

    def _input(self, entry: InputEntry, rows: Sequence[RowRef], holds_for: str) -> Input | None:
        ids = [row.row.id for row in rows]
        for name in entry.tried:
            if name not in ids:
                message = f"the claim has no row {name!r}; {did_you_mean(name, ids)}"
                self._report(message, "input", "tried", name)
        sized = []
        for row in rows:
            cell, recipe = row.cell(entry.decided_by), row.row.model
            if cell is None or cell.column.measure is not Measure.FLOPS or recipe is None:
                self._report(f"{row.id} has no counted FLOPs {entry.decided_by!r}", "input", "decided_by")
                return None
            sized.append(Sized(cell, recipe, entry.tried.get(row.row.id, ())))
        return Input(entry.size, sized, holds_for)

    def _rows(self, globs: Sequence[str]) -> list[RowRef]:
        rows: dict[str, RowRef] = {}
        for index, glob in enumerate(globs):
            found = find_rows(self._papers, glob)
            rows.update((row.id, row) for row in found)
            if not found:
                known = [row.id for paper in self._papers for row in paper.rows]
                self._report(f"no row {glob!r}; {did_you_mean(glob, known)}", "rows", index)
        return list(rows.values())

    def _quantities(
        self, entry: QuantityEntry, rows: Sequence[RowRef], *path: str | int
    ) -> list[tuple[RowRef, Quantity]]:
        """Return the quantity of each row that has one; none where something is missing."""
        try:
            quantities = find_quantities(entry, rows, self._papers)
        except MissingError as error:
            self._report(str(error), *path, entry.kind)
            return []
        return list(zip(rows[len(rows) - len(quantities) :], quantities, strict=True))

    def _cell(self, name: str, *path: str | int) -> CellRef | None:
        cell = find_cell(self._papers, name)
        if cell is None:
            self._report(f"no cell {name!r}", *path)
        return cell

    def _cells(self, names: Sequence[str], *path: str) -> list[CellRef]:
        cells = [self._cell(name, *path, index) for index, name in enumerate(names)]
        return [cell for cell in cells if cell is not None]

    def _number(self, text: str, unit: str, *path: str | int) -> Printed | None:
        try:
            number = parse_printed(text, unit)
            if number.spread is not None:
                raise ValueError(f"{text!r} has a spread; what a claim compares with is one number")
            return number
        except ValueError as error:
            self._report(str(error), *path)
            return None

    def _report(self, message: str, *path: str | int) -> None:
        self.problems.append(self._located.problem(message, *path))
