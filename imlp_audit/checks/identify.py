"""Which model a row is of where candidates are proposed: printed numbers confirm one, and accuse only what others name.

Printed parameters identify rows first; then a counter and a size of images are chosen for each column of FLOPs on the
rows that are known by then. No number takes part in identifying the model that it is found wrong by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import log, prod

from pydantic import ValidationError

from imlp_audit.checks.context import Context
from imlp_audit.checks.identity import BY_CHANCE, LEAST, RowIdentity, are_settled
from imlp_audit.count.conventions import ParameterConvention, total
from imlp_audit.count.facts import ModelFacts, ModelKey, Need
from imlp_audit.models.names.known import USUAL_SIZE, Library, known_models, sizes_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.relatives import name_in_library
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import Identified
from imlp_audit.spec.columns import Measure, image_of
from imlp_audit.spec.paper import CellRef, Paper, RowRef, rows_of_table
from imlp_audit.spec.schema import PrintedTable
from imlp_audit.spec.tree import Located

_SURVIVORS = 4  # candidates of a row whose work is counted
_SIDES = 5  # sizes of images that a candidate is counted on


@dataclass(frozen=True)
class Counted:
    """How the FLOPs of a column were counted, as far as known: by which counter, on images of which side.

    No side means each model's own. So many of the numbers of rows with a known model are `explained`.
    """

    counter: str
    side: int | None
    explained: int


_NOUNS = {Measure.PARAMETERS: "parameters", Measure.FLOPS: "FLOPs"}


def matches(printed: Printed, value: Fraction | int) -> bool:
    """Return whether a value prints as a number does, rounded or cut off."""
    return value in printed.interval(Rounding.HALF_UP) or value in printed.interval(Rounding.TRUNCATION)


def chance(printed: Printed, values: set[int]) -> float:
    """Return how many of some values are expected to print as a number by chance, each within a factor of two of it."""
    rounded, cut = printed.interval(Rounding.HALF_UP), printed.interval(Rounding.TRUNCATION)
    low, high = min(rounded.low, cut.low), max(rounded.high, cut.high)
    if low <= 0:
        return 1.0
    near = sum(low <= 2 * value and value <= 2 * high for value in values)
    return min(1.0, near * log(high / low) / log(4))


def proposals(paper: Paper) -> list[RowRef]:
    """Return the rows with candidates and a number that they may have."""
    return [row for row in paper.rows if row.row.candidates and _cells(row)]


def _cells(row: RowRef, measure: Measure | None = None) -> list[CellRef]:
    """Return the cells of totals that can be counted."""
    return [
        cell
        for cell in row.cells
        if cell.column.measure.totalled and not cell.column.needs and measure in (None, cell.column.measure)
    ]


def parameters_needed(papers: Sequence[Paper], context: Context) -> Mapping[ModelKey, Need]:
    """Return what to count first: the parameters of all candidates."""
    rows = [(paper, row) for paper in papers for row in proposals(paper)]
    return {_key(paper, one, context): Need() for paper, row in rows for one in row.row.candidates}


def _key(paper: Paper, recipe: Recipe, context: Context) -> ModelKey:
    return ModelKey.of(recipe, next(iter(context.conventions(paper).readings.values())))


def work_needed(papers: Sequence[Paper], context: Context) -> Mapping[ModelKey, Need]:
    """Return what to count then: the work of the candidates whose parameters fit, on images of several sizes."""
    return {
        _key(paper, sized, context): Need(work=True)
        for paper in papers
        if proposals(paper)
        for table in paper.tables
        for column in _TableModels(paper, table, context).columns
        for one in column.options
        for sized in one.by_side.values()
    }


def identify(papers: Sequence[Paper], context: Context) -> Mapping[str, RowIdentity]:
    """Return what the numbers say about each row with candidates, by its id."""
    return {
        name: one
        for paper in papers
        if proposals(paper)
        for table in paper.tables
        for name, one in _TableModels(paper, table, context).identities.items()
    }


def with_models(paper: Paper, found: Mapping[str, RowIdentity]) -> Paper:
    """Return a paper whose rows have the models that they were identified to be of."""

    def resolve(table: Located[PrintedTable]) -> Located[PrintedTable]:
        rows = tuple(_resolve(row, found) for row in rows_of_table(paper, table))
        return replace(table, value=table.value.model_copy(update={"rows": rows}))

    return replace(paper, tables=tuple(map(resolve, paper.tables)))


def _resolve(row: RowRef, found: Mapping[str, RowIdentity]) -> object:
    one = found.get(row.id)
    return row.row if one is None else row.row.model_copy(update={"model": one.model})


@dataclass(frozen=True)
class _Option:
    """A model that a cell of FLOPs may be of, by the side of its images; None is the side that is given, or its own."""

    row: RowRef
    recipe: Recipe
    by_side: Mapping[int | None, Recipe]
    own: int | None = None


@dataclass(frozen=True)
class _Column:
    """A column of FLOPs: its cells' options."""

    name: str
    options: tuple[_Option, ...]

    @cached_property
    def by_row(self) -> Mapping[str, Sequence[_Option]]:
        found: dict[str, list[_Option]] = {}
        for one in self.options:
            found.setdefault(one.row.id, []).append(one)
        return found


