"""A problem as arrays: bundles of classes of work that no number tells apart, boxes of their weights, and parts.

A box has for each bundle a run of its values; the search works on many boxes at once. A part is a group of readings
with its cells, its work, and which sizes its readings explain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from imlp_audit.errors import SolverError
from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.problem import Cell, CountedRow, Integers, SearchProblem

_MOST_OPTIONS = 3000  # combinations of weights in one bundle; further proportional classes get a bundle of their own


@dataclass(frozen=True, eq=False)
class Bundle:
    """Classes whose work is proportional: in every row, under every reading, theirs is `factors` times one amount.

    A total depends on their weights through `factors @ weights` alone, so that is what is searched: `values`,
    ascending. `options` are the weights, (combinations, classes), ordered by value, then lexicographically; those of
    the value at an index are between two neighbours of `starts`. `unit` is the amount, one for each row and reading.
    """

    classes: tuple[int, ...]
    factors: tuple[int, ...]
    unit: Integers
    values: Integers
    options: Integers
    starts: Integers

    def between(self, low: int, high: int) -> Integers:
        """Return the weights whose values are from one index to another, both included."""
        options: Integers = self.options[self.starts[low] : self.starts[high + 1]]
        return options


def bundles_of(work: Integers, weights: Sequence[tuple[int, ...]]) -> tuple[Bundle, ...]:
    """Group the classes of `work`, (rows and readings, classes), each with its possible weights.

    A class without work is in no bundle: no total depends on its weight. Nor is one whose weight is 0: because no other
    is possible, or because it has negative work somewhere (an excess of one counter over another), while bounds of
    the search need work that is none or more.
    """
    proportional: dict[bytes, list[tuple[int, int]]] = {}
    for place, column in enumerate(work.T):
        divisor = int(np.gcd.reduce(column))
        if divisor and column.min() >= 0 and any(weights[place]):
            proportional.setdefault((column // divisor).tobytes(), []).append((place, divisor))
    return tuple(
        _bundle(members, work, weights) for alike in proportional.values() for members in _small(alike, weights)
    )


def _small(alike: list[tuple[int, int]], weights: Sequence[tuple[int, ...]]) -> Iterator[list[tuple[int, int]]]:
    """Cut a list of classes where its combinations of weights become too many."""
    members: list[tuple[int, int]] = []
    for place, divisor in alike:
        if members and prod(len(weights[p]) for p, _ in members) * len(weights[place]) > _MOST_OPTIONS:
            yield members
            members = []
        members.append((place, divisor))
    yield members


def _bundle(members: list[tuple[int, int]], work: Integers, weights: Sequence[tuple[int, ...]]) -> Bundle:
    classes = tuple(place for place, _ in members)
    divisors = np.array([divisor for _, divisor in members], dtype=np.int64)
    common = np.gcd.reduce(divisors)
    combinations = np.array(sorted(product(*(sorted(weights[place]) for place in classes))), dtype=np.int64)
    values = combinations @ (divisors // common)
    order = np.argsort(values, kind="stable")
    distinct, starts = np.unique(values[order], return_index=True)
    return Bundle(
        classes=classes,
        factors=tuple((divisors // common).tolist()),
        unit=work[:, classes[0]] // divisors[0] * common,
        values=distinct,
        options=combinations[order],
        starts=np.append(starts, len(order)),
    )


@dataclass(frozen=True, eq=False)
class Boxes:
    """For each box and bundle, (boxes, bundles), the indices of its least and its largest value."""

    low: Integers
    high: Integers

    def __len__(self) -> int:
        return len(self.low)

    @classmethod
    def whole(cls, bundles: Sequence[Bundle]) -> Boxes:
        """Return the one box that holds all weights."""
        high = np.array([[len(bundle.values) - 1 for bundle in bundles]], dtype=np.int64)
        return cls(np.zeros_like(high), high)

    @classmethod
    def concatenate(cls, parts: Sequence[Boxes]) -> Boxes:
        """Return the boxes of all parts."""
        return cls(np.concatenate([part.low for part in parts]), np.concatenate([part.high for part in parts]))

    def take(self, places: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Boxes:
        """Return some of the boxes."""
        return Boxes(self.low[places], self.high[places])

    def halves(self, axes: Integers) -> Boxes:
        """Cut each box in two along one bundle: no value is lost, and none is in both."""
        each = np.arange(len(self))
        middle = (self.low[each, axes] + self.high[each, axes]) // 2
        below, above = self.high.copy(), self.low.copy()
        below[each, axes], above[each, axes] = middle, middle + 1
        return Boxes.concatenate([Boxes(self.low, below), Boxes(above, self.high)])


def corners(boxes: Boxes, bundles: Sequence[Bundle]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest values, (boxes, bundles) each."""
    low, high = np.empty(boxes.low.shape), np.empty(boxes.high.shape)
    for axis, bundle in enumerate(bundles):
        low[:, axis], high[:, axis] = bundle.values[boxes.low[:, axis]], bundle.values[boxes.high[:, axis]]
    return low, high


_EXACT = 2**53  # integers below are exact as floating-point numbers, and so is every sum of them


