"""AGeLU between two points, where its slope restriction is tested (Sec. 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, at_most
from imlp_audit.equations.functions import Activation
from imlp_audit.equations.lipschitz.slopes import Slopes, agelu_slopes
from imlp_audit.equations.rounded import Rounded

from ._agelu import Coefficients, coefficients


@dataclass(frozen=True)
class Chord:
    """An AGeLU of one channel between x and a larger y."""

    agelu: Coefficients
    x: float
    step: float

    def trial(self, phi: Activation, base: Slopes, arithmetic: Arithmetic) -> Trial:
        """Judge p (y - x) <= AGeLU(y) - AGeLU(x) <= q (y - x)."""
        x, y = arithmetic.number(self.x), arithmetic.number(self.x + self.step)
        rise = value(self.agelu, phi, y) - value(self.agelu, phi, x)
        slopes = slopes_of(self.agelu, base)
        shown = {**self.agelu.shown(), "x": self.x, "y": self.x + self.step, "p": slopes.low, "q": slopes.high}
        below = at_most(slopes.low * (y - x), rise, **shown)
        return below if not below.holds else at_most(rise, slopes.high * (y - x), **shown)


def value(agelu: Coefficients, phi: Activation, x: Rounded) -> Rounded:
    """Return an AGeLU of one channel at x (Eq. 4)."""
    return agelu.written([x], phi)[0]


def slopes_of(agelu: Coefficients, base: Slopes) -> Slopes:
    """Return [p, q] of an AGeLU of one channel."""
    return agelu_slopes(agelu.alpha[0], agelu.beta[0], base)


def chords() -> st.SearchStrategy[Chord]:
    """Chords of any length, about points on both sides of zero."""
    places = st.integers(-24, 24).map(lambda quarter: quarter / 4)
    lengths = st.sampled_from((1.0, 0.5, 0.25, 0.125, 2.0, 4.0, 8.0))
    return st.builds(Chord, coefficients(1), places, lengths)


@dataclass(frozen=True)
class Narrower:
    """The interval of slopes, made narrower at both ends by `margin` times its factor alpha beta."""

    agelu: Coefficients
    margin: float

    def trial(self, phi: Activation, base: Slopes, steepest: float, arithmetic: Arithmetic) -> Trial:
        """Judge that chords about the steepest points leave the narrower interval at both ends."""
        slopes = slopes_of(self.agelu, base)
        margin = self.margin * abs(self.agelu.alpha[0] * self.agelu.beta[0])
        low, high = slopes.low + margin, slopes.high - margin
        half = sqrt(self.margin) / 2  # the slope falls off by less than 0.42 half^2 / 6 within half of its extreme
        found = [self._chord(phi, at, half, arithmetic) for at in (-steepest, steepest)]
        leaves = any(s.value + s.error < low for s in found) and any(s.value - s.error > high for s in found)
        return Trial(leaves, {**self.agelu.shown(), "narrower": [low, high], "slopes": [s.value for s in found]})

    def _chord(self, phi: Activation, at: float, half: float, arithmetic: Arithmetic) -> Rounded:
        """Return the slope of the chord whose ends give alpha x + gamma = at -+ half."""
        agelu = self.agelu
        ends = [arithmetic.number((at + side * half - agelu.gamma[0]) / agelu.alpha[0]) for side in (-1, 1)]
        rise = value(agelu, phi, ends[1]) - value(agelu, phi, ends[0])
        return rise * (1 / (ends[1].value - ends[0].value))


def narrower() -> st.SearchStrategy[Narrower]:
    """Intervals narrower by a tenth down to a thousandth."""
    return st.builds(Narrower, coefficients(1), st.sampled_from((0.1, 0.01, 0.001)))
