"""Sec. 4.2, after Lemma 1: the intervals of fractions by which the package proves the slopes of GeLU.

Each step of them is compared with exact fractions, or with 60 digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial

import mpmath
from mpmath import mpf

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.enclosure import (
    enclose_alternating,
    enclose_atan,
    enclose_exp,
    enclose_pi,
    enclose_product,
    enclose_quotient,
    enclose_root,
    enclose_tanh,
    round_outward,
)
from imlp_audit.equations.lipschitz.enclosure_gelu import enclose_slope, enclose_steepest_slope
from imlp_audit.numbers.interval import Interval

from ._enclosed import closely, exactly, fractions, intervals

_STEP = Fraction(1, 2**100)
_SCALED = st.builds(
    lambda number, scale: number * scale,
    fractions(3),
    st.sampled_from((1, Fraction(1, 2**90), Fraction(1, 10**6), 10**9)),
)


@claim(st.tuples(intervals(_SCALED), intervals(_SCALED)))
def slope_enclosures_round_outward(case: tuple[Interval, Interval], _: Arithmetic) -> Trial:
    """Where the package encloses a slope, an interval is rounded outward to multiples of 2^-100, and so are
    products, quotients and roots of intervals: each holds the exact ones and ends less than 2^-100 outside.

    Place: Sec. 4.2, after Lemma 1
    Corrected: 0 <= a b - low < 2^-100 and 0 <= high - A B < 2^-100 for [a, A] [b, B], and so for a / B and A / b;
        low^2 <= a < (low + 2^-100)^2 and (high - 2^-100)^2 <= A <= high^2 for the root
    Bound: none: all numbers are fractions
    """
    # Compare with exact fractions.
    one, other = case
    exact = {"one less other": one - other, "product": Interval(one.low * other.low, one.high * other.high)}
    found = {"one less other": round_outward(one - other), "product": enclose_product(one, other)}
    if other.low > 0:
        exact["quotient"] = Interval(one.low / other.high, one.high / other.low)
        found["quotient"] = enclose_quotient(one, other)
    root = enclose_root(one)
    outward = all(
        0 <= exact[name].low - ours.low < _STEP and 0 <= ours.high - exact[name].high < _STEP
        for name, ours in found.items()
    )
    of_root = root.low**2 <= one.low < (root.low + _STEP) ** 2 and (root.high - _STEP) ** 2 <= one.high <= root.high**2
    whole = all((end / _STEP).denominator == 1 for each in (*found.values(), root) for end in (each.low, each.high))
    return Trial(outward and of_root and whole, {"one": one, "other": other, **found, "root of one": root})


@dataclass(frozen=True)
class Series:
    """The first terms of 1 - q + q^2 - ..., and a whole number n."""

    q: Fraction
    terms: int
    n: int


_RATIOS = st.sampled_from((Fraction(1, 2), Fraction(9, 10), Fraction(1, 3), Fraction(1, 100)))


@claim(st.builds(Series, _RATIOS, st.integers(1, 12), st.integers(2, 12)))
def slope_enclosures_of_series(case: Series, _: Arithmetic) -> Trial:
    """An alternating series whose terms fall lies between the last two partial sums that the package adds up: a
    geometric one, atan(1 / n) and, by Machin's formula, pi.

    Place: Sec. 4.2, after Lemma 1
    Corrected: 1 / (1 + q) between two sums that differ by q^k; atan(1 / n) between two that differ by less than n^-46;
        pi between two multiples of 2^-100, at most two apart
    Bound: 10^-55, of numbers of 60 digits; none for the geometric series
    """
    # Compare with the sum of the geometric series, and with 60 digits.
    geometric = enclose_alternating(case.q**k for k in range(case.terms))
    sums = sorted(sum((-case.q) ** k for k in range(count)) for count in (case.terms - 1, case.terms))
    exact = 1 / (1 + case.q)
    true = [geometric.low, geometric.high] == sums and geometric.low <= exact <= geometric.high
    atan, pi = enclose_atan(case.n), enclose_pi()
    angle, circle = exactly(lambda n: mpmath.atan(1 / n), Fraction(case.n)), exactly(lambda: +mpmath.pi)
    true = true and closely(atan, angle, angle, Fraction(1, case.n**46)) and closely(pi, circle, circle, 2 * _STEP)
    return Trial(true, {**vars(case), "geometric": geometric, "atan(1/n)": atan, "pi": pi})


@claim(intervals(fractions(31)), share=0.8)
def slope_enclosures_of_exp_and_tanh(y: Interval, _: Arithmetic) -> Trial:
    """The powers of e and the tanh that the package encloses hold those of both ends of an interval, and are not
    needlessly wide: 24 terms of the series are taken of y / 32.

    Place: Sec. 4.2, after Lemma 1
    Corrected: exp(a) - low < exp(a) e and high - exp(A) < exp(A) e of [a, A], e = 2^-90 + 64 z^24 / (24! (1 - z)), z =
        A / 32; tanh(a / 2) - low < e and high - tanh(A / 2) < e
    Bound: 10^-55, of numbers of 60 digits
    """
    # Compare with 60 digits.
    z = y.high / 32
    relative = Fraction(1, 2**90) + 64 * z**24 / factorial(24) / (1 - z)
    exp, tanh = enclose_exp(y), enclose_tanh(y * Fraction(1, 2))
    low, high = exactly(mpmath.exp, y.low), exactly(mpmath.exp, y.high)
    scaled = Interval(exp.low / low, exp.high / high)
    true = closely(scaled, Fraction(1), Fraction(1), relative)
    low, high = (exactly(lambda x: mpmath.tanh(x / 2), end) for end in (y.low, y.high))
    return Trial(true and closely(tanh, low, high, relative), {"y": y, "exp(y)": exp, "tanh(y / 2)": tanh})


@claim(fractions(1))
def slope_enclosed(z: Fraction, _: Arithmetic) -> Trial:
    """The package encloses the slope of GeLU at x = sqrt(2 z) to 2^-70 for z up to 1, and the highest one, which is
    that at sqrt 2.

    Place: Sec. 4.2, after Lemma 1
    Corrected: GeLU'(x) = Phi(x) + x phi(x) between two numbers less than 2^-70 apart; GeLU'(x) <= Phi(sqrt 2) + sqrt 2
        phi(sqrt 2)
    Bound: 10^-55, of numbers of 60 digits
    """
    # Compare with 60 digits.
    found, highest = enclose_slope(z), enclose_steepest_slope()
    slope, steepest = (exactly(_gelu_slope, number) for number in (z, Fraction(1)))
    true = closely(found, slope, slope, Fraction(1, 2**70)) and closely(highest, steepest, steepest, Fraction(1, 2**70))
    return Trial(true and slope <= highest.high, {"z": z, "slope": found, "highest": highest})


def _gelu_slope(z: mpf) -> mpf:
    x = mpmath.sqrt(2 * z)
    return mpmath.ncdf(x) + x * mpmath.npdf(x)
