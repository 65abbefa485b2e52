"""From boxes in which the best score is reached to the solutions in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from imlp_audit.solve.answer import Choice, Miss, Ties
from imlp_audit.solve.bounds import Floats, Run, Truths, View, reach, tops_of
from imlp_audit.solve.boxes import Boxes, corners
from imlp_audit.solve.explore import boxes_at_once
from imlp_audit.solve.parts import Layout
from imlp_audit.solve.pinned import miss_of
from imlp_audit.solve.problem import Integers


@dataclass
class Collected:
    """All ties, and for each cell of FLOPs how near the best solutions come to it; `missed` by some of them."""

    layout: Layout
    ties: list[Ties] = field(default_factory=list)
    near: dict[int, Miss] = field(default_factory=dict)
    missed: set[int] = field(default_factory=set)
    _choices: dict[tuple[int, int, int], Choice] = field(default_factory=dict)
    _readings: dict[tuple[str, int, bytes], Integers] = field(default_factory=dict)

    def add(self, run: Run, boxes: Boxes, score: int) -> None:
        """Add the solutions in boxes of a run in which a score is reached."""
        step = boxes_at_once(run)
        for start in range(0, len(boxes), step):
            self._add(run, boxes.take(slice(start, start + step)), score)

    def _add(self, run: Run, boxes: Boxes, score: int) -> None:
        """Parts choose independently: with weights and a setting given, each takes any of its best profiles."""
        low, high = corners(boxes, run.bundles)
        counts = [reach(view, low, high).some.sum(axis=0) for view in run.views]
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
                view.part.group: self._chosen(view, chosen[box, which], run.settings[which])
                for view, chosen in zip(run.views, best, strict=True)
                if view.part.group
            }
            setting = self.layout.settings[run.settings[which]]
            self.ties.append(Ties(setting.convention, setting.rounding, run.rounding, readings, weights[box]))

    def _chosen(self, view: View, chosen: Truths, setting: int) -> Integers:
        """Return the readings of the chosen profiles; equal ones are one array, as ties are many."""
        key = view.part.group, setting, view.profiles[chosen].tobytes()
        if key not in self._readings:
            self._readings[key] = _readings(view, chosen, setting)
        return self._readings[key]

    def _weights(self, low: list[int], high: list[int]) -> Iterator[Choice]:
        for axis, ends in enumerate(zip(low, high, strict=True)):
            key = axis, *ends
            if key not in self._choices:
                bundle = self.layout.bundles[axis]
                self._choices[key] = Choice(bundle.classes, bundle.between(*ends))
            yield self._choices[key]

    def _approach(self, view: View, chosen: Truths, low: Floats, high: Floats) -> None:
        """Note how near the chosen profiles, (boxes, profiles), come to each cell.

        A cell is inside or outside throughout a closed box, so the nearest total is that of a corner.
        """
        least, most = low @ view.work, high @ view.work
        for index, place in enumerate(view.part.flops):
            nearest = np.where(most[index] < view.low[index], most[index], least[index])[chosen]
            new = miss_of(nearest.astype(np.int64), int(view.low[index]), int(view.high[index]))
            self.near[int(place)] = min(self.near.get(int(place), new), new)
            if np.any((nearest < view.low[index]) | (nearest > view.high[index])):
                self.missed.add(int(place))


def _readings(view: View, chosen: Truths, setting: int) -> Integers:
    """Return the readings of the chosen profiles that explain the most sizes of their profile."""
    part = view.part
    found = [
        readings[part.points[setting, readings] == part.most_points[setting, profile]]
        for profile in view.profiles[chosen]
        for readings in [part.readings[profile]]
    ]
    return np.sort(np.concatenate(found))