@dataclass(frozen=True)
class _TableModels:
    """A table with candidates, and what is measured of them."""

    paper: Paper
    table: Located[PrintedTable]
    context: Context
    _values: dict[tuple[Recipe, str], Mapping[str, int]] = field(default_factory=dict)

    @cached_property
    def rows(self) -> list[RowRef]:
        """All rows with a number that can be counted, and a model or candidates."""
        every = rows_of_table(self.paper, self.table)
        return [row for row in every if (row.row.model is not None or row.row.candidates) and _cells(row)]

    @cached_property
    def proposed(self) -> list[RowRef]:
        """Those with candidates."""
        return [row for row in self.rows if row.row.candidates]

    def _facts(self, recipe: Recipe) -> ModelFacts | None:
        found = self.context.facts.get(_key(self.paper, recipe, self.context))
        return found if isinstance(found, ModelFacts) else None

    # Parameters

    def sizes(self, cell: CellRef, recipe: Recipe) -> Mapping[str, int]:
        """Return a model's parameters by each convention that is declared for a cell."""
        facts = self._facts(recipe)
        names = self.context.conventions(self.paper).declared_for(cell.row.row, cell.column)
        kinds = [ParameterConvention(str(name)) for name in names]
        return {} if facts is None else {str(one): facts.parameters[one] for one in kinds if one in facts.parameters}

    @cached_property
    def part(self) -> str | None:
        """What the parameters of most rows count, by their first candidates; None where too few say so."""
        scores = self._scores
        best = max(scores, key=lambda one: len(scores[one]), default="")
        return best if scores and len(scores[best]) >= LEAST else None

    @cached_property
    def _scores(self) -> Mapping[str, Sequence[RowRef]]:
        """The rows whose first candidates, or models, have all their printed parameters, by each convention."""
        found: dict[str, list[RowRef]] = {}
        for row in self.rows:
            first = row.row.model or row.row.candidates[0]
            cells = _cells(row, Measure.PARAMETERS)
            for name in self.sizes(cells[0], first) if cells else ():
                kept = found.setdefault(name, [])
                if all(matches(cell.printed, self.sizes(cell, first).get(name, 0)) for cell in cells):
                    kept.append(row)
        return found

    def _sizes_left(self, cell: CellRef, recipe: Recipe) -> set[int]:
        """Return the parameters that a cell may print of a model: one kind, where the table's is known."""
        sizes = self.sizes(cell, recipe)
        return {sizes[self.part]} if self.part is not None and self.part in sizes else set(sizes.values())

    def has_size(self, row: RowRef, recipe: Recipe) -> bool:
        """Return whether a model has all printed parameters of a row, if it prints any."""
        cells = _cells(row, Measure.PARAMETERS)
        return all(any(matches(one.printed, v) for v in self._sizes_left(one, recipe)) for one in cells)

    @cached_property
    def together(self) -> frozenset[str]:
        """The rows whose first candidates have their parameters, where so many at once are no chance."""
        if not self._scores:
            return frozenset()
        best = max(self._scores, key=lambda one: len(self._scores[one]))
        odds = []
        for row in self.rows:
            cells, first = _cells(row, Measure.PARAMETERS), row.row.model or row.row.candidates[0]
            if cells:
                sizes = [{size} for cell in cells if (size := self.sizes(cell, first).get(best))]
                odds.append(prod(chance(cell.printed, one) for cell, one in zip(cells, sizes, strict=False)))
        found = self._scores[best]
        lucky = len(self._scores) * _at_least(len(found), odds)
        return frozenset(row.id for row in found) if lucky <= BY_CHANCE else frozenset()

    # FLOPs

    @cached_property
    def columns(self) -> list[_Column]:
        """The columns of FLOPs."""
        names = [name for name, one in self.table.value.columns.items() if one.measure is Measure.FLOPS]
        return [_Column(name, tuple(self._options(name))) for name in names]

    def _options(self, column: str) -> Iterator[_Option]:
        for row in self.rows:
            cell = row.cell(column)
            if cell is not None and not cell.column.needs:
                yield from (self._sided(cell, one) for one in self._survivors(row))

    def _survivors(self, row: RowRef) -> list[Recipe]:
        """Return the candidates whose parameters fit, or else the first: its FLOPs may show that it is meant."""
        if row.row.model is not None:
            return [row.row.model]
        fitting = [one for one in row.row.candidates if self.has_size(row, one)]
        unequal = {tuple(self._facts(one).parameters.items()): one for one in reversed(fitting) if self._facts(one)}  # type: ignore[union-attr]
        return [*reversed(unequal.values())][:_SURVIVORS] or [row.row.candidates[0]]

    def _sided(self, cell: CellRef, recipe: Recipe) -> _Option:
        """Return a model on the images that its row or column gives, or else on those that it may be counted on."""
        image, named = image_of(cell.column), name_in_library(recipe)
        if image is not None:
            return _Option(cell.row, recipe, {None: recipe.with_image(image)})
        if cell.row.row.model is not None or recipe.image is not None or named is None:
            return _Option(cell.row, recipe, {None: recipe})
        own, *others = _published(*named)
        sides = dict.fromkeys((*self.table.value.images, USUAL_SIZE, *others))
        found: dict[int | None, Recipe] = {None: recipe}
        for side in [one for one in sides if one != own][: _SIDES - 1]:
            with suppress(ValidationError):
                found[side] = recipe.with_image((side, side))
        return _Option(cell.row, recipe, found, own)

    def work(self, cell: CellRef, recipe: Recipe) -> Mapping[str, int]:
        """Return a model's work under each counter that is declared for a cell, or under all that are known."""
        key = recipe, cell.column_id
        if key not in self._values:
            self._values[key] = self._count(cell, recipe)
        return self._values[key]

    def _count(self, cell: CellRef, recipe: Recipe) -> Mapping[str, int]:
        facts, read = self._facts(recipe), self.context.conventions(self.paper)
        if facts is None or facts.ledger is None or facts.ledger.unknown:
            return {}
        names = map(str, read.declared_for(cell.row.row, cell.column))
        return {n: total(facts.ledger, read.flops[n]) for n in names if facts.has_total(read.flops[n])}

    def _counted(self, column: _Column) -> Counted | None:
        """Return the counter and the side that explain most numbers of a column; None without any."""
        sides = dict.fromkeys(side for one in column.options for side in one.by_side)
        found = [
            Counted(counter, side, len(self._explained(column, counter, side)))
            for side, counter in product(sorted(sides, key=lambda one: one or 0), self._counters(column))
        ]
        best = max(found, key=lambda one: one.explained, default=None)
        return best if best is not None and best.explained else None

    def _counters(self, column: _Column) -> Sequence[str]:
        return self.context.conventions(self.paper).declared_for_column(self.table.value.columns[column.name])

    def _explained(self, column: _Column, counter: str, side: int | None) -> set[str]:
        return {
            one.row.id
            for one in column.options
            if (found := self._on(one, side)) and self._gives(one.row, column.name, found, counter)
        }

    @staticmethod
    def _on(one: _Option, side: int | None) -> Recipe | None:
        """Return a model on images of a side: of its own, where it has no choice."""
        return one.by_side[None] if len(one.by_side) == 1 or one.own == side else one.by_side.get(side)

    def _gives(self, row: RowRef, column: str, recipe: Recipe, counter: str) -> bool:
        cell = CellRef(row, column)
        value = self.work(cell, recipe).get(counter)
        return value is not None and matches(cell.printed, value)

    @cached_property
    def chosen(self) -> Mapping[str, Counted | None]:
        """How each column of FLOPs was counted."""
        return {column.name: self._counted(column) for column in self.columns}

    def on_images(self, row: RowRef, recipe: Recipe) -> tuple[Recipe, bool]:
        """Return a row's model on the images that its FLOPs are counted on, and whether they all follow.

        The table's size comes first, then another that the column's counter gives the number on, then any.
        """
        found, follows = recipe, True
        for column in self.columns:
            option = next((one for one in column.by_row.get(row.id, ()) if one.recipe == recipe), None)
            how = self.chosen[column.name]
            if option is None:
                follows = follows and row.cell(column.name) is None
                continue
            usual = (self._on(option, how.side) if how is not None else None) or recipe
            tried = [usual, *option.by_side.values()]
            hit = [one for one in tried if how is not None and self._gives(row, column.name, one, how.counter)]
            other = [one for one in tried for n in self._counters(column) if self._gives(row, column.name, one, n)]
            follows = follows and bool(hit)
            if len(option.by_side) > 1:
                found = next(iter([*hit, *other]), usual)
        return found, follows

    # Rows

    @cached_property
    def identities(self) -> Mapping[str, RowIdentity]:
        """What the numbers say about each row with candidates."""
        return {row.id: self._identity(row) for row in self.proposed}

    def _identity(self, row: RowRef) -> RowIdentity:
        model, how = self._known(row)
        if model is None or how is None:
            return self._unknown(row)
        sized, _ = self.on_images(row, model)
        return RowIdentity(sized, how, "", row.row.named and how is not Identified.ALL)

    def _known(self, row: RowRef) -> tuple[Recipe | None, Identified | None]:
        """Return a row's model, and how it is known."""
        first, fitting = row.row.candidates[0], [one for one in row.row.candidates if self.has_size(row, one)]
        following = [one for one in fitting if self.on_images(row, one)[1]]
        best = next(iter([*following, *fitting]), None)
        if _cells(row, Measure.PARAMETERS) and best is not None:
            if len({self._counts(row, one) for one in fitting}) == 1 and self._expected(row) <= BY_CHANCE:
                return best, Identified.NUMBERS
            if row.id in self.together:
                return first, Identified.TOGETHER
        if row.row.named and self._others_follow(row):
            return first, Identified.NAME
        if following and self._expected(row, whole=True) <= BY_CHANCE:
            return following[0], Identified.ALL
        return None, None

    def _counts(self, row: RowRef, recipe: Recipe) -> tuple[object, ...]:
        """Return what a model has of what a row prints: models are one if they have the same."""
        return tuple(tuple(self.sizes(cell, recipe).values()) for cell in _cells(row, Measure.PARAMETERS))

    def _expected(self, row: RowRef, *, whole: bool = False) -> float:
        """Return how many candidates are expected to have a row's parameters, or all its numbers, by chance."""
        cells = _cells(row, None if whole else Measure.PARAMETERS)
        combinations = {tuple(self._possible(cell, one) for cell in cells) for one in row.row.candidates}
        return sum(
            prod(chance(cell.printed, set(values)) for cell, values in zip(cells, one, strict=True))
            for one in combinations
        )

    def _possible(self, cell: CellRef, recipe: Recipe) -> frozenset[int]:
        """Return the values that a model may have for a cell."""
        if cell.column.measure is Measure.PARAMETERS:
            return frozenset(self._sizes_left(cell, recipe))
        options = (one for column in self.columns if column.name == cell.column_id for one in column.options)
        sized = [
            r for one in options if one.row.id == cell.row.id and one.recipe == recipe for r in one.by_side.values()
        ]
        how = self.chosen[cell.column_id]
        sure = how is not None and how.explained >= LEAST
        values = [self.work(cell, one) for one in sized]
        return frozenset(v for one in values for n, v in one.items() if not sure or how is None or n == how.counter)

    @cached_property
    def _as_named(self) -> Mapping[str, bool]:
        """Whether all numbers of a row follow from the model that is given or that its label names, by its id."""
        named = [row for row in self.rows if row.row.model is not None or row.row.named]
        models = {row.id: row.row.model or row.row.candidates[0] for row in named}
        return {row.id: self.has_size(row, models[row.id]) and self.on_images(row, models[row.id])[1] for row in named}

    def _others_follow(self, row: RowRef) -> bool:
        """Return whether the other rows of the table follow from the models that they name, but for one in five."""
        others = [follows for name, follows in self._as_named.items() if name != row.id]
        return are_settled(sum(others), len(others) - sum(others))

    def _unknown(self, row: RowRef) -> RowIdentity:
        """Return what to say about a row that no numbers identify: its nearest candidates, and how far they are."""
        first, cells = row.row.candidates[0], _cells(row)
        near = sorted(row.row.candidates, key=lambda one: self._distance(row, one))[:2]
        told = "; ".join(f"{one.name} has {text}" for one in near if (text := self._write(cells, one)))
        lead = row.row.named and not any(self._fits(cell, first) for cell in cells) and bool(self._write(cells, first))
        if lead:
            asked = f"is it {first.name}? Then {self._write(cells, first)}"
            return RowIdentity(None, Identified.LEAD, f"not identified: {asked}")
        why = f"its numbers do not single out one of {len(row.row.candidates)} candidates"
        return RowIdentity(None, Identified.NO, f"not identified: {why}" + (f"; the nearest: {told}" if told else ""))

    def _fits(self, cell: CellRef, recipe: Recipe) -> bool:
        return any(matches(cell.printed, value) for value in self._possible(cell, recipe))

    def _write(self, cells: Sequence[CellRef], recipe: Recipe) -> str:
        """Write what a model has for each cell, beside what is printed."""
        found = [(cell, self._nearest(cell, recipe)) for cell in cells]
        return ", ".join(
            f"{readable(Fraction(value))} {_NOUNS[cell.column.measure]}, not {cell.printed.text}"
            if not matches(cell.printed, value)
            else f"{cell.printed.text} {_NOUNS[cell.column.measure]}"
            for cell, value in found
            if value is not None
        )

    def _nearest(self, cell: CellRef, recipe: Recipe) -> int | None:
        stated = cell.printed.value * cell.printed.scale
        return min(self._possible(cell, recipe), key=lambda value: abs(value - stated), default=None)

    def _distance(self, row: RowRef, recipe: Recipe) -> float:
        """Return how far the parameters of a model are from a row's, in powers of e."""
        cell = next(iter(_cells(row, Measure.PARAMETERS)), None)
        value = self._nearest(cell, recipe) if cell is not None else None
        stated = abs(cell.printed.value * cell.printed.scale) if cell is not None else 0
        return abs(log(value / stated)) if value and stated else float("inf")


def _published(library: Library, name: str) -> tuple[int, ...]:
    """Return the sides that a library's model was published for, its own first."""
    return sizes_of(library, name) if name in known_models(library) else (USUAL_SIZE,)


def _at_least(hits: int, odds: Sequence[float]) -> float:
    """Return the chance that at least so many of independent events happen, each with its own odds."""
    counts = [1.0]
    for one in odds:
        counts = [a * (1 - one) + b * one for a, b in zip([*counts, 0.0], [0.0, *counts], strict=True)]
    return sum(counts[hits:])
