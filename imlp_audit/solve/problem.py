"""A problem, printed cells to explain by rows' counts under every reading, and its answer: the best with all ties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.errors import SolverError
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.solution import SolvedAxis, SolvedCell

Integers: TypeAlias = NDArray[np.int64]
Kind: TypeAlias = Literal["parameters", "flops"]

WEIGHTS = tuple(range(7))
"""The weights that a class of work may have."""


@dataclass(frozen=True, eq=False)
class CountedRow:
    """A row of the selected tables with a model.

    `group` names the choice of readings it takes ("imlp", "text", "resmlp"), "" where no reading changes it.
    `parameters` has, by parameter convention, one value a reading of the group; `work` the ledger's totals,
    (readings, classes), with the classes in the order of the problem's. Both have one reading for the group "".
    `totals` are the FLOPs by named conventions, as `parameters` are, for those who want to search under one of them.
    """

    id: str
    group: str
    parameters: Mapping[str, Integers]
    work: Integers
    totals: Mapping[str, Integers] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """A printed number of the row at an index.

    `ranges` are, by rounding rule, the integers that print so, both ends included; `step` is one unit of the last
    digit, in base units.
    """

    id: str
    row: int
    kind: Kind
    ranges: Mapping[Rounding, tuple[int, int]]
    step: Fraction


@dataclass(frozen=True)
class Space:
    """The readings of a group: every combination of its axes' values, in C order (the last axis fastest)."""

    axes: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each axis."""
        return tuple(len(values) for _, values in self.axes)

    def values_at(self, index: int) -> dict[str, str]:
        """Return the value of each axis of the reading at an index."""
        places = np.unravel_index(index, self.shape)
        return {name: values[int(place)] for (name, values), place in zip(self.axes, places, strict=True)}

    def count_apart(self, index: int | None) -> Integers:
        """Return on how many axes each reading differs from the one at an index; on none where that says nothing."""
        apart: Integers = np.zeros(prod(self.shape), dtype=np.int64)
        if index is not None:
            places = np.indices(self.shape).reshape(len(self.shape), -1)
            apart += (places != places[:, index, np.newaxis]).sum(axis=0)
        return apart


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """Rows, cells, the readings of each group, the classes of work, and the spec's named readings.

    `named` maps a name to the index of the reading in each group that it says something about; `text` is the name
    of what the text says. A class of work has one of the weights `allowed` for it, or of WEIGHTS.
    """

    rows: tuple[CountedRow, ...]
    cells: tuple[Cell, ...]
    spaces: Mapping[str, Space]
    classes: tuple[str, ...]
    named: Mapping[str, Mapping[str, int]]
    text: str | None = None
    allowed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def roundings(self) -> tuple[Rounding, ...]:
        """The rounding rules that the cells know."""
        return tuple(self.cells[0].ranges)

    @property
    def conventions(self) -> tuple[str, ...]:
        """The parameter conventions that some row with a printed size knows."""
        rows = (self.rows[cell.row] for cell in self.cells if cell.kind == "parameters")
        return tuple(dict.fromkeys(name for row in rows for name in row.parameters))

    def weights_of(self, name: str) -> tuple[int, ...]:
        """Return the weights that a class of work may have."""
        return self.allowed.get(name, WEIGHTS)

    def where(self, wanted: Callable[[Cell], bool]) -> SearchProblem:
        """Return the problem that some of the cells pose."""
        return replace(self, cells=tuple(filter(wanted, self.cells)))

    def only(self, kind: Kind) -> SearchProblem:
        """Return the problem of the parameters alone, or of the FLOPs alone."""
        return self.where(lambda cell: cell.kind == kind)

    def under(self, convention: str) -> SearchProblem:
        """Return the problem in which FLOPs are counted by a named convention, and no weight is open.

        Raises SolverError where a row has no total under it.
        """
        without = [row.id for row in self.rows if convention not in row.totals]
        if without:
            raise SolverError(f"{convention} has no total of {', '.join(without)}")
        rows = tuple(replace(row, work=row.totals[convention][:, np.newaxis]) for row in self.rows)
        return replace(self, rows=rows, classes=(convention,), allowed={convention: (1,)})


@dataclass(frozen=True)
class Solution:
    """A reading for each group, how sizes and FLOPs are counted and rounded, and the ids of the cells it explains.

    `weights` are in the order of the problem's classes; 0 for a class without work, whose weight nothing depends on.
    `nearest` is the named reading it departs from least, on `apart` axes.
    """

    readings: Mapping[str, int]
    parameter_convention: str | None
    parameter_rounding: Rounding | None
    flops_rounding: Rounding | None
    weights: tuple[int, ...]
    explained: tuple[str, ...] = ()
    nearest: str | None = None
    apart: int = 0


@dataclass(frozen=True, eq=False)
class WeightChoice:
    """Some classes of work and the weights they may have together, (combinations, classes)."""

    classes: tuple[int, ...]
    options: Integers

    @cached_property
    def first(self) -> tuple[int, ...]:
        """The weights of the smallest sum; of several, those with the larger weight on the class listed first."""
        return min((tuple(row) for row in self.options.tolist()), key=lambda row: (sum(row), [-one for one in row]))


@dataclass(frozen=True, eq=False)
class Ties:
    """Solutions that all explain as many cells: every combination of a reading of each group and of weights.

    Classes in no choice have no work: their weights are free, and not counted.
    """

    parameter_convention: str | None
    parameter_rounding: Rounding | None
    flops_rounding: Rounding | None
    readings: Mapping[str, Integers]
    weights: tuple[WeightChoice, ...]

    @property
    def count(self) -> int:
        """The number of solutions."""
        return prod(len(choice.options) for choice in self.weights) * prod(map(len, self.readings.values()))


class Miss(NamedTuple):
    """How near a value comes to the range of a cell: its distance, the same below (-) or above it, and the value."""

    distance: int
    gap: int
    value: int


@dataclass(frozen=True, eq=False)
class SearchAnswer:
    """What a search found.

    `score` cells of `of` are explained by each of `count` solutions, which `ties` hold all; `first` is the first of
    them by RULE. `contradicted` cells are explained by none, `disputed` ones by some and not by others. Where
    `exhaustive` is False the budget ended the search: no solution explains more than `bound` cells, there may be more
    and better ones, and what is pinned may be free.
    """

    score: int
    of: int
    count: int
    first: Solution
    ties: tuple[Ties, ...]
    axes: tuple[SolvedAxis, ...]
    contradicted: tuple[SolvedCell, ...]
    disputed: tuple[str, ...]
    exhaustive: bool
    bound: int


def value_of(problem: SearchProblem, cell: Cell, solution: Solution) -> int | None:
    """Return what a solution gives for a cell; None where it has no reading or no convention for the row."""
    row = problem.rows[cell.row]
    if row.group and row.group not in solution.readings:
        return None
    if cell.kind == "flops":
        work = row.work[_place(solution.readings, row.group, len(row.work))]
        return sum(int(amount) * weight for amount, weight in zip(work, solution.weights, strict=True))
    sizes = row.parameters.get(solution.parameter_convention or "")
    return None if sizes is None else int(sizes[_place(solution.readings, row.group, len(sizes))])


def _place(readings: Mapping[str, int], group: str, length: int) -> int:
    return readings[group] if group and length > 1 else 0


def explains(problem: SearchProblem, cell: Cell, solution: Solution) -> bool:
    """Say whether what a solution gives for a cell prints as the cell does."""
    rounding = solution.flops_rounding if cell.kind == "flops" else solution.parameter_rounding
    value = value_of(problem, cell, solution)
    if rounding is None or value is None:
        return False
    least, most = cell.ranges[rounding]
    return least <= value <= most


def find_explained(problem: SearchProblem, solution: Solution) -> tuple[str, ...]:
    """Return the ids of the cells that a solution explains."""
    return tuple(cell.id for cell in problem.cells if explains(problem, cell, solution))


RULE = (
    "First come solutions whose readings differ from a named reading of the spec on the fewest axes, then those that "
    "depart from the text on the fewest axes, then those with the paper's default rounding rule, then those with the "
    "smallest sum of weights; what is still equal is ordered by parameter convention as they are listed, by weights, "
    "the larger one on the class listed first, and by readings as they are listed."
)

Departures: TypeAlias = tuple[int, int]
"""Axes that differ from the nearest named reading, and from the text's."""

