"""The steepest slope of GeLU between two fractions: every series is cut where the next term bounds what is left out.

The slope of GeLU has its extremes at -sqrt 2 and sqrt 2 (slopes.py). The higher one is Phi(sqrt 2) + sqrt 2 phi(sqrt 2)
= 1/2 + (sum_k (-1)^k / (k! (2k + 1)) + exp(-1)) / sqrt pi, where the sum is sqrt(pi) erf(1) / 2; both add up to 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import factorial, isqrt

from imlp_audit.numbers.interval import Interval

_TERMS = 24  # 24! is above 2^79
_SCALE = 2**80


def enclose_steepest_slope() -> Interval:
    """Return an interval of less than 2^-70 that holds the highest slope of GeLU."""
    numerator, root = _error_sum() + _exp_of_minus_one(), enclose_root(enclose_pi())
    return Interval.point(Fraction(1, 2)) + Interval(numerator.low / root.high, numerator.high / root.low)


@cache
def _error_sum() -> Interval:
    return _alternate(Fraction(1, factorial(k) * (2 * k + 1)) for k in range(_TERMS))


@cache
def _exp_of_minus_one() -> Interval:
    return _alternate(Fraction(1, factorial(k)) for k in range(_TERMS))


@cache
def enclose_pi() -> Interval:
    """Enclose pi, 16 atan(1/5) - 4 atan(1/239) (Machin)."""
    return _atan(5) * 16 - _atan(239) * 4


def _atan(reciprocal: int) -> Interval:
    return _alternate(Fraction(1, (2 * k + 1) * reciprocal ** (2 * k + 1)) for k in range(_TERMS))


def _alternate(terms: Iterable[Fraction]) -> Interval:
    """Enclose the sum of a_0 - a_1 + a_2 - ..., whose terms fall towards 0, between its last two partial sums."""
    before = after = Fraction(0)
    for place, term in enumerate(terms):
        before, after = after, after + (-term if place % 2 else term)
    return Interval(min(before, after), max(before, after))


def enclose_root(square: Interval) -> Interval:
    """Enclose the root of what lies in an interval above 0."""
    low, high = (isqrt(int(end * _SCALE**2)) for end in (square.low, square.high))
    return Interval(Fraction(low, _SCALE), Fraction(high + 1, _SCALE))
