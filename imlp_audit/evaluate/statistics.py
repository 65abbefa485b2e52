"""Statistics of right and wrong images: score intervals and McNemar's test, in exact arithmetic.

A score interval holds the values that a test does not reject. The test is decided in rational numbers, and each end is
rounded outward to the next decimal, so no rounding error ever narrows an interval.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

from imlp_audit.numbers.interval import Interval

# The 97.5 % quantile of the standard normal distribution, rounded up: 1.95996398454005423552...
Z = Fraction("1.95996398454005423553")
DIGITS = 4  # decimal places of the ends, in percent
_GRID = 100 * 10**DIGITS  # steps from 0 to 100 percent


def wilson(correct: int | Fraction, images: int) -> Interval:
    """Return Wilson's 95 % score interval in percent for `correct` of `images`; [0, 100] if there are no images.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927), 209-212.
    """

    def accepts(p: Fraction) -> bool:
        return (correct - images * p) ** 2 <= Z**2 * images * p * (1 - p)

    estimate = correct * _GRID // images if images else 0
    return Interval(_outwards(accepts, estimate, 0), _outwards(accepts, estimate, _GRID))


def paired_difference(first_only: int | Fraction, second_only: int | Fraction, images: int) -> Interval:
    """Return Tango's 95 % score interval in points of percent: the second's share of right images minus the first's.

    Both are over the same `images`, of which the first two numbers are right in one run only. At 0 it is
    McNemar's test.
    T. Tango, Equivalence test and confidence interval for the difference in proportions for the paired-sample
    design, Statistics in Medicine 17 (1998), 891-908.
    """

    def accepts(delta: Fraction) -> bool:
        b = (2 * images - second_only + first_only) * delta - second_only - first_only
        root = b**2 + 8 * images * first_only * delta * (1 - delta)
        least = 2 * (second_only - first_only - images * delta) ** 2 / Z**2 + b - 2 * images * delta * (1 - delta)
        return (
            least <= 0 or least**2 <= root
        )  # the score is at most Z; rearranged to avoid the square root in its variance

    estimate = (second_only - first_only) * _GRID // images if images else 0
    return Interval(_outwards(accepts, estimate, -_GRID), _outwards(accepts, estimate, _GRID))


def _outwards(accepts: Callable[[Fraction], bool], inside: int, end: int) -> Fraction:
    """Return, in percent, the first rejected step from `inside` towards `end`, or `end`."""
    if accepts(Fraction(end, _GRID)):
        return Fraction(end * 100, _GRID)
    rejected = end
    while abs(rejected - inside) > 1:
        middle = (rejected + inside) // 2
        if accepts(Fraction(middle, _GRID)):
            inside = middle
        else:
            rejected = middle
    return Fraction(rejected * 100, _GRID)


def mcnemar(first_only: int, second_only: int) -> Fraction:
    """Return the two-sided p of McNemar's exact test: a fair coin for each image that one run alone has right.

    Q. McNemar, Note on the sampling error of the difference between correlated proportions, Psychometrika 12 (1947).
    """
    tossed, least = first_only + second_only, min(first_only, second_only)
    term = ways = 1
    for heads in range(least):
        term = term * (tossed - heads) // (heads + 1)
        ways += term
    return min(Fraction(1), Fraction(2 * ways, 2**tossed))


def probability_text(p: Fraction) -> str:
    """Return a probability with three digits, rounded up: 0.0312, 1.24E-31."""
    with localcontext(prec=3, rounding=ROUND_CEILING):
        return str(Decimal(p.numerator) / Decimal(p.denominator))
