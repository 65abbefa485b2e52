"""What is measured of the candidates of a table's rows: their parameters, and their work on images of several sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import inf, prod

from pydantic import ValidationError

from imlp_audit.checks.context import Context
from imlp_audit.checks.matches_by_chance import BY_CHANCE, LEAST, are_settled, at_least, chance, matches
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey
from imlp_audit.models.host import Size
from imlp_audit.models.names.known import USUAL_SIZE, Library, Trait, has, known_models, sizes_of
from imlp_audit.models.names.match import denies, is_spelt
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.relatives import name_in_library
from imlp_audit.spec.columns import Measure, image_of
from imlp_audit.spec.paper import CellRef, Paper, RowRef, rows_of_table
from imlp_audit.spec.schema import PrintedTable
from imlp_audit.spec.tree import Located

_SURVIVORS = 6  # candidates of a row whose work is counted
_SIDES = 5  # sizes of images that a candidate is counted on
_MORE_SIDES = (192, 256, 288, 299, 320, 384)  # where those explain few numbers of a column


@dataclass(frozen=True)
class ColumnCount:
    """The counter and the side of images that give most FLOPs of a column; without a side, each model's own.

    `explained` counts the rows of which a candidate that fits has the number.
    """

    counter: str
    side: int | None
    explained: int


def proposals(paper: Paper) -> list[RowRef]:
    """Return the rows with candidates and a number that they may have."""
    return [row for row in paper.rows if row.row.candidates and cells_of(row) and candidates_of(row)]


def candidates_of(row: RowRef) -> list[Recipe]:
    """Return the candidates that take the images of the row's columns."""
    images = {image for cell in cells_of(row) if (image := image_of(cell.column)) is not None}
    return [one for one in row.row.candidates if all(_takes(one, image) for image in images)]


def _takes(recipe: Recipe, image: Size) -> bool:
    try:
        recipe.with_image(image)
    except ValidationError:
        return False
    return True


def cells_of(row: RowRef, measure: Measure | None = None) -> list[CellRef]:
    """Return the cells of totals that can be counted."""
    return [
        cell
        for cell in row.cells
        if cell.column.measure.totalled and not cell.column.needs and measure in (None, cell.column.measure)
    ]


def says(row: RowRef, recipe: Recipe, *, whole: bool = False) -> bool:
    """Return whether a row's label begins with a model's name, or is it, and no other paper has one of that name."""
    named = name_in_library(recipe)
    if named is None or row.row.named:
        return True
    return is_spelt(row.row.label, named[1], whole=whole) and not has(Trait.NAMESAKE, *named)


def contradicts(row: RowRef, recipe: Recipe) -> bool:
    """Return whether a row's label has a word of its likeliest candidate that another lacks, or is its name alone."""
    first, named = name_in_library(candidates_of(row)[0]), name_in_library(recipe)
    return first is not None and named is not None and denies(row.row.label, first, named, whole=row.row.named)


def key_of(paper: Paper, recipe: Recipe, context: Context) -> ModelKey:
    """Return what a candidate is measured by: the paper's first reading, where its text leaves something open."""
    return ModelKey.of(recipe, next(iter(context.conventions(paper).readings.values())))


@dataclass(frozen=True)
class _Option:
    """A model that a cell of FLOPs may be of, by the side of its images; None is the side that is given, or its own."""

    cell: CellRef
    by_side: Mapping[int | None, Recipe]
    own: int | None = None

    def on(self, side: int | None) -> Recipe | None:
        """Return the model on images of a side: of its own, where it has no choice."""
        return self.by_side[None] if len(self.by_side) == 1 or self.own == side else self.by_side.get(side)


