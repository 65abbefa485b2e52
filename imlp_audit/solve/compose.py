"""From rows of tables to a problem: cells as ranges of integers, and every row's counts under all readings.

The axes of each family of models have the values that a text may mean. A table of all readings follows from models
measured under a few, because groups of axes that do not interact add up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain, product
from math import ceil, floor, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, Convention, ParameterConvention, parse_weight_key
from imlp_audit.count.facts import Facts, Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.measuring import begin_measuring, is_outside, measure_outside
from imlp_audit.count.record import Ledger, Site
from imlp_audit.errors import BuildError
from imlp_audit.models.host import Size, Stack
from imlp_audit.models.readings import (
    AnyFamily,
    AnyReading,
    Axis,
    BlockReading,
    Family,
    OwnFamily,
    PaperReading,
    Reach,
    Value,
    answer_of,
    axes_of,
    make_reading,
)
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.printed import Rounding
from imlp_audit.processes.workers import open_pool
from imlp_audit.solve.problem import Cell, CountedRow, Kind, SearchProblem, Space
from imlp_audit.spec.columns import Measure, image_of
from imlp_audit.spec.paper import Paper, RowRef

Counts: TypeAlias = NDArray[np.int64]
"""(..., conventions of parameters, then sites x classes of work): they add up over the parts of a model."""

CONVENTIONS = tuple(ParameterConvention)
_SEARCHED = (ParameterConvention.ALL, ParameterConvention.NO_HEAD, ParameterConvention.WITH_BUFFERS)  # papers' own
SITES = tuple(Site)
CLASSES = tuple(operation for operation in Operation if operation is not Operation.UNKNOWN)

_PLACES: Mapping[Hashable, int] = {key: i for i, key in enumerate((*CONVENTIONS, *product(SITES, CLASSES)))}


def count_vector(parameters: Mapping[ParameterConvention, int], ledger: Ledger) -> Counts:
    """Return the vector; a convention without a count has 0. Raises BuildError for work of an unknown class."""
    if ledger.unknown:
        raise BuildError(f"no formula counts {', '.join(sorted(ledger.unknown))}, so not all work is known")
    vector = np.zeros(len(_PLACES), dtype=np.int64)
    for key, amount in (*parameters.items(), *ledger.by_site.items()):
        vector[_PLACES[key]] = amount
    return vector


def parameters_in(table: Counts) -> dict[str, NDArray[np.int64]]:
    """Return the parameters of each row of a table by convention, without conventions that count nothing."""
    return {str(one): table[:, i] for i, one in enumerate(CONVENTIONS) if one in _SEARCHED and table[:, i].any()}


def work_in(table: Counts) -> NDArray[np.int64]:
    """Return the work of each row of a table by class: (rows, classes), in the order of CLASSES."""
    work: NDArray[np.int64] = _by_site(table).sum(axis=1)
    return work


def total_in(table: Counts, convention: Convention) -> NDArray[np.int64]:
    """Return the total of each row of a table under a convention, which may weigh sites apart."""
    weights = [[convention.weight(operation, site) for operation in CLASSES] for site in SITES]
    total: NDArray[np.int64] = np.einsum("rsc,sc->r", _by_site(table), np.array(weights, dtype=np.int64))
    return total


def _by_site(table: Counts) -> NDArray[np.int64]:
    return table[:, len(CONVENTIONS) :].reshape(len(table), len(SITES), len(CLASSES))


Axes = tuple[str, ...]


@dataclass(frozen=True)
class Readings:
    """All readings of a family: every combination of the values of its axes, the last axis fastest."""

    family: AnyFamily
    axes: Mapping[str, tuple[Value, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each axis."""
        return tuple(map(len, self.axes.values()))

    def __len__(self) -> int:
        return prod(self.shape)

    def at(self, places: tuple[int, ...]) -> AnyReading:
        """Return the reading at a place on each axis."""
        values: dict[str, Any] = {
            axis: values[place] for (axis, values), place in zip(self.axes.items(), places, strict=True)
        }
        return make_reading(self.family, values)

    def index(self, reading: AnyReading) -> int:
        """Return the position of a reading among all."""
        index = 0
        for axis, values in self.axes.items():
            index = index * len(values) + values.index(answer_of(reading, axis))
        return index


