"""From rows of tables to a problem: cells as ranges of integers, and every row's counts under all readings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, floor

import numpy as np

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, Convention, ParameterConvention, parse_weight_key
from imlp_audit.count.facts import Facts, Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.measuring import begin_measuring, is_outside, measure_outside
from imlp_audit.errors import BuildError
from imlp_audit.models.host import Size, Stack
from imlp_audit.models.readings import AnyReading, BlockReading, Family, OwnFamily
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.printed import Rounding
from imlp_audit.processes.workers import open_pool
from imlp_audit.solve.problem import Cell, CountedRow, Kind, SearchProblem, Space
from imlp_audit.solve.space import (
    CLASSES,
    Counts,
    Readings,
    count_vector,
    parameters_in,
    readings_of,
    readings_to_count,
    tabulate,
    total_in,
    work_in,
)
from imlp_audit.spec.columns import Measure, image_of
from imlp_audit.spec.paper import CellRef, Paper, RowRef


@dataclass(frozen=True)
class Composition:
    """The problem that rows pose, and by their ids why others are no part of it."""

    problem: SearchProblem
    refused: Mapping[str, str]


def count_models(
    recipes: Iterable[Recipe], spaces: Mapping[str, Readings], jobs: int = 0
) -> dict[Recipe, Counts | BuildError]:
    """Return the counts of models, (readings, counts), one row where no reading changes the model; or why one failed.

    `jobs` other processes share the work. Models of code from outside are counted together, in a process of their own.
    """
    asked = {recipe: None if recipe.family_name is None else spaces[recipe.family_name] for recipe in recipes}
    needed = {
        key: Need(work=True)
        for recipe, readings in asked.items()
        for reading in ([None] if readings is None else readings_to_count(readings))
        for key in _keys(recipe, reading)
    }
    outside = {key: need for key, need in needed.items() if is_outside(key)}
    here = {key: need for key, need in needed.items() if key not in outside}
    with open_pool(jobs) as pool:
        counted = begin_measuring(here, lambda _: None, pool)
        facts = dict((*counted, *measure_outside(outside, lambda _: None)))
    return {recipe: _tabulate(recipe, readings, facts) for recipe, readings in asked.items()}


def _tabulate(recipe: Recipe, readings: Readings | None, facts: Facts) -> Counts | BuildError:
    try:
        if readings is None:
            return _counts_of(recipe, None, facts)[np.newaxis]
        return tabulate(readings, lambda reading: _counts_of(recipe, reading, facts))
    except BuildError as error:
        return error


def _keys(recipe: Recipe, reading: AnyReading | None) -> tuple[ModelKey, ...]:
    """Return the models whose counts make up a model's: itself, or its stack cut to one layer and to two."""
    if not isinstance(recipe.host, Stack) or reading is None or recipe.mlp is not None:
        return (ModelKey(recipe, reading),)
    stacks = (recipe.host.model_copy(update={"layers": layers}) for layers in (1, 2))
    return tuple(ModelKey(recipe.model_copy(update={"host": stack}), reading) for stack in stacks)


def _counts_of(recipe: Recipe, reading: AnyReading | None, facts: Facts) -> Counts:
    """Return a model's counts under a reading; a stack has those of one layer, and what each further layer adds."""
    one, *two = (_vector(key, facts[key]) for key in _keys(recipe, reading))
    return one + (recipe.host.layers - 1) * (two[0] - one) if isinstance(recipe.host, Stack) and two else one


def _vector(key: ModelKey, facts: ModelFacts | Failure) -> Counts:
    if isinstance(facts, Failure):
        answers = key.reading.answers if isinstance(key.reading, BlockReading) and not facts.untrusted else ()
        under = f" (with {', '.join(f'{axis}: {value}' for axis, value in answers)})" if answers else ""
        raise BuildError(f"{facts.message}{under}")
    if facts.ledger is None:
        raise BuildError(f"{key.recipe.name}: its work was not counted")
    return count_vector(facts.parameters, facts.ledger)


def compose(rows: Sequence[RowRef], jobs: int = 0) -> Composition:
    """Return the problem that the counted numbers of some rows of one paper pose.

    A row without a model or a counted number, or whose model cannot be built or counted, is refused with the reason.
    """
    paper = rows[0].paper
    asked = [(row, image, _try_recipe(row, image)) for row in rows for image in images_of(row) or [None]]
    recipes = [recipe for _, _, recipe in asked if isinstance(recipe, Recipe)]
    own = [recipe.family for recipe in recipes if isinstance(recipe.family, OwnFamily)]
    named = [one.reading() for one in paper.about.value.readings.values()]
    spaces = {str(family): readings_of(family, named) for family in (*Family, *own)}
    models = count_models(recipes, spaces, jobs)
    posed: list[Posed] = []
    refused: dict[str, str] = {}
    for row, image, recipe in asked:
        table = recipe if isinstance(recipe, BuildError) else models[recipe]
        if isinstance(recipe, BuildError) or isinstance(table, BuildError):
            refused[posed_id(row, image)] = str(table)
        else:
            posed.append(Posed(row, recipe, table, image))
    return Composition(pose(paper, posed, spaces), refused)


