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
from math import factorial

from imlp_audit.equations.lipschitz.enclosure import enclose_pi, enclose_root
from imlp_audit.numbers.interval import Interval

_CUBE = Fraction("0.044715")
_GRID = 2**100
_TERMS = 20
_HALVINGS = 5
_ONE = Interval.point(1)


def enclose_steepest_tanh_slope(near: float) -> Interval:
    """Return an interval of less than 2^-70 that holds the highest slope, from where it is.

    Raises ValueError if it is not proved that the slope is highest within 2^-40 of there.
    """
    a, b = (Fraction(near) + side * Fraction(1, 2**40) for side in (-1, 1))
    before, after = _turning(a), _turning(b)
    if not (_grows() and before.high < 0 < after.low):
        raise ValueError(f"the steepest slope cannot be shown to be near {near}")
    more = (b - a) * _c().high * max(-before.low, after.high)
    at_a = _slope(a)
    return Interval(at_a.low, at_a.high + more)


def _grows() -> bool:
    """Return whether s grows for every x >= 0."""
    c, t = _c().low, _tanh(Fraction(1))
    least = min(c**2 * (1 - t.high**2), 12 * _CUBE * c * t.low * (1 + 3 * _CUBE))
    return least > 6 * _CUBE


def _turning(x: Fraction) -> Interval:
    """Return r(x)."""
    product = _times(_c(), _tanh(x)) * (x * (1 + 3 * _CUBE * x**2) ** 2)
    return product - _ONE - _ONE * (6 * _CUBE * x**2)


def _slope(x: Fraction) -> Interval:
    """Return f'(x) = (1 + t) / 2 + x (1 - t^2) u' / 2."""
    t = _tanh(x)
    falling = _times(_ONE - _times(t, t), _c()) * (x * (1 + 3 * _CUBE * x**2))
    return (_ONE + t + falling) * Fraction(1, 2)


def _c() -> Interval:
    pi = enclose_pi()
    return enclose_root(Interval(2 / pi.high, 2 / pi.low))


def _tanh(x: Fraction) -> Interval:
    """Return tanh(c (x + k x^3)) = 1 - 2 / (exp(2 u) + 1) of an x above 0."""
    power = _exp(_c() * (2 * (x + _CUBE * x**3)))
    return Interval(1 - 2 / (power.low + 1), 1 - 2 / (power.high + 1))


def _exp(y: Interval) -> Interval:
    """Return the power of e: that of y / 32, squared five times."""
    power = Interval(_series(y.low / 2**_HALVINGS).low, _series(y.high / 2**_HALVINGS).high)
    for _ in range(_HALVINGS):
        power = _times(power, power)
    return power


def _series(z: Fraction) -> Interval:
    """Return exp(z) of 0 <= z < 1: what is left out is at most the next term over 1 - z."""
    cut = sum((z**k / factorial(k) for k in range(_TERMS)), Fraction(0))
    return Interval(cut, cut + z**_TERMS / factorial(_TERMS) / (1 - z))


def _times(one: Interval, other: Interval) -> Interval:
    """Multiply intervals above 0, rounded outward to a grid."""
    low, high = one.low * other.low, one.high * other.high
    return Interval(Fraction(int(low * _GRID), _GRID), Fraction(int(high * _GRID) + 1, _GRID))
