"""Softmax, and a bound on the error of evaluating it.

softmax(x)_j = exp(x_j - m) / sum_k exp(x_k - m) with m the largest of x. Let every x_k err by at most e, and let r be
the distance from the smallest to the largest of them as they are evaluated. What exp takes is off by e, since m
cancels, and by u r for rounding the difference; in the numerator and in the denominator this is a factor of exp(2 (e +
u r)) at most. All terms are positive, so every rounding is a relative one: 4 u for exp (see functions.py) in the
numerator and in the denominator, n - 1 of the sum, and 2 of the quotient, which may be a product with the reciprocal.
The sum is at least 1, so what underflows adds at most its own size, below 2^-126 a term. Both the exact and the
evaluated result lie between 0 and 1, up to a rounding, so no error is above 2, however large e is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, inf

from imlp_audit.equations.exact import Exact
from imlp_audit.equations.rounded import Rounded, gamma

_UNDERFLOW = 2.0**-125
_MOST = 2.0


def softmax(x: Sequence[Rounded]) -> list[Rounded]:
    """Return exp(x_j) / sum_k exp(x_k) for every j."""
    if isinstance(x[0], Exact):
        return _softmax_of_expressions([Exact.of(number) for number in x])
    largest = max(number.value for number in x)
    powers = [exp(number.value - largest) for number in x]
    relative, unit = _relative_error(x), x[0].unit
    shares = [power / sum(powers) for power in powers]
    errors = [_MOST if relative == inf else min(share * relative + len(x) * _UNDERFLOW, _MOST) for share in shares]
    return [Rounded(share, share, 1, error, unit) for share, error in zip(shares, errors, strict=True)]


def _softmax_of_expressions(x: Sequence[Exact]) -> list[Rounded]:
    """Return exp(x_j) times the reciprocal of the sum; what holds for any two functions holds for these."""
    powers = [number.apply("exp") for number in x]
    reciprocal = powers[0].add_up(powers).apply("reciprocal")
    return [power * reciprocal for power in powers]


def _relative_error(x: Sequence[Rounded]) -> float:
    """By how much of itself each result may be off; infinite where floating point cannot hold that."""
    unit, error = x[0].unit, max(number.error for number in x)
    values = [number.value for number in x]
    distance = max(values) - min(values) + 2 * error
    roundings = gamma(4 + 4 + (len(x) - 1) + 2, unit)
    exponent = 2 * (error + unit * distance)
    return expm1(exponent) * (1 + roundings) + roundings if exponent < 700 else inf
