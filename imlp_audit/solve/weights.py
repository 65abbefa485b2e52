"""The weights to search: bundles of classes of work that no number distinguishes, and boxes of their values.

A box has for each bundle a run of its values. The search works on many of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from imlp_audit.solve.problem import Integers

_MOST = 3000  # combinations of weights in one bundle; further proportional classes get a bundle of their own


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
        if members and prod(len(weights[p]) for p, _ in members) * len(weights[place]) > _MOST:
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