@dataclass(frozen=True)
class TableCounts:
    """A table with candidates, and what is measured of them."""

    paper: Paper
    table: Located[PrintedTable]
    context: Context
    _values: dict[tuple[Recipe, str], Mapping[str, int]] = field(default_factory=dict)

    @cached_property
    def rows(self) -> list[RowRef]:
        """All rows with a number that can be counted, and a model or candidates."""
        every = rows_of_table(self.paper, self.table)
        return [row for row in every if (row.row.model is not None or candidates_of(row)) and cells_of(row)]

    @cached_property
    def proposed(self) -> list[RowRef]:
        """Those with candidates."""
        return [row for row in self.rows if row.row.candidates]

    @cached_property
    def said(self) -> list[tuple[RowRef, Recipe, list[CellRef]]]:
        """Those that print parameters, and whose model is given or whose label says the first candidate, with both."""
        firsts = [(row, row.row.model or candidates_of(row)[0], cells_of(row, Measure.PARAMETERS)) for row in self.rows]
        return [(row, one, cells) for row, one, cells in firsts if cells and (row.row.model or says(row, one))]

    def facts_of(self, recipe: Recipe) -> ModelFacts | Failure | None:
        """Return what was counted of a model, if it was."""
        return self.context.facts.get(key_of(self.paper, recipe, self.context))

    def failure(self, recipe: Recipe) -> str | None:
        """Return why a candidate could not be built or counted."""
        found = self.facts_of(recipe)
        return found.message if isinstance(found, Failure) else None

    def differ(self, one: Recipe, other: Recipe) -> bool:
        """Return whether two models differ in their parameters or their work; of uncounted work their names tell."""
        ours, theirs = self.facts_of(one), self.facts_of(other)
        if not isinstance(ours, ModelFacts) or not isinstance(theirs, ModelFacts):
            return True
        if ours.parameters[ParameterConvention.ALL] != theirs.parameters[ParameterConvention.ALL]:
            return True
        if ours.ledger is None or theirs.ledger is None:
            (mine, name), (its, other_name) = name_in_library(one) or ("", ""), name_in_library(other) or ("", "")
            return mine == its and name != other_name
        plain = FLOPS_CONVENTIONS["macs"]
        return total(ours.ledger, plain) != total(theirs.ledger, plain)

    # Parameters

    def sizes(self, cell: CellRef, recipe: Recipe) -> Mapping[str, int]:
        """Return a model's parameters by each convention that is declared for a cell."""
        facts = self.facts_of(recipe)
        names = self.context.conventions(self.paper).declared_for(cell.row.row, cell.column)
        kinds = [ParameterConvention(str(name)) for name in names]
        known = facts.parameters if isinstance(facts, ModelFacts) else {}
        return {str(one): known[one] for one in kinds if one in known}

    @cached_property
    def part(self) -> str | None:
        """What the parameters of most rows count, by their first candidates; None where too few say so."""
        best = self._best_part
        return best if best is not None and len(self.scores[best]) >= LEAST else None

    @cached_property
    def _best_part(self) -> str | None:
        return max(self.scores, key=lambda one: len(self.scores[one]), default=None)

    @cached_property
    def scores(self) -> Mapping[str, Sequence[RowRef]]:
        """The rows whose model, or the first candidate that their label says, has all their printed parameters."""
        found: dict[str, list[RowRef]] = {}
        for row, first, cells in self.said:
            for name in self.sizes(cells[0], first):
                kept = found.setdefault(name, [])
                if all(matches(cell.printed, self.sizes(cell, first).get(name, 0)) for cell in cells):
                    kept.append(row)
        return found

    def sizes_left(self, cell: CellRef, recipe: Recipe) -> set[int]:
        """Return the parameters that a cell may print of a model: one kind, where the table's is known."""
        sizes = self.sizes(cell, recipe)
        return {sizes[self.part]} if self.part is not None and self.part in sizes else set(sizes.values())

    def has_size(self, row: RowRef, recipe: Recipe) -> bool:
        """Return whether a model has all printed parameters of a row, if it prints any."""
        cells = cells_of(row, Measure.PARAMETERS)
        return all(any(matches(one.printed, v) for v in self.sizes_left(one, recipe)) for one in cells)

    @cached_property
    def together(self) -> frozenset[str]:
        """The rows whose first candidates have their parameters, where so many at once are no chance."""
        best = self._best_part
        if best is None:
            return frozenset()
        odds = []
        for _, first, cells in self.said:
            sizes = [{size} for cell in cells if (size := self.sizes(cell, first).get(best))]
            odds.append(prod(chance(cell.printed, one) for cell, one in zip(cells, sizes, strict=False)))
        found = self.scores[best]
        lucky = len(self.scores) * at_least(len(found), odds)
        return frozenset(row.id for row in found) if lucky <= BY_CHANCE else frozenset()

    # FLOPs

    @cached_property
    def options(self) -> Mapping[str, Mapping[tuple[str, Recipe], _Option]]:
        """What the cells of each column of FLOPs may be of: by the row's id, and the model that was counted for it."""
        return {name: self._widened(name) for name in self._flops_columns}

    @property
    def _flops_columns(self) -> list[str]:
        return [name for name, one in self.table.value.columns.items() if one.measure is Measure.FLOPS]

    def to_count(self) -> list[Recipe]:
        """Return the models whose work is to be counted: on more images where their own explain few numbers."""
        tried = [self._options(name, _MORE_SIDES if self._is_poor(name) else ()) for name in self._flops_columns]
        return [one for options in tried for option in options.values() for one in option.by_side.values()]

    def _is_poor(self, column: str) -> bool:
        """Return whether less than half of the rows that were counted have a number that one choice explains."""
        options = self._options(column)
        counted = {one.cell.row.id for one in options.values() if self.work(one.cell, one.by_side[None])}
        return 2 * max((one.explained for one in self._ways(column, options)), default=0) < len(counted)

    def _widened(self, column: str) -> Mapping[tuple[str, Recipe], _Option]:
        """Return what the cells of a column may be of: on an unusual size where it explains nearly all of a column."""
        options = self._options(column)
        if self._is_poor(column):
            wide, rows = self._options(column, _MORE_SIDES), len({row for row, _ in options})
            if any(are_settled(one.explained, rows - one.explained) for one in self._ways(column, wide)):
                return wide
        return options

    def _options(self, column: str, more: Sequence[int] = ()) -> Mapping[tuple[str, Recipe], _Option]:
        found: dict[tuple[str, Recipe], _Option] = {}
        for row in self.rows:
            cell = row.cell(column)
            if cell is not None and not cell.column.needs:
                first, *others = self.survivors(row)
                found[row.id, first] = self._sided(cell, first, more)
                found |= {(row.id, one): self._sided(cell, one) for one in others}
        return found

    def survivors(self, row: RowRef) -> list[Recipe]:
        """Return the candidates whose parameters fit, and the first: its FLOPs may show that it is meant."""
        if row.row.model is not None:
            return [row.row.model]
        fitting = [one for one in candidates_of(row) if self.has_size(row, one)]
        return list(dict.fromkeys((*fitting[:_SURVIVORS], candidates_of(row)[0])))

    def _sided(self, cell: CellRef, recipe: Recipe, more: Sequence[int] = ()) -> _Option:
        """Return a model on the images that its row or column gives, or else on those that it may be counted on."""
        image, named = image_of(cell.column), name_in_library(recipe)
        if image is not None:
            return _Option(cell, {None: recipe.with_image(image)})
        if cell.row.row.model is not None or recipe.image is not None or named is None:
            return _Option(cell, {None: recipe})
        own, *others = _published(*named)
        sides = dict.fromkeys((*self.table.value.images, USUAL_SIZE, *others))
        found: dict[int | None, Recipe] = {None: recipe}
        for side in dict.fromkeys((*[one for one in sides if one != own][: _SIDES - 1], *more)):
            with suppress(ValidationError):
                found[side] = recipe.with_image((side, side))
        return _Option(cell, found, own)

    def work(self, cell: CellRef, recipe: Recipe) -> Mapping[str, int]:
        """Return a model's work under each counter that is declared for a cell, or under all that are known."""
        key = recipe, cell.column_id
        if key not in self._values:
            self._values[key] = self._count(cell, recipe)
        return self._values[key]

    def _count(self, cell: CellRef, recipe: Recipe) -> Mapping[str, int]:
        facts, read = self.facts_of(recipe), self.context.conventions(self.paper)
        if not isinstance(facts, ModelFacts) or facts.ledger is None or facts.ledger.unknown:
            return {}
        names = map(str, read.declared_for(cell.row.row, cell.column))
        return {n: total(facts.ledger, read.flops[n]) for n in names if facts.has_total(read.flops[n])}

    def _ways(self, column: str, options: Mapping[tuple[str, Recipe], _Option]) -> list[ColumnCount]:
        """Return how many numbers of a column each counter and side explain."""
        every = options.values()
        sides = sorted({side for one in every for side in one.by_side}, key=lambda one: one or 0)
        return [
            ColumnCount(counter, side, len({o.cell.row.id for o in every if self._gives(o.cell, o.on(side), counter)}))
            for side, counter in product(sides, self._counters(column))
        ]

    def _counters(self, column: str) -> Sequence[str]:
        return self.context.conventions(self.paper).declared_for_column(self.table.value.columns[column])

    def _gives(self, cell: CellRef, recipe: Recipe | None, counter: str) -> bool:
        value = self.work(cell, recipe).get(counter) if recipe is not None else None
        return value is not None and matches(cell.printed, value)

    @cached_property
    def chosen(self) -> Mapping[str, ColumnCount | None]:
        """How each column of FLOPs was counted: what explains most of its numbers; None where nothing explains any."""
        ways = {name: [way for way in self._ways(name, some) if way.explained] for name, some in self.options.items()}
        return {name: max(some, key=lambda way: way.explained, default=None) for name, some in ways.items()}

    def on_images(self, row: RowRef, recipe: Recipe) -> tuple[Recipe, bool]:
        """Return a row's model on the images that its FLOPs are counted on, and whether they all follow.

        The table's size comes first, then another that the column's counter gives the number on, then any.
        """
        found, follows = recipe, True
        for column, options in self.options.items():
            option, how = options.get((row.id, recipe)), self.chosen[column]
            if option is None:
                follows = follows and row.cell(column) is None
                continue
            usual = (option.on(how.side) if how is not None else None) or recipe
            sized = [usual, *option.by_side.values()]
            tried = [one for one in sized if self.has_size(row, one)] or sized  # of other positions it is another model
            hit = [one for one in tried if how is not None and self._gives(option.cell, one, how.counter)]
            other = [one for one in tried for n in self._counters(column) if self._gives(option.cell, one, n)]
            follows = follows and bool(hit)
            if len(option.by_side) > 1:
                found = next(iter([*hit, *other]), self._nearest(option.cell, tried, how))
        return found, follows

    def _nearest(self, cell: CellRef, tried: Sequence[Recipe], how: ColumnCount | None) -> Recipe:
        """Return the model on the images of its column, or where each has its own, on those that give it nearly."""
        if how is None or how.side is not None:
            return tried[0]
        stated = cell.printed.value * cell.printed.scale
        works = {one: self.work(cell, one).get(how.counter) for one in tried}
        return min(tried, key=lambda one: abs(value - stated) if (value := works[one]) is not None else inf)

    def possible(self, cell: CellRef, recipe: Recipe, *, every: bool = False) -> frozenset[int]:
        """Return the values that a model may have for a cell: by the column's counter if it is known, or by `every`."""
        if cell.column.measure is Measure.PARAMETERS:
            return frozenset(self.sizes_left(cell, recipe))
        return frozenset(self.works(cell, recipe, every=every))

    def works(self, cell: CellRef, recipe: Recipe, *, every: bool = False) -> Mapping[int, str]:
        """Return the FLOPs that a model may have for a cell, each with how it was counted."""
        option, how = self.options[cell.column_id].get((cell.row.id, recipe)), self.chosen[cell.column_id]
        known = how.counter if how is not None and how.explained >= LEAST and not every else None
        return {
            value: f"by {name}{write_side(one)}"
            for one in ([*option.by_side.values()][::-1] if option is not None else ())
            for name, value in self.work(cell, one).items()
            if known in (None, name)
        }

    def fits(self, cell: CellRef, recipe: Recipe) -> bool:
        """Return whether a model may have a cell's number."""
        return any(matches(cell.printed, value) for value in self.possible(cell, recipe))


def is_stated_side(row: RowRef, recipe: Recipe) -> bool:
    """Return whether a candidate, the table or the library names the images that a model is counted on."""
    named = name_in_library(recipe)
    sides = (*row.table.value.images, USUAL_SIZE, *(_published(*named) if named is not None else ()))
    proposed = [one.image for one in row.row.candidates]
    return recipe.image is None or recipe.image[0] in sides or recipe.image in proposed


def write_side(recipe: Recipe) -> str:
    """Return on which images a model is, where these are not the usual ones."""
    named = name_in_library(recipe)
    own = _published(*named)[0] if named is not None else USUAL_SIZE
    height, width = recipe.image or (own, own)
    return f" on images of {height} x {width}" if (height, width) != (USUAL_SIZE, USUAL_SIZE) else ""


def _published(library: Library, name: str) -> tuple[int, ...]:
    """Return the sides that a library's model was published for, its own first."""
    return sizes_of(library, name) if name in known_models(library) else (USUAL_SIZE,)
