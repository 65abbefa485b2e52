"""The steepest slope of GeLU's tanh form between two fractions.

f(x) = x (1 + t) / 2 with t = tanh(u), u = c (x + k x^3), c = sqrt(2 / pi), k = 0.044715. Then f'' = -c (1 - t^2) r with
r = x s - 1 and s = c t (1 + 3 k x^2)^2 - 6 k x. For x >= 0, s grows:

- s' >= c^2 (1 - t^2) - 6 k up to x = 1, where t is largest;
- s' >= 12 k c t (1 + 3 k) - 6 k from there on, where t is smallest.

So r grows too, and has one root x*, where f' is highest; f'(-x) = 1 - f'(x), so it is lowest at -x*. Where r(a) < 0 <
r(b), f'(x*) is at least f'(a), and more by at most (b - a) c max(-r(a), r(b)).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from imlp_audit.equations.lipschitz.enclosure import (
    enclose_pi,
    enclose_product,
    enclose_quotient,
    enclose_root,
    enclose_tanh,
)
from imlp_audit.numbers.interval import Interval

_CUBE = Fraction("0.044715")
_AROUND = Fraction(1, 2**40)
_ONE = Interval.point(1)


def enclose_steepest_tanh_slope(near: float | Fraction) -> Interval:
    """Return an interval of less than 2^-70 that holds the highest slope, from where it is.

    Raises ValueError if it is not proved that the slope is highest within 2^-40 of there.
    """
    if not 0.5 <= near <= 3:  # not a number, infinite, or so far away that the enclosures need not hold
        raise ValueError(f"the steepest slope is not near {near}")
    a, b = Fraction(near) - _AROUND, Fraction(near) + _AROUND
    before, after = enclose_turning(a), enclose_turning(b)
    if not (least_growth() > 0 and before.high < 0 < after.low):
        raise ValueError(f"the steepest slope cannot be shown to be near {near}")
    more = (b - a) * _c().high * max(-before.low, after.high)
    at_a = enclose_tanh_slope(a)
    return Interval(at_a.low, at_a.high + more)


def least_growth() -> Fraction:
    """Return a number that s' is nowhere below for x >= 0."""
    c, t = _c(), _tanh(Fraction(1))
    up_to_one = enclose_product(enclose_product(c, c), _ONE - enclose_product(t, t))
    from_one = enclose_product(c, t) * (12 * _CUBE * (1 + 3 * _CUBE))
    return min(up_to_one.low, from_one.low) - 6 * _CUBE


def enclose_turning(x: Fraction) -> Interval:
    """Enclose r(x) of 0 <= x <= 4."""
    product = enclose_product(_c(), _tanh(x)) * (x * (1 + 3 * _CUBE * x**2) ** 2)
    return product - _ONE - _ONE * (6 * _CUBE * x**2)


def enclose_tanh_slope(x: Fraction) -> Interval:
    """Enclose f'(x) = (1 + t) / 2 + x (1 - t^2) u' / 2 of 0 <= x <= 4."""
    t = _tanh(x)
    falling = enclose_product(_ONE - enclose_product(t, t), _c()) * (x * (1 + 3 * _CUBE * x**2))
    return (_ONE + t + falling) * Fraction(1, 2)


@cache
def _c() -> Interval:
    return enclose_root(enclose_quotient(Interval.point(2), enclose_pi()))


def _tanh(x: Fraction) -> Interval:
    return enclose_tanh(_c() * (x + _CUBE * x**3))
