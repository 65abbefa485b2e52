"""The answer of a search: the best solutions with all ties, which of them comes first, and what it gives for a cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np

from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.solution import SolvedAxis
from imlp_audit.solve.problem import Cell, Integers, SearchProblem, Space


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


@dataclass(frozen=True, order=True)
class Miss:
    """How near a value comes to the range of a cell: its distance, the same below (-) or above it, and the value."""

    distance: int
    gap: int
    value: int


@dataclass(frozen=True)
class Contradiction:
    """A cell that no best solution explains: the nearest value of any, and its gap in units of the last digit.

    The gap is above zero where the value is too large. Without a value the row knows no such count.
    """

    cell: str
    value: int | None
    gap: Fraction | None


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
    contradicted: tuple[Contradiction, ...]
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
            (name, group): _count_apart(space, problem.named.get(name or "", {}).get(group))
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
        """Return the combination, one reading for each group, that departs least, and how far.

        The one nearest to a name is made of the readings nearest in each group, as departures add up.
        """
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


def _count_apart(space: Space, index: int | None) -> Integers:
    """Count the axes on which each reading differs from a named one, which may state none of them."""
    return np.zeros(prod(space.shape), dtype=np.int64) if index is None else space.count_apart(index)


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
