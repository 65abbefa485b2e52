"""The answer of a search: the best solutions, all ties, and what a solution gives for a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.solution import SolvedAxis
from imlp_audit.solve.problem import Cell, Integers, SearchProblem


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

    @cached_property
    def least_sum(self) -> int:
        """The smallest sum of weights."""
        return sum(self.first)


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
    def weightings(self) -> int:
        """The number of combinations of weights."""
        return prod(len(choice.options) for choice in self.weights)

    @property
    def count(self) -> int:
        """The number of solutions."""
        return self.weightings * prod(map(len, self.readings.values()))


@dataclass(frozen=True)
class ClassWeights:
    """The weights that a class of work has in the best solutions.

    Where it has no work (`works` is False), no number depends on it, and every weight does.
    """

    name: str
    values: tuple[int, ...]
    works: bool

    @property
    def pinned(self) -> bool:
        """Whether every best solution has the same weight."""
        return len(self.values) == 1


@dataclass(frozen=True, order=True)
class Miss:
    """How near a value comes to the range of a cell: its distance, the same below (-) or above it, and the value."""

    distance: int
    gap: int
    value: int


@dataclass(frozen=True)
class Contradiction:
    """A cell that no best solution explains: the nearest value of any, and its gap in units of the last digit.

    The gap is that to the nearest value that would print so; above zero where the value is too large. Without a
    value the row knows no such count.
    """

    cell: str
    value: int | None
    gap: Fraction | None


@dataclass(frozen=True, eq=False)
class SearchAnswer:
    """What a search found.

    `score` cells of `of` are explained by each of `count` solutions, which `ties` hold all; `solutions` are the first
    of them in order. `contradicted` cells are explained by none, `disputed` ones by some and not by others. Where
    `exhaustive` is False the budget ended the search: no solution explains more than `bound` cells, there may be more
    and better ones, and what is pinned may be free. `looked` is what it counted against the budget.
    """

    score: int
    of: int
    count: int
    solutions: tuple[Solution, ...]
    ties: tuple[Ties, ...]
    axes: tuple[SolvedAxis, ...]
    weights: tuple[ClassWeights, ...]
    contradicted: tuple[Contradiction, ...]
    disputed: tuple[str, ...]
    exhaustive: bool
    bound: int
    looked: int


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


def explains(problem: SearchProblem, cell: Cell, solution: Solution) -> bool:
    """Say whether what a solution gives for a cell prints as the cell does."""
    rounding = solution.flops_rounding if cell.kind == "flops" else solution.parameter_rounding
    value = value_of(problem, cell, solution)
    if rounding is None or value is None:
        return False
    least, most = cell.ranges[rounding]
    return least <= value <= most


def find_explained(problem: SearchProblem, solution: Solution, cells: Sequence[Cell] | None = None) -> tuple[str, ...]:
    """Return the ids of the cells that a solution explains, of the problem's or of others."""
    return tuple(c.id for c in (problem.cells if cells is None else cells) if explains(problem, c, solution))


def _place(readings: Mapping[str, int], group: str, length: int) -> int:
    return readings[group] if group and length > 1 else 0