Key: TypeAlias = tuple[Departures, tuple[int, int], int, int, tuple[int, ...], tuple[int, ...]]
"""A place by RULE: departures, rounding rules, sum of weights, convention, negated weights, readings."""


class _Order:
    def __init__(self, problem: SearchProblem) -> None:
        self._roundings = {rule: place for place, rule in enumerate(problem.roundings)}
        self._conventions = {name: place for place, name in enumerate(problem.conventions)}
        self._classes = len(problem.classes)
        self._names: tuple[str | None, ...] = tuple(problem.named) or (None,)
        self._apart = {
            (name, group): space.count_apart(problem.named.get(name or "", {}).get(group))
            for name in (*self._names, problem.text)
            for group, space in problem.spaces.items()
        }
        self._text = problem.text
        self._first: dict[tuple[int, ...], tuple[Departures, tuple[int, ...]]] = {}

    def key_of(self, ties: Ties) -> Key:
        """Return the place of the first solution of some ties."""
        departures, reading = self._first_reading(ties.readings)
        sizes, flops = (self._roundings[r] if r else 0 for r in (ties.parameter_rounding, ties.flops_rounding))
        convention = self._conventions[ties.parameter_convention] if ties.parameter_convention else 0
        negated = [0] * self._classes
        for choice in ties.weights:
            for place, weight in zip(choice.classes, choice.first, strict=True):
                negated[place] = -weight
        return departures, (sizes, flops), -sum(negated), convention, tuple(negated), reading

    def nearest(self, reading: Mapping[str, int]) -> tuple[int, str | None]:
        """Return on how many axes one combination differs from the nearest named reading, and its name."""
        return min(((self._sum(name, reading), name) for name in self._names), key=lambda found: found[0])

    def _sum(self, name: str | None, reading: Mapping[str, int]) -> int:
        return sum(int(self._apart[name, group][one]) for group, one in reading.items())

    def _first_reading(self, readings: Mapping[str, Integers]) -> tuple[Departures, tuple[int, ...]]:
        """Return the reading of each group that departs least, together, and how far: departures add up."""
        key = tuple(map(id, readings.values()))  # many ties share the arrays
        if key not in self._first:
            nearest = [
                {group: self._first_of(name, group, some) for group, some in readings.items()} for name in self._names
            ]
            self._first[key] = min(
                ((self.nearest(one)[0], self._sum(self._text, one)), tuple(one.values())) for one in nearest
            )
        return self._first[key]

    def _first_of(self, name: str | None, group: str, readings: Integers) -> int:
        order = np.lexsort((readings, self._apart[self._text, group][readings], self._apart[name, group][readings]))
        return int(readings[order[0]])


def first_solution(problem: SearchProblem, ties: Iterable[Ties]) -> Solution:
    """Return the first solution of all ties, in the order of RULE."""
    order = _Order(problem)
    key, one = min(((order.key_of(one), one) for one in ties), key=lambda found: found[0])
    *_, negated, reading = key
    readings = dict(zip(one.readings, reading, strict=True))
    apart, name = order.nearest(readings)
    weights = tuple(-weight for weight in negated)
    bare = Solution(
        readings, one.parameter_convention, one.parameter_rounding, one.flops_rounding, weights, (), name, apart
    )
    return replace(bare, explained=find_explained(problem, bare))
