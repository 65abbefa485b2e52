"""Branch and bound over boxes of weights: the best score, and every box in which it is reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.layout import Boxes, Bundle, GroupPart, Layout, corners
from imlp_audit.solve.problem import Integers

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class View:
    """A part under one rounding of FLOPs: its cells' least and largest integers, and the profiles that are left.

    `points`, (settings, profiles), is the number of sizes that a profile explains; `work` is (cells, bundles,
    profiles).
    """

    part: GroupPart
    profiles: Integers
    low: Floats
    high: Floats
    work: Floats
    points: Integers

    @cached_property
    def least(self) -> Floats:
        """The least work of any profile, (cells, bundles)."""
        least: Floats = self.work.min(axis=2)
        return least

    @cached_property
    def most(self) -> Floats:
        """The most work of any profile, (cells, bundles)."""
        most: Floats = self.work.max(axis=2)
        return most

    @cached_property
    def most_points(self) -> Integers:
        """The most that any profile could explain, by setting."""
        most: Integers = self.points.max(axis=1) + len(self.low)
        return most

    def keep_profiles(self, wanted: Truths) -> View:
        """Return the view of only some profiles."""
        work = np.ascontiguousarray(self.work[..., wanted])
        return replace(self, profiles=self.profiles[wanted], work=work, points=self.points[:, wanted])


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
        pairs = zip(self.views, wanted, strict=True)
        views = (view if keep.all() or not keep.any() else view.keep_profiles(keep) for view, keep in pairs)
        return replace(self, views=tuple(views))


@dataclass(frozen=True, eq=False)
class BoxBounds:
    """For each box: the most it can explain, whether it is closed (need not be cut), and the bundle to cut it along."""

    bound: Integers
    closed: Truths
    axes: Integers


def search_of(layout: Layout, rounding: Rounding | None, settings: Sequence[int]) -> RoundingSearch:
    """Return the search under one rounding of FLOPs and some settings."""
    views = []
    for part in layout.parts:
        ranges = [layout.problem.cells[place].ranges[rounding] for place in part.flops] if rounding else []
        low, high = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
        points = part.most_points[list(settings)]
        views.append(View(part, np.arange(len(part.readings)), low, high, part.work, points))
    return RoundingSearch(rounding, tuple(settings), layout.bundles, tuple(views))


def find_scope(view: View, low: Floats, high: Floats) -> tuple[Truths, Truths]:
    """Say which FLOPs cells some totals of each box and profile meet, and which all: (cells, boxes, profiles) each.

    Work is none or more, so a total is least at a box's least weights and largest at its largest: a cell whose
    range lies outside is explained by no weights in the box, and one that holds both ends by all of them.
    """
    least, most = low @ view.work, high @ view.work
    bottom, top = view.low[:, np.newaxis, np.newaxis], view.high[:, np.newaxis, np.newaxis]
    return (most >= bottom) & (least <= top), (least >= bottom) & (most <= top)


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
    reached = [find_scope(view, low, high) for view in run.views]
    counts = [some.sum(axis=0) for some, _ in reached]
    tops = [tops_of(view, count) for view, count in zip(run.views, counts, strict=True)]
    together = np.sum(tops, axis=0)
    bound = together.max(axis=1)
    open_ = np.zeros(len(low), dtype=np.bool_)
    pull = np.zeros_like(low)
    for view, (some, every), count, top in zip(run.views, reached, counts, tops, strict=True):
        matters = best_of(view, count, together - top) == bound[:, np.newaxis]
        undecided = (some & ~every & matters).any(axis=2)
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


_PRODUCTS = 250_000  # size of a matrix product: OpenBLAS splits larger ones among threads, which costs more
_MOST_BOXES = 512  # more would examine many boxes before learning anything from them
_BEAM = 16  # boxes that a dive follows
_KEPT = 500  # pairs that a box of best solutions counts for: writing it out takes about as long as looking at them


@dataclass
class _Pool:
    by_bound: dict[int, list[tuple[Boxes, Integers]]] = field(default_factory=dict)

    def push(self, boxes: Boxes, verdict: BoxBounds, target: int) -> None:
        """Keep the open boxes that could reach the target."""
        for bound in np.unique(verdict.bound[~verdict.closed & (verdict.bound >= target)]):
            places = np.flatnonzero(~verdict.closed & (verdict.bound == bound))
            self.by_bound.setdefault(int(bound), []).append((boxes.take(places), verdict.axes[places]))

    @property
    def bound(self) -> int:
        """The highest bound of an open box; -1 where none is open."""
        return max(self.by_bound, default=-1)

    def pop(self, most: int) -> Boxes:
        """Return the halves of some boxes of the highest bound, those put here last."""
        bound = self.bound
        boxes, axes = self.by_bound[bound].pop()
        if len(boxes) > most:
            self.by_bound[bound].append((boxes.take(slice(most, None)), axes[most:]))
        if not self.by_bound[bound]:
            del self.by_bound[bound]
        return boxes.take(slice(most)).halves(axes[:most])


@dataclass
class _Search:
    """The open boxes of a run, and those in which the best score was found so far."""

    run: RoundingSearch
    pool: _Pool = field(default_factory=_Pool)
    done: list[Boxes] = field(default_factory=list)
    score: int = -1
    looked: int = 0

    def spent(self, *, ties: bool) -> int:
        """Return what this search counts against the budget: what it looked at, and the ties to be written out."""
        return self.looked + (_KEPT * sum(map(len, self.done)) if ties else 0)

    def look(self, boxes: Boxes, target: int, *, ties: bool) -> int:
        """Judge some boxes and return the new target: the best score, or one more without `ties`.

        Exact: a box is left out only where its bound, which is never too low, is below the target; every other box
        is kept to be cut until it is closed, and what a closed box's bound counts is explained everywhere in it.
        """
        self.looked += pairs(self.run, len(boxes))
        verdict = judge(self.run, boxes, target)
        reached = np.where(verdict.closed, verdict.bound, -1)
        best = int(reached.max())
        if best >= target:
            self.done = [*(self.done if best == self.score else []), boxes.take(reached == best)]
            self.score = best
            target = best if ties else best + 1
        self.pool.push(boxes, verdict, target)
        return target

    def next(self, target: int) -> Boxes:
        """Return the boxes to look at next."""
        self.run = self.run.prune(target)
        return self.pool.pop(boxes_at_once(self.run))


@dataclass(frozen=True, eq=False)
class Explored:
    """The best score of some runs, and the boxes of each run that reach it.

    `bound` is the most that is possible: the score, unless `cut` says that the budget ended first.
    """

    score: int
    bound: int
    found: tuple[tuple[RoundingSearch, Boxes], ...]
    cut: bool


def explore(runs: Sequence[RoundingSearch], budget: int, *, ties: bool) -> Explored:
    """Find the best score of several runs, and the boxes in which it is reached.

    Boxes of the highest bound come first, whatever their run: one whose bound is below what another is found to
    explain is never cut. Without `ties`, boxes that cannot beat the best known score are left out too, and
    some box of the best score is found. Where the budget ends it, a dive from the best open boxes may do better.
    """
    target, searches = 0, [_Search(run) for run in runs]
    for search in searches:
        target = search.look(Boxes.whole(search.run.bundles), target, ties=ties)
    while (search := max(searches, key=lambda one: one.pool.bound)).pool.bound >= target:
        if sum(one.spent(ties=ties) for one in searches) >= budget:
            bound, best = search.pool.bound, max(one.score for one in searches)
            return _best_of([*searches, _dive(search, 1 + best)], bound)
        target = search.look(search.next(target), target, ties=ties)
    return _best_of(searches, -1)


def _best_of(searches: Sequence[_Search], bound: int) -> Explored:
    """Return what was found; `bound` is that of the boxes that were left open, -1 where none was."""
    score = max(search.score for search in searches)
    return Explored(
        score=score,
        bound=max(score, bound),
        found=tuple((s.run, Boxes.concatenate(s.done)) for s in searches if s.score == score and s.done),
        cut=bound >= 0,
    )


def _dive(search: _Search, target: int) -> _Search:
    """Look for solutions of at least the target by following the highest bounds of a few boxes."""
    dive, boxes = _Search(search.run), search.pool.pop(boxes_at_once(search.run))
    while len(boxes):
        dive.looked += pairs(dive.run, len(boxes))
        verdict = judge(dive.run, boxes, target)
        reached = np.where(verdict.closed, verdict.bound, -1)
        if reached.max() >= target:
            dive.score, dive.done = int(reached.max()), [boxes.take(reached == reached.max())]
            target = dive.score + 1
        order = np.argsort(-verdict.bound, kind="stable")
        best = order[~verdict.closed[order] & (verdict.bound[order] >= target)][:_BEAM]
        boxes = boxes.take(best).halves(verdict.axes[best])
    return dive


def pairs(run: RoundingSearch, boxes: int) -> int:
    """Return the cost of a step: its pairs of a box and a reading, where readings of equal work count once."""
    return boxes * sum(len(view.profiles) for view in run.views)


def boxes_at_once(run: RoundingSearch) -> int:
    """Return how many boxes to look at in one step."""
    widest = max((view.work.shape[1] * view.work.shape[2] for view in run.views), default=0)
    return min(_MOST_BOXES, max(1, _PRODUCTS // (widest + 1)))