def readings_of(family: AnyFamily, named: Iterable[PaperReading] = ()) -> Readings:
    """Return the readings of a family; where an axis is a number, those in the `named` readings are tried too."""
    if isinstance(family, OwnFamily):
        return Readings(family, dict(family.axes))
    known = [part for one in named if (part := one.of(family)) is not None]
    return Readings(family, {name: _values(name, axis, known) for name, axis in axes_of(family).items()})


def _values(name: str, axis: Axis, named: list[AnyReading]) -> tuple[Value, ...]:
    if isinstance(axis.default, StrEnum):
        return axis.values
    return tuple(sorted({*axis.tried, *(getattr(reading, name) for reading in named)}))


def _split_axes(readings: Readings) -> tuple[Axes, list[Axes]]:
    """Return the axes `together`, which alter what all others do, and those `apart`, as the family declares them.

    Each tuple apart changes counts by something that no axis of another alters. How the axes of a block of one's own
    interact is not declared, so all are in one tuple.
    """
    if isinstance(readings.family, OwnFamily):
        return (), [tuple(readings.axes)]
    axes = axes_of(readings.family)
    together = tuple(name for name, axis in axes.items() if axis.reach is Reach.EVERYWHERE)
    groups: dict[str, list[str]] = {}
    for name in (name for name in axes if name not in together):
        groups.setdefault(_leader(axes, name), []).append(name)
    return together, list(map(tuple, groups.values()))


def _leader(axes: Mapping[str, Axis], name: str) -> str:
    """Return the axis that stands for those that an axis interacts with."""
    other = axes[name].meets
    return name if other is None else _leader(axes, other)


def tabulate(readings: Readings, count: Callable[[AnyReading], Counts]) -> Counts:
    """Return the counts under every reading, (readings, counts).

    With all axes but those named at their first value: the sum over `apart` of count(together, axes), less
    count(together) once for every tuple but one.
    """
    (together, apart), known = _split_axes(readings), cache(count)
    parts = [_along(readings, known, (*together, *axes)) for axes in apart]
    base = _along(readings, known, together)
    table = sum(parts[1:], parts[0]) - (len(parts) - 1) * base
    return np.broadcast_to(table, (*readings.shape, table.shape[-1])).reshape(len(readings), -1)


def readings_to_count(readings: Readings) -> list[AnyReading]:
    """Return the readings that `tabulate` asks for."""
    together, apart = _split_axes(readings)
    places = (place for axes in apart for place in _places(readings, (*together, *axes)))
    return list(map(readings.at, dict.fromkeys(places)))


def _along(readings: Readings, count: Callable[[AnyReading], Counts], axes: Axes) -> Counts:
    """Return the counts along some axes, each other axis at its first value and of length 1."""
    counted = [count(readings.at(place)) for place in _places(readings, axes)]
    return np.array(counted).reshape(*_shape_along(readings, axes), -1)


def _places(readings: Readings, axes: Axes) -> Iterator[tuple[int, ...]]:
    return iter(np.ndindex(*_shape_along(readings, axes)))


def _shape_along(readings: Readings, axes: Axes) -> tuple[int, ...]:
    return tuple(len(values) if axis in axes else 1 for axis, values in readings.axes.items())


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
        apart = pool.submit(lambda _, asked: [*measure_outside(asked, lambda _: None)], outside)
        facts = dict((*begin_measuring(here, lambda _: None, pool), *apart.result()))
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


def compose(rows: Sequence[RowRef], jobs: int = 0) -> tuple[SearchProblem, dict[str, str]]:
    """Return the problem that the counted numbers of some rows of one paper pose, and why others are no part of it.

    Those are rows without a model or a counted number, or whose model cannot be built or counted, by their ids.
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
    return pose(paper, posed, spaces), refused


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
    columns = (cell.column for cell in row.cells)
    return list(dict.fromkeys(image_of(column) for column in columns if column.measure in KINDS))


def cells_of(row: RowRef, index: int, image: Size | None, rules: Sequence[Rounding]) -> Iterator[Cell]:
    """Yield the printed totals of a row on some images, which is at an index of the problem's rows.

    The first rule is the default.
    """
    for cell in row.cells:
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
        id=posed_id(one.row, one.image),
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
    found: dict[str, dict[str, int]] = {}
    for name, named in paper.about.value.readings.items():
        reading = named.reading()
        parts = ((family, readings, reading.of(readings.family)) for family, readings in spaces.items())
        at = {family: readings.index(part) for family, readings, part in parts if part is not None}
        found |= {name: at} if at else {}
    return found
