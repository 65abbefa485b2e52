"""The search for what explains the most printed numbers, and the same search with shifted digits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256

import numpy as np

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.solution import SolvedAxis, SolvedCell
from imlp_audit.solve import BUDGET
from imlp_audit.solve.branch_and_bound import (
    Floats,
    RoundingSearch,
    Truths,
    View,
    boxes_at_once,
    explore,
    find_scope,
    search_of,
    tops_of,
)
from imlp_audit.solve.layout import Boxes, Layout, corners, lay_out
from imlp_audit.solve.problem import (
    Cell,
    Integers,
    Miss,
    SearchAnswer,
    SearchProblem,
    Ties,
    WeightChoice,
    first_solution,
)


def solve(problem: SearchProblem, *, budget: int = BUDGET) -> SearchAnswer:
    """Return the best solutions over all readings, parameter conventions, rounding rules and weights.

    The answer is exact, with all ties, unless it says that the budget ended it. Raises SolverError for a problem with
    nothing to explain, or that does not fit together.
    """
    layout = lay_out(problem)
    explored = explore(_runs(layout), budget, ties=True)
    collected = _Collected(layout)
    for run, boxes in explored.found:
        collected.add(run, boxes, explored.score)
    contradicted = tuple(_find_contradictions(problem, collected.ties, collected.near))
    never = {one.id for one in contradicted}
    return SearchAnswer(
        score=explored.score,
        of=len(problem.cells),
        count=sum(one.count for one in collected.ties),
        first=first_solution(problem, collected.ties),
        ties=tuple(collected.ties),
        axes=tuple(_find_axes(problem, collected.ties)),
        contradicted=contradicted,
        disputed=tuple(cell for cell in _find_disputed(problem, collected.ties, collected.missed) if cell not in never),
        exhaustive=not explored.cut,
        bound=explored.bound,
    )


def best_score(problem: SearchProblem, *, budget: int = BUDGET) -> tuple[int, int]:
    """Return the best score found, and the best possible: the same if the search was exhaustive. Collects no ties."""
    explored = explore(_runs(lay_out(problem)), budget, ties=False)
    return explored.score, explored.bound


def _runs(layout: Layout) -> list[RoundingSearch]:
    """Return a run for each rounding of FLOPs, or one where none are printed, with the settings that go with it."""
    settings = list(enumerate(layout.settings))
    if not any(len(part.flops) for part in layout.parts):
        return [search_of(layout, None, [place for place, _ in settings])]
    return [
        search_of(layout, rounding, [p for p, s in settings if s.rounding in (None, rounding)])
        for rounding in layout.problem.roundings
    ]


@dataclass
class _Collected:
    """All ties, and how near the best solutions come to each FLOPs cell; some of them miss the `missed` ones."""

    layout: Layout
    ties: list[Ties] = field(default_factory=list)
    near: dict[int, Miss] = field(default_factory=dict)
    missed: set[int] = field(default_factory=set)
    _choices: dict[tuple[int, int, int], WeightChoice] = field(default_factory=dict)
    _readings: dict[tuple[str, int, bytes], Integers] = field(default_factory=dict)

    def add(self, run: RoundingSearch, boxes: Boxes, score: int) -> None:
        """Add the solutions in the boxes of a run that reach the score."""
        step = boxes_at_once(run)
        for start in range(0, len(boxes), step):
            self._add(run, boxes.take(slice(start, start + step)), score)

    def _add(self, run: RoundingSearch, boxes: Boxes, score: int) -> None:
        """Parts choose independently: with weights and a setting given, each takes any of its best profiles."""
        low, high = corners(boxes, run.bundles)
        counts = [find_scope(view, low, high)[0].sum(axis=0) for view in run.views]
        tops = [tops_of(view, count) for view, count in zip(run.views, counts, strict=True)]
        winning = np.sum(tops, axis=0) == score
        best = [  # (boxes, settings, profiles)
            (count[:, np.newaxis] + view.points == top[..., np.newaxis]) & winning[..., np.newaxis]
            for view, count, top in zip(run.views, counts, tops, strict=True)
        ]
        for view, chosen in zip(run.views, best, strict=True):
            self._approach(view, chosen.any(axis=1), low, high)
        weights = [tuple(self._weights(*box)) for box in zip(boxes.low.tolist(), boxes.high.tolist(), strict=True)]
        for box, which in np.argwhere(winning).tolist():
            readings = {
                view.part.group: self._readings_of_profiles(view, chosen[box, which], run.settings[which])
                for view, chosen in zip(run.views, best, strict=True)
                if view.part.group
            }
            setting = self.layout.settings[run.settings[which]]
            self.ties.append(Ties(setting.convention, setting.rounding, run.rounding, readings, weights[box]))

    def _readings_of_profiles(self, view: View, chosen: Truths, setting: int) -> Integers:
        """Return the readings of the chosen profiles that explain the most sizes of theirs; equal ones are one."""
        key = view.part.group, setting, view.profiles[chosen].tobytes()
        if key not in self._readings:
            part = view.part
            kept = np.zeros(len(part.readings), dtype=np.bool_)
            kept[view.profiles[chosen]] = True
            self._readings[key] = np.flatnonzero(kept[part.profile_of] & part.are_best[setting])
        return self._readings[key]

    def _weights(self, low: list[int], high: list[int]) -> Iterator[WeightChoice]:
        for axis, ends in enumerate(zip(low, high, strict=True)):
            key = axis, *ends
            if key not in self._choices:
                bundle = self.layout.bundles[axis]
                self._choices[key] = WeightChoice(bundle.classes, bundle.between(*ends))
            yield self._choices[key]

    def _approach(self, view: View, chosen: Truths, low: Floats, high: Floats) -> None:
        """Note how near the chosen profiles, (boxes, profiles), come to each cell: the nearest total is a corner's."""
        least, most = low @ view.work, high @ view.work
        for index, place in enumerate(view.part.flops):
            nearest = np.where(most[index] < view.low[index], most[index], least[index])[chosen]
            new = _miss_of(nearest.astype(np.int64), int(view.low[index]), int(view.high[index]))
            self.near[int(place)] = min(self.near.get(int(place), new), new)
            if np.any((nearest < view.low[index]) | (nearest > view.high[index])):
                self.missed.add(int(place))


