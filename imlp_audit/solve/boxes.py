"""Boxes of weights: for each bundle a run of its values. The search works on many of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imlp_audit.solve.bundles import Bundle
from imlp_audit.solve.problem import Integers


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
    def joined(cls, parts: Sequence[Boxes]) -> Boxes:
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
        return Boxes.joined([Boxes(self.low, below), Boxes(above, self.high)])


def corners(boxes: Boxes, bundles: Sequence[Bundle]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest values, (boxes, bundles) each."""
    low, high = np.empty(boxes.low.shape), np.empty(boxes.high.shape)
    for axis, bundle in enumerate(bundles):
        low[:, axis], high[:, axis] = bundle.values[boxes.low[:, axis]], bundle.values[boxes.high[:, axis]]
    return low, high
