"""Branch and bound over boxes of weights: the best score, and every box in which it is reached."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from imlp_audit.solve.bounds import Run, Verdict, judge
from imlp_audit.solve.boxes import Boxes
from imlp_audit.solve.problem import Integers

_AT_ONCE = 1_500_000  # pairs of a cell and a profile that are looked at in one step
_MOST_BOXES = 512  # more would look far and wide before anything is learnt from them
_BEAM = 16  # boxes that the first dive follows


@dataclass(frozen=True, eq=False)
class Found:
    """The best score of a run, the boxes in which it is reached, and the number of boxes looked at.

    `bound` is the most that is possible: the score, unless the budget ended first, which `cut` says. `boxes` is
    None where the run explains less than it had to.
    """

    score: int
    bound: int
    boxes: Boxes | None
    nodes: int
    cut: bool
    run: Run


@dataclass
class _Pool:
    """Open boxes by their bounds."""

    by_bound: dict[int, list[tuple[Boxes, Integers]]] = field(default_factory=dict)

    def push(self, boxes: Boxes, verdict: Verdict, target: int) -> None:
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


def explore(run: Run, floor: int, budget: int, *, ties: bool) -> Found:
    """Find the best score of a run, if it is no less than `floor`, and the boxes in which it is reached.

    Exact: a box is left out only where its bound, which is never too low, is below the best score known; every other
    box is cut in two until it is closed, and what a closed box's bound counts, all its weights explain. Without
    `ties`, boxes that could do no better than what is known are left out too, and one box is found.
    """
    dived, landed = _dive(run, floor)
    target = max(floor, dived)
    pool, boxes, done = _Pool(), Boxes.whole(run.bundles), list[Boxes]()
    score, nodes = -1, 0
    while len(boxes):
        nodes += len(boxes)
        verdict = judge(run, boxes, target)
        reached = np.where(verdict.closed, verdict.bound, -1)
        if reached.max() >= target:
            done = done if reached.max() == score else []
            score = int(reached.max())
            done.append(boxes.take(reached == score))
            target = score if ties else score + 1
            run = run.narrowed(target)
        pool.push(boxes, verdict, target)
        if pool.bound < target or nodes >= budget:
            break
        boxes = pool.pop(boxes_at_once(run))
    if not done and landed is not None:  # the budget ended before the search came as far as the dive
        score, done = dived, [landed]
    cut = pool.bound >= target
    bound = max(score, pool.bound) if cut else score
    return Found(score, bound, Boxes.joined(done) if done else None, nodes, cut, run)


def _dive(run: Run, target: int) -> tuple[int, Boxes | None]:
    """Return a score no less than `target` and a box that has it, found by following the highest bounds, or -1."""
    boxes, score, landed = Boxes.whole(run.bundles), -1, None
    while len(boxes):
        verdict = judge(run, boxes, max(target, score + 1))
        reached = np.where(verdict.closed, verdict.bound, -1)
        if reached.max() > max(target - 1, score):
            score, landed = int(reached.max()), boxes.take(reached == reached.max())
        order = np.argsort(-verdict.bound, kind="stable")
        open_ = order[~verdict.closed[order] & (verdict.bound[order] > max(target - 1, score))][:_BEAM]
        boxes = boxes.take(open_).halves(verdict.axes[open_])
    return score, landed


def boxes_at_once(run: Run) -> int:
    """Return how many boxes to look at in one step."""
    pairs = sum(len(view.low) * len(view.profiles) for view in run.views)
    return min(_MOST_BOXES, max(1, _AT_ONCE // (2 * pairs + 1)))
