"""Upper bounds on what a box of weights can explain, and whether a box has to be cut further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.parts import GroupPart, Layout
from imlp_audit.solve.problem import Integers
from imlp_audit.solve.weights import Boxes, Bundle, corners

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class View:
    """A part under one rounding of FLOPs: its cells' least and largest integers, and the profiles that are left.

    `points`, (settings, profiles), is the number of sizes that a profile explains; `work` is (cells, bundles,
    profiles), `least` and `most` its extremes over the profiles.
    """

    part: GroupPart
    profiles: Integers
    low: Floats
    high: Floats
    work: Floats
    least: Floats
    most: Floats
    points: Integers

    @property
    def most_points(self) -> Integers:
        """The most that any profile could explain, by setting."""
        most: Integers = self.points.max(axis=1) + len(self.low)
        return most

    def keep_profiles(self, wanted: Truths) -> View:
        """Return the view of only some profiles."""
        work = np.ascontiguousarray(self.work[..., wanted])
        return View(
            self.part,
            self.profiles[wanted],
            self.low,
            self.high,
            work,
            work.min(axis=2),
            work.max(axis=2),
            self.points[:, wanted],
        )


@dataclass(frozen=True, eq=False)
class RoundingSearch:
    """A search under one rounding of FLOPs (None where none are printed) and some of the layout's settings."""

    rounding: Rounding | None
    settings: tuple[int, ...]
    bundles: tuple[Bundle, ...]
    views: tuple[View, ...]

    def prune(self, target: int) -> RoundingSearch:
        """Leave out profiles that cannot be in a solution of `target` cells.

        Safe: a solution explains at most its profile's sizes, that part's FLOPs cells, and the most of each other part.
        """
        together = sum(view.most_points for view in self.views)
        wanted = [
            (view.points + len(view.low) + (together - view.most_points)[:, np.newaxis]).max(axis=0) >= target
            for view in self.views
        ]
        views = tuple(
            view if keep.all() or not keep.any() else view.keep_profiles(keep)
            for view, keep in zip(self.views, wanted, strict=True)
        )
        return RoundingSearch(self.rounding, self.settings, self.bundles, views)


@dataclass(frozen=True, eq=False)
class BoxBounds:
    """For each box: the most it can explain, whether it is closed (need not be cut), and the bundle to cut it along."""

    bound: Integers
    closed: Truths
    axes: Integers


@dataclass(frozen=True, eq=False)
class CellReach:
    """Which FLOPs cells of a part the boxes reach at all, and which contain them: (cells, boxes, profiles)."""

    some: Truths
    all: Truths


def search_of(layout: Layout, rounding: Rounding | None, settings: Sequence[int]) -> RoundingSearch:
    """Return the search under one rounding of FLOPs and some settings."""
    views = tuple(_view(layout, part, rounding, list(settings)) for part in layout.parts)
    return RoundingSearch(rounding, tuple(settings), layout.bundles, views)


def _view(layout: Layout, part: GroupPart, rounding: Rounding | None, settings: list[int]) -> View:
    ranges = [layout.problem.cells[place].ranges[rounding] for place in part.flops] if rounding else []
    low, high = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    return View(
        part=part,
        profiles=np.arange(len(part.readings)),
        low=low,
        high=high,
        work=part.work,
        least=part.work.min(axis=2),
        most=part.work.max(axis=2),
        points=part.most_points[settings],
    )


def reach(view: View, low: Floats, high: Floats) -> CellReach:
    """Say which cells the totals of each box and profile meet.

    Work is none or more, so a total is least at a box's least weights and largest at its largest: a cell whose
    range lies outside is explained by no weights in the box, and one that holds both ends by all of them.
    """
    least, most = low @ view.work, high @ view.work
    bottom, top = view.low[:, np.newaxis, np.newaxis], view.high[:, np.newaxis, np.newaxis]
    return CellReach((most >= bottom) & (least <= top), (least >= bottom) & (most <= top))


def judge(run: RoundingSearch, boxes: Boxes, target: int) -> BoxBounds:
    """Bound what each box can explain; a bound below `target` may be rough, since that box can be left out."""
    low, high = corners(boxes, run.bundles)
    verdict = BoxBounds(_rough(run, low, high), np.zeros(len(boxes), dtype=np.bool_), np.zeros(len(boxes), np.int64))
    kept = np.flatnonzero(verdict.bound >= target)
    if len(kept):
        exact = _exact(run, low[kept], high[kept])
        verdict.bound[kept], verdict.closed[kept], verdict.axes[kept] = exact.bound, exact.closed, exact.axes
    return verdict


def _rough(run: RoundingSearch, low: Floats, high: Floats) -> Integers:
    """Bound as if each cell, and each size, could have the profile that suits it best: never too low."""
    bound = np.zeros((len(low), len(run.settings)), dtype=np.int64)
    for view in run.views:
        met = (high @ view.most.T >= view.low) & (low @ view.least.T <= view.high)
        bound += met.sum(axis=1)[:, np.newaxis] + view.points.max(axis=1)
    most: Integers = bound.max(axis=1)
    return most


def _exact(run: RoundingSearch, low: Floats, high: Floats) -> BoxBounds:
    """Bound by the best profile of each part: given the weights and the setting, parts choose independently.

    A box is closed where, for every profile with which the bound could be reached, each cell is explained by all its
    weights or by none: then the bound is reached everywhere in it, and with these profiles alone.
    """
    reached = [reach(view, low, high) for view in run.views]
    counts = [met.some.sum(axis=0) for met in reached]
    tops = [tops_of(view, count) for view, count in zip(run.views, counts, strict=True)]
    together = np.sum(tops, axis=0)
    bound = together.max(axis=1)
    open_ = np.zeros(len(low), dtype=np.bool_)
    pull = np.zeros_like(low)
    for view, met, count, top in zip(run.views, reached, counts, tops, strict=True):
        matters = best_of(view, count, together - top) == bound[:, np.newaxis]
        undecided = (met.some & ~met.all & matters).any(axis=2)
        open_ |= undecided.any(axis=0)
        pull += (undecided / (view.high - view.low + 1)[:, np.newaxis]).T @ view.most
    spread = (high - low) * pull
    axes = spread.argmax(axis=1) if run.bundles else np.zeros(len(low), dtype=np.int64)
    return BoxBounds(bound, ~open_, axes)


def tops_of(view: View, counts: Integers) -> Integers:
    """Return the most that one profile explains, (boxes, settings), given what each reaches, (boxes, profiles)."""
    return np.stack([(counts + points).max(axis=1) for points in view.points], axis=1)


def best_of(view: View, counts: Integers, others: Integers) -> Integers:
    """Return the best score, (boxes, profiles), that goes with each profile; `others` is (boxes, settings)."""
    best = np.full(counts.shape, -1)
    for which, points in enumerate(view.points):
        np.maximum(best, counts + points + others[:, which, np.newaxis], out=best)
    return best
