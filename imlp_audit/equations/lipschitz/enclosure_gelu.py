"""The slope of GeLU between two fractions.

At x >= 0 it is Phi(x) + x phi(x) = 1/2 + sqrt(z / pi) (sum_k (-z)^k / (k! (2k + 1)) + exp(-z)) with z = x^2 / 2: the
sum is sqrt(pi / z) erf(sqrt z) / 2. It has its extremes at -sqrt 2 and sqrt 2 (slopes.py); both add up to 1.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from imlp_audit.equations.lipschitz.enclosure import (
    TERMS,
    enclose_alternating,
    enclose_pi,
    enclose_product,
    enclose_quotient,
    enclose_root,
    round_outward,
)
from imlp_audit.numbers.interval import Interval


def enclose_steepest_slope() -> Interval:
    """Return an interval of less than 2^-70 that holds the highest slope of GeLU."""
    return enclose_slope(Fraction(1))


def enclose_slope(z: Fraction) -> Interval:
    """Return an interval of less than 2^-70 that holds the slope of GeLU at sqrt(2 z) for 0 <= z <= 1."""
    powers = [z**k / factorial(k) for k in range(TERMS)]
    of_erf = enclose_alternating(power / (2 * k + 1) for k, power in enumerate(powers))
    root = enclose_root(enclose_quotient(Interval.point(z), enclose_pi()))
    return Interval.point(Fraction(1, 2)) + enclose_product(root, round_outward(of_erf + enclose_alternating(powers)))
