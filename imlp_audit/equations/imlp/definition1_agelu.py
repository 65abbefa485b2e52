"""The smallest L of Eq. 7 for AGeLU is |alpha beta| 1.12890, whatever the signs: Eq. 7 holds with it, and fails for any
smaller one between points about the steepest.

Place: Sec. 4.2, Definition 1, Eq. 7
Printed: ||f(x) - f(y)||_2 <= L ||x - y||_2 for all x, y, among which the smallest L is called the Lipschitz constant
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._slope import Chord, chords, value
from imlp_audit.lipschitz import slopes


@dataclass(frozen=True)
class Case:
    """A chord of AGeLU, and how much smaller than the Lipschitz constant another L is."""

    chord: Chord
    share: float


def judge(case: Case, arithmetic: Arithmetic) -> Trial:
    """Judge Eq. 7 with L on any chord, and without it about the steepest point."""
    agelu = case.chord.agelu
    constant = abs(agelu.alpha[0] * agelu.beta[0]) * slopes.GELU.high
    half = sqrt(case.share) / 2
    x = (slopes.GELU_STEEPEST - half - agelu.gamma[0]) / agelu.alpha[0]
    steep = Chord(agelu, x, 2 * half / agelu.alpha[0])
    holds = all(_rise(chord, arithmetic, constant) for chord in (case.chord, steep))
    fails = not _rise(steep, arithmetic, constant * (1 - case.share))
    return Trial(holds and fails, {**agelu.shown(), "x": case.chord.x, "L": constant, "smaller L": 1 - case.share})


def _rise(chord: Chord, arithmetic: Arithmetic, constant: float) -> bool:
    """Say whether |AGeLU(x) - AGeLU(y)| <= L |x - y| on a chord."""
    x, y = arithmetic.number(chord.x), arithmetic.number(chord.x + chord.step)
    rise = value(chord.agelu, gelu, y) - value(chord.agelu, gelu, x)
    return abs(rise.value) - rise.error <= constant * abs(y.value - x.value)


CLAIM = Claim(st.builds(Case, chords(), st.sampled_from((0.1, 0.01, 0.001))), judge)