class SizeRule(NamedTuple):
    """How printed sizes are read: a parameter convention and a rounding rule; both None where no size is printed."""

    convention: str | None
    rounding: Rounding | None


@dataclass(frozen=True, eq=False)
class GroupPart:
    """The cells of one group of rows, and its readings, those of equal work as one profile.

    `flops` are positions of cells. `work`, (cells, bundles, profiles), is the work of the FLOPs cells;
    `readings` are the readings of each profile. `points`, (settings, readings), counts the sizes that are explained,
    and `most_points`, (settings, profiles), is the most that a reading of a profile has. The group "" has one reading.
    """

    group: str
    flops: Integers
    work: NDArray[np.float64]
    points: Integers
    most_points: Integers
    readings: tuple[Integers, ...]

    @cached_property
    def profile_of(self) -> Integers:
        """The profile of each reading."""
        profiles = np.empty(self.points.shape[1], dtype=np.int64)
        for at, readings in enumerate(self.readings):
            profiles[readings] = at
        return profiles

    @cached_property
    def are_best(self) -> NDArray[np.bool_]:
        """Whether each reading explains the most sizes of its profile, (settings, readings)."""
        best: NDArray[np.bool_] = self.points == self.most_points[:, self.profile_of]
        return best


@dataclass(frozen=True, eq=False)
class Layout:
    """A problem and the arrays that the search needs."""

    problem: SearchProblem
    bundles: tuple[Bundle, ...]
    settings: tuple[SizeRule, ...]
    parts: tuple[GroupPart, ...]


def lay_out(problem: SearchProblem) -> Layout:
    """Return a problem's arrays. Raises SolverError for one that cannot be solved."""
    if not problem.cells:
        raise SolverError("nothing to solve: no printed parameters or FLOPs of a model that can be measured")
    rows = sorted({cell.row for cell in problem.cells if cell.kind == "flops"})
    work = np.concatenate([np.zeros((0, len(problem.classes)), dtype=np.int64), *(problem.rows[r].work for r in rows)])
    bundles = bundles_of(work, [problem.weights_of(name) for name in problem.classes])
    units = np.stack([bundle.unit for bundle in bundles], axis=1) if bundles else work[:, :0]
    largest = sum(int(units[:, i].max()) * int(bundle.values[-1]) for i, bundle in enumerate(bundles))
    if largest >= _EXACT:
        raise SolverError(f"totals of {largest:.1e} are too large to add up exactly; select smaller models")
    cuts = np.cumsum([len(problem.rows[row].work) for row in rows])[:-1]
    work_of = dict(zip(rows, np.split(units, cuts), strict=False))
    settings = tuple(SizeRule(name, rounding) for name in problem.conventions for rounding in problem.roundings)
    settings = settings or (SizeRule(None, None),)
    groups = dict.fromkeys(problem.rows[cell.row].group for cell in problem.cells)
    return Layout(problem, bundles, settings, tuple(_part(problem, group, settings, work_of) for group in groups))


def _part(
    problem: SearchProblem, group: str, settings: tuple[SizeRule, ...], work_of: dict[int, Integers]
) -> GroupPart:
    own = [(place, cell) for place, cell in enumerate(problem.cells) if problem.rows[cell.row].group == group]
    flops = [(place, cell.row) for place, cell in own if cell.kind == "flops"]
    readings = int(np.prod(problem.spaces[group].shape)) if group else 1
    bundles = next(iter(work_of.values())).shape[1] if work_of else 0
    work = np.zeros((len(flops), bundles, readings), dtype=np.int64)
    for index, (_, row) in enumerate(flops):
        work[index] = work_of[row].T
    points = np.zeros((len(settings), readings), dtype=np.int64)
    for _, cell in own:
        for which, setting in enumerate(settings) if cell.kind == "parameters" else ():
            points[which] += _hits(problem.rows[cell.row], cell, setting)
    profiles = _profiles(work)
    return GroupPart(
        group=group,
        flops=np.array([place for place, _ in flops], dtype=np.int64),
        work=np.ascontiguousarray(work[..., [profile[0] for profile in profiles]], dtype=np.float64),
        points=points,
        most_points=np.stack([points[:, profile].max(axis=1) for profile in profiles], axis=1),
        readings=profiles,
    )


def _hits(row: CountedRow, cell: Cell, setting: SizeRule) -> NDArray[np.bool_]:
    """Say for each reading whether its size prints as the cell; without a count by the convention, none does."""
    sizes = row.parameters.get(setting.convention or "")
    if sizes is None or setting.rounding is None:
        return np.zeros(1, dtype=np.bool_)
    least, most = cell.ranges[setting.rounding]
    return (least <= sizes) & (sizes <= most)


def _profiles(work: Integers) -> tuple[Integers, ...]:
    """Group readings of equal work, in the order of each group's first reading."""
    alike: dict[bytes, list[int]] = {}
    for reading in range(work.shape[-1]):
        alike.setdefault(work[..., reading].tobytes(), []).append(reading)
    return tuple(np.array(readings, dtype=np.int64) for readings in alike.values())
