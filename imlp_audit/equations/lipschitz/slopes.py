"""Intervals that contain the slopes of activations.

The slope of GeLU(x) = x Phi(x) is Phi(x) + x phi(x), with the normal distribution Phi and its density phi. Its
derivative is phi(x) (2 - x^2), so its extremes are at x = -sqrt 2 and x = sqrt 2; they add up to 1, because
GeLU(x) - GeLU(-x) = x. Constants are rounded outward.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, exp, pi, sqrt

_OUTWARD = 2.0**-50  # four roundings of numbers near 1


@dataclass(frozen=True)
class Slopes:
    """The function is slope-restricted on [low, high]: (f(x) - f(y)) / (x - y) is never outside."""

    low: float
    high: float

    def times(self, factor: float) -> Slopes:
        """Return the interval of factor * f; a negative factor swaps its ends."""
        ends = (factor * self.low, factor * self.high)
        return Slopes(min(ends), max(ends))


_GELU_HIGH = 0.5 + erf(1.0) / 2 + exp(-1.0) / sqrt(pi)  # Phi(sqrt 2) + sqrt 2 phi(sqrt 2) = 1.128904...
GELU = Slopes(1 - _GELU_HIGH - _OUTWARD, _GELU_HIGH + _OUTWARD)
GELU_STEEPEST = sqrt(2)  # where the slope of GeLU is highest; it is lowest at -sqrt 2

# The second derivative of the tanh form has no root in closed form; these are its root and the slope there, computed
# to 40 digits (tests/equations/lipschitz/test_slopes.py computes them again). enclosure.py and enclosure_tanh.py prove
# both ends.
_GELU_TANH_HIGH = 1.1289930686587717654559
GELU_TANH = Slopes(1 - _GELU_TANH_HIGH - _OUTWARD, _GELU_TANH_HIGH + _OUTWARD)
GELU_TANH_STEEPEST = 1.418504008790828355548


def agelu_slopes(alpha: float, beta: float, base: Slopes) -> Slopes:
    """Return the slopes of beta * phi(alpha * x + gamma) + theta (Eq. 3) if those of phi lie in `base`."""
    return base.times(alpha * beta)
