"""Branch and bound over boxes of weights: the best score, and every box in which it is reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from imlp_audit.solve.bounds import BoxBounds, RoundingSearch, judge
from imlp_audit.solve.problem import Integers
from imlp_audit.solve.weights import Boxes

_PRODUCTS = (
    250_000  # size of one matrix product: OpenBLAS splits larger ones among threads, which costs more than it saves
)
_MOST_BOXES = 512  # more would examine many boxes before learning anything from them
_BEAM = 16  # boxes that a dive follows
_KEPT = 500  # pairs that a box of best solutions counts for: writing it out takes about as long as looking at them


@dataclass
class _Pool:
    """The open boxes, sorted by their bounds."""

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
    """The best score of some runs, the boxes of each run that reach it, and how many pairs were examined.

    The score is -1, without boxes, where no score as good as asked was found. `bound` is the most that is possible:
    the score, unless `cut` says that the budget ended first.
    """

    score: int
    bound: int
    found: tuple[tuple[RoundingSearch, Boxes], ...]
    looked: int
    cut: bool


def explore(runs: Sequence[RoundingSearch], floor: int, budget: int, *, ties: bool) -> Explored:
    """Find the best score of several runs that is no less than `floor`, and the boxes in which it is reached.

    Boxes of the highest bound come first, whatever their run: one whose bound is below what another is found to
    explain is never cut. Without `ties`, boxes that cannot beat the best known score are left out too, and
    some box of the best score is found.
    """
    target, searches = floor, [_Search(run) for run in runs]
    for search in searches:
        target = search.look(Boxes.whole(search.run.bundles), target, ties=ties)
    while (search := max(searches, key=lambda one: one.pool.bound)).pool.bound >= target:
        if sum(one.spent(ties=ties) for one in searches) >= budget:
            return _cut_short(searches, search, floor)
        target = search.look(search.next(target), target, ties=ties)
    return _best_of(searches, -1)


def _best_of(searches: Sequence[_Search], bound: int) -> Explored:
    """Return what was found; `bound` is that of the boxes that were left open, -1 where none was."""
    score = max(search.score for search in searches)
    return Explored(
        score=score,
        bound=max(score, bound),
        found=tuple((s.run, Boxes.concatenate(s.done)) for s in searches if s.score == score and s.done),
        looked=sum(search.looked for search in searches),
        cut=bound >= 0,
    )


def _cut_short(searches: Sequence[_Search], search: _Search, floor: int) -> Explored:
    """Return what was found when the budget ended, or what a dive from the best open boxes finds, if that is better."""
    bound = search.pool.bound
    dived = _dive(search, max(floor, 1 + max(one.score for one in searches)))
    return _best_of([*searches, dived], bound)


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
