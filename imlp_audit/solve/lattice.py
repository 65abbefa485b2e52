"""How many sums of independent integers lie in a range: counted, not sampled."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

import numpy as np

from imlp_audit.solve.problem import Integers

_MOST = 1_000_000  # different sums of one half


class TooManyError(Exception):
    """There are too many different sums to be listed."""


def share_within(terms: Sequence[Integers], least: int, most: int) -> Fraction:
    """Return the share of the sums, of one value of each term, that lie in a range, both ends included.

    The terms are dealt to two halves; for each sum of one half, those of the other that complete it are neighbours
    in order. Raises TooManyError where a half has more sums than can be listed.
    """
    halves = [(np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64))] * 2
    for term in sorted(terms, key=len, reverse=True):
        halves.sort(key=lambda half: len(half[0]))
        halves[0] = _added(halves[0], term)
    (sums, counts), (others, times) = halves
    up_to = np.concatenate([[0], np.cumsum(times)])
    first, last = np.searchsorted(others, least - sums, "left"), np.searchsorted(others, most - sums, "right")
    within = sum(int(n) * int(m) for n, m in zip(counts, up_to[last] - up_to[first], strict=True))
    return Fraction(within, prod(map(len, terms)))


def _added(half: tuple[Integers, Integers], term: Integers) -> tuple[Integers, Integers]:
    """Return the different sums, ascending, and how often each comes about, with one more term."""
    sums, counts = half
    values, times = np.unique(term, return_counts=True)
    if len(sums) * len(values) > _MOST:
        raise TooManyError
    every = (sums[:, np.newaxis] + values).ravel()
    distinct, places = np.unique(every, return_inverse=True)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, places, (counts[:, np.newaxis] * times).ravel())
    return distinct, total
