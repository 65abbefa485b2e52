"""Whether intervals of fractions hold numbers of 60 digits, and how closely; fractions and intervals to try it on."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mpmath import mp, mpf

from imlp_audit.equations import draw as st
from imlp_audit.numbers.interval import Interval

DIGITS = 60
_ROUNDING = Fraction(1, 10**55)


def fraction(value: mpf) -> Fraction:
    """Return the fraction that a number of 60 digits is."""
    size, power = (int(each) for each in abs(value).man_exp)
    scale = Fraction(2**power) if power >= 0 else Fraction(1, 2**-power)
    return (size if value >= 0 else -size) * scale


def exactly(function: Callable[..., mpf], *arguments: Fraction) -> Fraction:
    """Return a function's value to 60 digits."""
    with mp.workdps(DIGITS):
        return fraction(function(*(mpf(x.numerator) / x.denominator for x in arguments)))


def closely(found: Interval, low: Fraction, high: Fraction, beyond: Fraction) -> bool:
    """Return whether an interval holds both numbers and ends less than `beyond` outside."""
    below, above = low - found.low, found.high - high
    return all(-_ROUNDING * max(Fraction(1), abs(low), abs(high)) <= gap < beyond for gap in (below, above))


def fractions(most: int) -> st.Strategy[Fraction]:
    """Fractions from 0 to a whole number, most of them between the numbers of any binary grid."""
    denominators = st.sampled_from((1, 2, 3, 7, 10, 997))
    return denominators.flatmap(lambda d: st.integers(0, most * d).map(lambda n: Fraction(n, d)))


def intervals(ends: st.Strategy[Fraction]) -> st.Strategy[Interval]:
    """Intervals between two of some numbers, and some that hold one number alone."""
    between = st.tuples(ends, ends).map(lambda pair: Interval(min(pair), max(pair)))
    return st.one_of(ends.map(Interval.point), between)
