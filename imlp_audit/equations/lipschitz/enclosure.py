"""Functions of fractions between two fractions: results are rounded outward, and series cut by a bound on what is left.

Products, quotients, roots and powers are of intervals whose members are not negative.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import ceil, factorial, floor, isqrt

from imlp_audit.numbers.interval import Interval

GRID = 2**100  # results are whole multiples of its inverse
TERMS = 24  # 24! is above 2^79
_HALVINGS = 5


def round_outward(numbers: Interval) -> Interval:
    """Return the narrowest interval on the grid that holds these numbers."""
    return Interval(Fraction(floor(numbers.low * GRID), GRID), Fraction(ceil(numbers.high * GRID), GRID))


def enclose_product(one: Interval, other: Interval) -> Interval:
    """Enclose the products of members."""
    return round_outward(Interval(one.low * other.low, one.high * other.high))


def enclose_quotient(one: Interval, other: Interval) -> Interval:
    """Enclose the quotients of members; those of `other` are above 0."""
    return round_outward(Interval(one.low / other.high, one.high / other.low))


def enclose_root(square: Interval) -> Interval:
    """Enclose the roots of members."""
    low, high = (isqrt(floor(end * GRID**2)) for end in (square.low, square.high))
    return Interval(Fraction(low, GRID), Fraction(high + 1, GRID))


def enclose_alternating(terms: Iterable[Fraction]) -> Interval:
    """Enclose a_0 - a_1 + a_2 - ..., whose terms fall towards 0, between the last two sums of the given ones."""
    before = after = Fraction(0)
    for place, term in enumerate(terms):
        before, after = after, after + (-term if place % 2 else term)
    return Interval(min(before, after), max(before, after))


@cache
def enclose_pi() -> Interval:
    """Enclose pi, 16 atan(1/5) - 4 atan(1/239) (Machin)."""
    return round_outward(enclose_atan(5) * 16 - enclose_atan(239) * 4)


def enclose_atan(reciprocal: int) -> Interval:
    """Enclose atan(1 / n) of a whole n above 1."""
    odd = range(1, 2 * TERMS, 2)
    return enclose_alternating(Fraction(1, power * reciprocal**power) for power in odd)


def enclose_exp(y: Interval) -> Interval:
    """Enclose exp(y) of 0 <= y <= 31: exp(y / 32), squared five times."""
    y = round_outward(y)
    power = round_outward(Interval(_series(y.low / 2**_HALVINGS).low, _series(y.high / 2**_HALVINGS).high))
    for _ in range(_HALVINGS):
        power = enclose_product(power, power)
    return power


def _series(z: Fraction) -> Interval:
    """Enclose exp(z) of 0 <= z < 1: what is left out is at most the next term over 1 - z."""
    cut = sum((z**k / factorial(k) for k in range(TERMS)), Fraction(0))
    return Interval(cut, cut + z**TERMS / factorial(TERMS) / (1 - z))


def enclose_tanh(u: Interval) -> Interval:
    """Enclose tanh(u) = 1 - 2 / (exp(2 u) + 1) of 0 <= u <= 15.5."""
    one = Interval.point(1)
    return one - enclose_quotient(one * 2, enclose_exp(u * 2) + one)