def _try_recipe(row: RowRef, image: Size | None) -> Recipe | BuildError:
    """Return how the model of a row is built, or why the row poses no problem."""
    recipe = row.row.model
    if recipe is None:
        return BuildError("the row has no model")
    if not images_of(row):
        return BuildError("the row prints no parameters and no FLOPs")
    try:
        return recipe if image is None else recipe.with_image(image)
    except BuildError as error:
        return error


KINDS: Mapping[Measure, Kind] = {Measure.PARAMETERS: "parameters", Measure.FLOPS: "flops"}
TEXT = "as_written"
"""The name that specs give the reading of only the text."""


@dataclass(frozen=True)
class Posed:
    """A row, how its model is built, and the model's counts under every reading of its family.

    Of a row with columns on other images there is one for each size; `image` is that of these columns.
    """

    row: RowRef
    recipe: Recipe
    table: Counts
    image: Size | None = None

    @property
    def id(self) -> str:
        """The row's id, with the size of the images where it is a column's own."""
        return posed_id(self.row, self.image)


def posed_id(row: RowRef, image: Size | None) -> str:
    """Return the id of a row, with the size of the images where it is a column's own."""
    return row.id if image is None else f"{row.id} on {image[0]} x {image[1]}"


def pose(paper: Paper, posed: Sequence[Posed], spaces: Mapping[str, Readings]) -> SearchProblem:
    """Return the problem; its classes are those in which some row does work, but for what hangs on the whole model."""
    every = [i for i, one in enumerate(CLASSES) if one is not Operation.BIAS_APART]
    done = [i for i in every if any(work_in(one.table)[:, i].any() for one in posed)]
    families = {one.recipe.family_name for one in posed}
    open_ = {family: readings for family, readings in spaces.items() if family in families}
    about = paper.about.value
    rules = tuple(dict.fromkeys(chain(about.rounding, *about.rounding_of.values(), Rounding)))
    named = _find_named(paper, open_)
    return SearchProblem(
        rows=tuple(_row(one, done) for one in posed),
        cells=tuple(cell for index, one in enumerate(posed) for cell in cells_of(one.row, index, one.image, rules)),
        spaces={family: _space(readings) for family, readings in open_.items()},
        classes=tuple(CLASSES[i] for i in done),
        named=named,
        text=TEXT if TEXT in named else None,
    )


def images_of(row: RowRef) -> list[Size | None]:
    """Return the images that a row's printed totals are of, None for the row's own."""
    columns = (CellRef(row, name).column for name in row.row.printed)
    return list(dict.fromkeys(image_of(column) for column in columns if column.measure in KINDS))


def cells_of(row: RowRef, index: int, image: Size | None, rules: Sequence[Rounding]) -> Iterator[Cell]:
    """Yield the printed totals of a row on some images, which is at an index of the problem's rows.

    The first rule is the default.
    """
    for column in row.row.printed:
        cell = CellRef(row, column)
        kind = KINDS.get(cell.column.measure)
        if kind is not None and image_of(cell.column) == image:
            printed = cell.printed
            ranges = {rule: _integers(printed.interval(rule)) for rule in rules}
            yield Cell(cell.id, index, kind, ranges, printed.step * printed.scale)


def _row(one: Posed, classes: Sequence[int]) -> CountedRow:
    parameters = parameters_in(one.table)
    own = one.row.row.counted_by.get(Measure.PARAMETERS)
    if own is not None and own.convention in parameters:  # which counts it whatever counts the others
        parameters = dict.fromkeys(parameters, parameters[own.convention])
    return CountedRow(
        id=one.id,
        group=one.recipe.family_name or "",
        parameters=parameters,
        work=np.ascontiguousarray(work_in(one.table)[:, classes]),
        totals={
            c.name: total_in(one.table, c)
            for c in _conventions(one.row.paper)
            if not c.needs_classifier or ParameterConvention.NO_HEAD in parameters
            if one.recipe.family is not Family.IMLP or not _hangs_on_layout(c)
        },
    )


def _hangs_on_layout(convention: Convention) -> bool:
    """Return whether a counter asks how tensors lie in memory: what axes change there does not add up."""
    return any(weight and key.operation is Operation.BIAS_APART for key, weight in convention.weights.items())


def _conventions(paper: Paper) -> Iterator[Convention]:
    yield from FLOPS_CONVENTIONS.values()
    for name, weights in paper.about.value.conventions.items():
        yield Convention(name, {parse_weight_key(key): weight for key, weight in weights.items()})


def _integers(interval: Interval) -> tuple[int, int]:
    least, most = ceil(interval.low), floor(interval.high)
    return (
        least + (least == interval.low and not interval.low_closed),
        most - (most == interval.high and not interval.high_closed),
    )


def _space(readings: Readings) -> Space:
    return Space(tuple((axis, tuple(map(str, values))) for axis, values in readings.axes.items()))


def _find_named(paper: Paper, spaces: Mapping[str, Readings]) -> dict[str, dict[str, int]]:
    """Return where the paper's named readings are."""
    found: dict[str, dict[str, int]] = {}
    for name, named in paper.about.value.readings.items():
        reading = named.reading()
        parts = ((family, readings, reading.of(readings.family)) for family, readings in spaces.items())
        at = {family: readings.index(part) for family, readings, part in parts if part is not None}
        found |= {name: at} if at else {}
    return found
