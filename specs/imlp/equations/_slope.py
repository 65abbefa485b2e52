"""AGeLU between two points, where its slope restriction is tested (Sec. 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import torch
from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations import functions
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, at_most
from imlp_audit.equations.functions import Activation
from imlp_audit.equations.lipschitz import slopes
from imlp_audit.equations.lipschitz.enclosure_gelu import enclose_steepest_slope
from imlp_audit.equations.lipschitz.enclosure_tanh import enclose_steepest_tanh_slope
from imlp_audit.equations.lipschitz.slopes import Slopes, agelu_slopes
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import plain
from imlp_audit.numbers.interval import Interval

from ._agelu import Coefficients, coefficients


@dataclass(frozen=True)
class Gelu:
    """A form of GeLU: in Rounded numbers, as a module, its slopes, the point where it is steepest, and the slope there.

    Its module's derivative errs by at most `roundings` u, times |alpha beta| in an AGeLU.
    """

    rounded: Activation
    module: type[nn.Module]
    base: Callable[[], Slopes]
    steepest: float
    enclose: Callable[[], Interval]
    roundings: float

    @property
    def slopes(self) -> Slopes:
        """[p, q] of this form of GeLU."""
        return self.base()

    def values(self, agelu: Coefficients, x: Sequence[Rounded], arithmetic: Arithmetic) -> list[Rounded]:
        """Return the AGeLU of numbers, as the package's module computes it."""
        return agelu.computed(x, self.rounded, arithmetic, self.module)

    def rise(self, agelu: Coefficients, x: Rounded, y: Rounded, arithmetic: Arithmetic) -> Rounded:
        """Return AGeLU(y) - AGeLU(x), as the package's module computes it."""
        of_x, of_y = self.values(agelu, (x, y), arithmetic)
        return of_y - of_x

    def gradients(self, agelu: Coefficients, at: Sequence[float], arithmetic: Arithmetic) -> list[float]:
        """Return the derivatives of the package's module."""
        x = arithmetic.tensor(at).requires_grad_()
        (found,) = torch.autograd.grad(agelu.module(arithmetic, self.module)(x).sum(), x)
        slopes: list[float] = found.tolist()
        return slopes

    def slack(self, agelu: Coefficients, arithmetic: Arithmetic) -> float:
        """Return how far a derivative of the module may be off."""
        return abs(agelu.alpha[0] * agelu.beta[0]) * self.roundings * arithmetic.unit


class TanhGelu(nn.GELU):
    """GeLU in its tanh form."""

    def __init__(self) -> None:
        super().__init__(approximate="tanh")


# looked up where they are used, so that a test can plant others
EXACT = Gelu(functions.gelu, nn.GELU, lambda: slopes.GELU, slopes.GELU_STEEPEST, enclose_steepest_slope, 16)
TANH = Gelu(
    functions.gelu_tanh,
    TanhGelu,
    lambda: slopes.GELU_TANH,
    slopes.GELU_TANH_STEEPEST,
    lambda: enclose_steepest_tanh_slope(slopes.GELU_TANH_STEEPEST),
    24,
)


@dataclass(frozen=True)
class Chord:
    """An AGeLU of one channel between x and a larger y."""

    agelu: Coefficients
    x: float
    step: float

    def trial(self, gelu: Gelu, arithmetic: Arithmetic) -> Trial:
        """Judge p (y - x) <= AGeLU(y) - AGeLU(x) <= q (y - x), and p <= AGeLU'(x) <= q."""
        x, y = arithmetic.number(self.x), arithmetic.number(self.x + self.step)
        rise, slopes = gelu.rise(self.agelu, x, y, arithmetic), slopes_of(self.agelu, gelu.slopes)
        shown = {**self.agelu.shown(), "x": self.x, "y": self.x + self.step, "p": slopes.low, "q": slopes.high}
        (slope,) = gelu.gradients(self.agelu, (self.x,), arithmetic)
        slack = gelu.slack(self.agelu, arithmetic)
        if not slopes.low - slack <= slope <= slopes.high + slack:
            return Trial(False, {**shown, "slope at x": slope})
        below = at_most(slopes.low * (y - x), rise, **shown)
        return below if not below.holds else at_most(rise, slopes.high * (y - x), **shown)


def slopes_of(agelu: Coefficients, base: Slopes) -> Slopes:
    """Return [p, q] of an AGeLU of one channel."""
    return agelu_slopes(agelu.alpha[0], agelu.beta[0], base)


def chords() -> st.Strategy[Chord]:
    """Chords of any length, about points on both sides of zero, and short ones about where AGeLU is steepest."""
    places = st.integers(-24, 24).map(lambda quarter: quarter / 4)
    lengths = st.sampled_from((1.0, 0.5, 0.25, 0.125, 2.0, 4.0, 8.0))
    ends = st.sampled_from((-slopes.GELU_STEEPEST, slopes.GELU_STEEPEST))
    return plain(
        st.one_of(st.builds(Chord, coefficients(1), places, lengths), st.builds(_steep_chord, coefficients(1), ends))
    )


def _steep_chord(agelu: Coefficients, at: float) -> Chord:
    """Return a chord that is so short that an interval of slopes too narrow by 1e-6 does not hold it."""
    step = 2.0**-10
    return Chord(agelu, place(agelu, at) - step / 2, step)


def place(agelu: Coefficients, at: float) -> float:
    """Return an x that every arithmetic holds exactly, with alpha x + gamma within 2^-17 of `at`."""
    return round((at - agelu.gamma[0]) / agelu.alpha[0] * 2**18) / 2**18


@dataclass(frozen=True)
class Narrower:
    """The interval of slopes, made narrower at both ends by `margin` times its factor alpha beta."""

    agelu: Coefficients
    margin: float

    def trial(self, gelu: Gelu, arithmetic: Arithmetic) -> Trial:
        """Judge that chords about the steepest points leave the narrower interval at both ends.

        The margin is as large as the rounding of a chord so short takes: less than 30 u over its length.
        """
        slopes = slopes_of(self.agelu, gelu.slopes)
        least = max(self.margin, 8 * (30 * arithmetic.unit) ** (2 / 3))
        margin = least * abs(self.agelu.alpha[0] * self.agelu.beta[0])
        low, high = slopes.low + margin, slopes.high - margin
        half = sqrt(least) / 2  # the slope falls off by less than 0.42 half^2 / 6 within half of its extreme
        found = [self._chord(gelu, at, half, arithmetic) for at in (-gelu.steepest, gelu.steepest)]
        leaves = any(s.value + s.error < low for s in found) and any(s.value - s.error > high for s in found)
        return Trial(leaves, {**self.agelu.shown(), "narrower": [low, high], "slopes": [s.value for s in found]})

    def _chord(self, gelu: Gelu, at: float, half: float, arithmetic: Arithmetic) -> Rounded:
        """Return the slope of the chord whose ends give alpha x + gamma = at -+ half."""
        x, y = (arithmetic.number(place(self.agelu, at + side * half)) for side in (-1, 1))
        return gelu.rise(self.agelu, x, y, arithmetic) * (1 / (y.value - x.value))


def narrower() -> st.Strategy[Narrower]:
    """Intervals narrower by a tenth down to a millionth, of AGeLUs whose slopes rounding does not hide."""
    return st.builds(Narrower, plain(coefficients(1)), st.sampled_from((0.1, 0.01, 0.001, 1e-6)))
