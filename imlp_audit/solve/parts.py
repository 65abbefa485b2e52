"""A problem as arrays: for each group of readings its cells, its work, and which sizes its readings explain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imlp_audit.errors import SolverError
from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.problem import Cell, CountedRow, Integers, SearchProblem, check
from imlp_audit.solve.weights import Bundle, bundles_of

_EXACT = 2**53  # integers below are exact as floating-point numbers, and so is every sum of them


@dataclass(frozen=True)
class SizeRule:
    """How printed sizes are read: a parameter convention and a rounding rule; both None where no size is printed."""

    convention: str | None
    rounding: Rounding | None


@dataclass(frozen=True, eq=False)
class GroupPart:
    """The cells of one group of rows, and its readings, those of equal work as one profile.

    `flops` and `sizes` are positions of cells. `work`, (cells, bundles, profiles), is the work of the FLOPs cells;
    `readings` are the readings of each profile. `points`, (settings, readings), counts the sizes that are explained,
    and `most_points`, (settings, profiles), is the most that a reading of a profile has. The group "" has one reading.
    """

    group: str
    flops: Integers
    sizes: Integers
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
    check(problem)
    rows = sorted({cell.row for cell in problem.cells if cell.kind == "flops"})
    work = np.concatenate([np.zeros((0, len(problem.classes)), dtype=np.int64), *(problem.rows[r].work for r in rows)])
    bundles = bundles_of(work, [problem.weights_of(name) for name in problem.classes])
    units = np.stack([bundle.unit for bundle in bundles], axis=1) if bundles else work[:, :0]
    _check_exact(units, bundles)
    cuts = np.cumsum([len(problem.rows[row].work) for row in rows])[:-1]
    work_of = dict(zip(rows, np.split(units, cuts), strict=False))
    settings = _settings(problem)
    groups = dict.fromkeys(problem.rows[cell.row].group for cell in problem.cells)
    return Layout(problem, bundles, settings, tuple(_part(problem, group, settings, work_of) for group in groups))


def _settings(problem: SearchProblem) -> tuple[SizeRule, ...]:
    known = tuple(SizeRule(name, rounding) for name in problem.conventions for rounding in problem.roundings)
    return known or (SizeRule(None, None),)


def _check_exact(units: Integers, bundles: tuple[Bundle, ...]) -> None:
    largest = sum(int(units[:, i].max()) * int(bundle.values[-1]) for i, bundle in enumerate(bundles))
    if largest >= _EXACT:
        raise SolverError(f"totals of {largest:.1e} are too large to add up exactly; select smaller models")


def _part(
    problem: SearchProblem, group: str, settings: tuple[SizeRule, ...], work_of: dict[int, Integers]
) -> GroupPart:
    own = [(place, cell) for place, cell in enumerate(problem.cells) if problem.rows[cell.row].group == group]
    flops = [(place, cell) for place, cell in own if cell.kind == "flops"]
    sizes = [(place, cell) for place, cell in own if cell.kind == "parameters"]
    readings = int(np.prod(problem.spaces[group].shape)) if group else 1
    bundles = next(iter(work_of.values())).shape[1] if work_of else 0
    work = np.zeros((len(flops), bundles, readings), dtype=np.int64)
    for index, (_, cell) in enumerate(flops):
        work[index] = work_of[cell.row].T
    points = np.zeros((len(settings), readings), dtype=np.int64)
    for _, cell in sizes:
        for which, setting in enumerate(settings):
            points[which] += _hits(problem.rows[cell.row], cell, setting)
    profiles = _profiles(work)
    return GroupPart(
        group=group,
        flops=np.array([place for place, _ in flops], dtype=np.int64),
        sizes=np.array([place for place, _ in sizes], dtype=np.int64),
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