def best_readings(ties: Sequence[Ties]) -> dict[str, Integers]:
    """Return the readings of each group that some best solution has, ascending."""
    groups: dict[str, dict[int, Integers]] = {}
    for one in ties:
        for group, readings in one.readings.items():
            groups.setdefault(group, {})[id(readings)] = readings  # many ties share one array
    return {group: np.unique(np.concatenate(list(some.values()))) for group, some in groups.items()}


def _find_axes(problem: SearchProblem, ties: Sequence[Ties]) -> Iterator[SolvedAxis]:
    for group, readings in best_readings(ties).items():
        space = problem.spaces[group]
        named = {name: space.values_at(at[group]) for name, at in problem.named.items() if group in at}
        for (axis, tried), places in zip(space.axes, np.unravel_index(readings, space.shape), strict=True):
            yield SolvedAxis(
                family=group,
                axis=axis,
                values=tuple(tried[place] for place in np.unique(places)),
                tried=tried,
                named={name: values[axis] for name, values in named.items()},
            )


def _find_contradictions(
    problem: SearchProblem, ties: Sequence[Ties], near: Mapping[int, Miss]
) -> Iterator[SolvedCell]:
    """Yield the cells that no best solution explains; `near` has how near the best come to each cell of FLOPs."""
    for place, cell in enumerate(problem.cells):
        miss = near.get(place) if cell.kind == "flops" else _nearest_size(problem, cell, ties)
        if miss is None:
            yield SolvedCell(id=cell.id)
        elif miss.distance:
            yield SolvedCell(id=cell.id, value=miss.value, gap=decimal_text(Fraction(miss.gap) / cell.step, 2))


def _find_disputed(problem: SearchProblem, ties: Sequence[Ties], missed: Collection[int]) -> Iterator[str]:
    """Yield the cells that some best solutions explain and others do not, and those of FLOPs at `missed`."""
    for place, cell in enumerate(problem.cells):
        if cell.kind == "flops" and place in missed:
            yield cell.id
        if cell.kind == "parameters" and any(
            _misses(values, least, most) for values, least, most in _counts(problem, cell, ties)
        ):
            yield cell.id


def _nearest_size(problem: SearchProblem, cell: Cell, ties: Sequence[Ties]) -> Miss | None:
    """Return how near the best solutions come to a printed size; None where none has a count for it."""
    found = _counts(problem, cell, ties)
    return min((_miss_of(sizes, least, most) for sizes, least, most in found if sizes is not None), default=None)


def _misses(sizes: Integers | None, least: int, most: int) -> bool:
    return sizes is None or bool(np.any((sizes < least) | (sizes > most)))


def _counts(problem: SearchProblem, cell: Cell, ties: Sequence[Ties]) -> Iterator[tuple[Integers | None, int, int]]:
    """Yield for each way that the best solutions count and round sizes what they give for one, and its range."""
    row = problem.rows[cell.row]
    settings: dict[tuple[str | None, Rounding | None], list[Ties]] = {}
    for one in ties:
        settings.setdefault((one.parameter_convention, one.parameter_rounding), []).append(one)
    for (convention, rounding), some in settings.items():
        sizes = row.parameters.get(convention or "")
        if sizes is not None and len(sizes) > 1:
            sizes = sizes[best_readings(some)[row.group]]
        if rounding is not None:
            yield sizes, *cell.ranges[rounding]


def _miss_of(values: Integers, least: int, most: int) -> Miss:
    gaps = np.where(values < least, values - least, np.maximum(values - most, 0))
    place = int(np.abs(gaps).argmin())
    return Miss(abs(int(gaps[place])), int(gaps[place]), int(values[place]))


TABLES = 10
_NULL_BUDGET = 1_000_000  # for each table: what remains open after that is reported as a bound


def null_scores(
    problem: SearchProblem, *, tables: int = TABLES, budget: int = _NULL_BUDGET
) -> Iterator[tuple[int, int]]:
    """Yield what `best_score` does for the same search on tables with the last digits of all cells shifted."""
    for number in range(tables):
        yield best_score(shift_digits(problem, number), budget=budget)


def shift_digits(problem: SearchProblem, number: int) -> SearchProblem:
    """Return the problem of the same models and other numbers; equal arguments give equal numbers.

    Every cell is moved up or down by 2 to 9 units of its last digit: by less, it could still be right by another
    rounding rule.
    """
    return replace(problem, cells=tuple(_shift_cell(cell, number) for cell in problem.cells))


def _shift_cell(cell: Cell, number: int) -> Cell:
    drawn = int.from_bytes(sha256(f"{number}/{cell.id}".encode()).digest()[:4], "big")
    units = (2 + drawn // 2 % 8) * (1 if drawn % 2 else -1)
    move = int(units * cell.step)
    return replace(cell, ranges={rule: (least + move, most + move) for rule, (least, most) in cell.ranges.items()})
