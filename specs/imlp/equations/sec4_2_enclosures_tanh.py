"""Sec. 4.2, after Lemma 1: the intervals by which the package proves the slopes of GeLU's tanh form, by 60 digits."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import inf, nan

import mpmath
from mpmath import mpf

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.enclosure_tanh import (
    enclose_steepest_tanh_slope,
    enclose_tanh_slope,
    enclose_turning,
    least_growth,
)

from ._enclosed import closely, exactly, fractions

_STEP = Fraction(1, 2**100)


def _tanh_form(x: mpf) -> mpf:
    """GeLU in its tanh form."""
    return x / 2 * (1 + mpmath.tanh(_argument(x)))


def _argument(x: mpf) -> mpf:
    return mpmath.sqrt(2 / mpmath.pi) * (x + mpf("0.044715") * x**3)


def _turning(x: mpf) -> mpf:
    """r, by which f'' = -c (1 - tanh(u)^2) r."""
    falls = mpmath.sqrt(2 / mpmath.pi) * mpmath.sech(_argument(x)) ** 2
    return -mpmath.diff(_tanh_form, x, 2) / falls


def _least_growth() -> mpf:
    """The least of both bounds on s' (enclosure_tanh.py)."""
    c, k = mpmath.sqrt(2 / mpmath.pi), mpf("0.044715")
    t = mpmath.tanh(c * (1 + k))
    return min(c**2 * (1 - t**2), 12 * k * c * t * (1 + 3 * k)) - 6 * k


@claim(fractions(4), share=0.3)
def slope_tanh_enclosed(x: Fraction, _: Arithmetic) -> Trial:
    """The package encloses the slope of the tanh form of GeLU, and the factor r of its second derivative that alone
    changes sign, to 2^-85 for x up to 4; (r(x) + 1) / x grows with x by no less than the package proves, so that r has
    one root.

    Place: Sec. 4.2, after Lemma 1
    Corrected: f'(x) and r(x) between two numbers less than 2^-85 apart, f''(x) = -c (1 - tanh(u)^2) r(x); (r(x) + 1) /
        x has a slope of at least 0.06
    Bound: 10^-55, of derivatives of numbers of 60 digits
    """
    # Compare with derivatives to 60 digits.
    slope, turning, growth = enclose_tanh_slope(x), enclose_turning(x), least_growth()
    exact = exactly(lambda x: mpmath.diff(_tanh_form, x), x), exactly(_turning, x)
    true = all(
        closely(found, value, value, Fraction(1, 2**85)) for found, value in zip((slope, turning), exact, strict=True)
    )
    least = exactly(_least_growth)
    true = true and 0 <= least - growth < Fraction(1, 2**85) and growth >= Fraction(6, 100)
    at, further = x + Fraction(1, 97), x + Fraction(10, 97)
    grown = (exactly(_turning, further) + 1) / further - (exactly(_turning, at) + 1) / at
    return Trial(
        true and grown >= growth * (further - at), {"x": x, "f'(x)": slope, "r(x)": turning, "least growth": growth}
    )


@cache
def _steepest_place() -> Fraction:
    return exactly(lambda: mpmath.findroot(lambda x: mpmath.diff(_tanh_form, x, 2), mpf("1.4185")))


_FAR = Fraction(1, 2**40)
_BORDER = (_FAR - _STEP * 2**20, _FAR + _STEP / 2**10, _FAR + _STEP)
_DISTANCES = st.sampled_from((Fraction(0), _FAR / 3, _FAR / 2**20, *_BORDER, _FAR * 2, Fraction(1, 10), Fraction(1)))
_SIGNS = st.sampled_from((1, -1))


@claim(st.tuples(_DISTANCES, _SIGNS))
def slope_tanh_turns(case: tuple[Fraction, int], _: Arithmetic) -> Trial:
    """From any place within 2^-40 of the steepest one, the package encloses the highest slope of the tanh form to
    2^-70; from any other it refuses, because the slope does not turn there, and
    from what is not finite.

    Place: Sec. 4.2, after Lemma 1
    Corrected: f'(x*) between two numbers less than 2^-70 apart where |x - x*| < 2^-40
    Bound: 10^-55, of numbers of 60 digits; no place is between 2^-40 - 2^-80 and 2^-40 away
    """
    # Compare with the slope where the second derivative is 0, to 60 digits.
    distance, sign = case
    near, highest = (
        _steepest_place() + sign * distance,
        exactly(lambda x: mpmath.diff(_tanh_form, x), _steepest_place()),
    )
    shown, accepted = {"near": float(near), "from the steepest": float(sign * distance)}, distance < _FAR
    if not all(_refuses(value) for value in (inf, -inf, nan)):
        return Trial(False, {"accepted": "a place that is not finite"})
    try:
        found = enclose_steepest_tanh_slope(near)
    except ValueError as error:
        return Trial(not accepted, {**shown, "refused": str(error)})
    return Trial(accepted and closely(found, highest, highest, Fraction(1, 2**70)), {**shown, "highest": found})


def _refuses(near: float) -> bool:
    try:
        enclose_steepest_tanh_slope(near)
    except ValueError:
        return True
    return False
