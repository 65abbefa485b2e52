"""Sec. 4.2, Definition 1, and the slopes of AGeLU."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim
from imlp_audit.equations.lipschitz import slopes
from imlp_audit.equations.strategies import nonzero, numbers, plain

from ._agelu import Coefficients, coefficients
from ._restricted import judge_chord, judge_eq7
from ._slope import EXACT, TANH, Chord, Gelu, Narrower, chords, narrower, place, slopes_of


@dataclass(frozen=True)
class SmallerConstant:
    """A chord of AGeLU, and how much smaller than the Lipschitz constant another L is."""

    chord: Chord
    share: float


_CHORDS = st.builds(Chord, coefficients(1), numbers(), nonzero())


@claim(
    plain(st.builds(SmallerConstant, chords(), st.sampled_from((0.1, 0.01, 0.001)))),
    proof=Proof(
        "all numbers, and every L that is smaller by 2^-48 |alpha beta| or more",
        lambda case: {"channel": len(case.chord.agelu.alpha)},
        cases=st.builds(SmallerConstant, _CHORDS, st.just(0.001)),
        judge=lambda case, arithmetic: judge_eq7(case.chord, arithmetic),
    ),
)
def definition1_agelu(case: SmallerConstant, arithmetic: Arithmetic) -> Trial:
    """The smallest L of Eq. 7 for AGeLU is |alpha beta| 1.12890, whatever the signs: Eq. 7 holds with it, and fails for
    any smaller one between points about the steepest.

    Place: Sec. 4.2, Definition 1, Eq. 7
    Printed: ||f(x) - f(y)||_2 <= L ||x - y||_2 for all x, y, among which the smallest L is called the Lipschitz
        constant
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge Eq. 7 of the module, with L on any chord, and without it about the steepest point.
    agelu = case.chord.agelu
    constant = abs(agelu.alpha[0] * agelu.beta[0]) * slopes.GELU.high
    ends = [place(agelu, slopes.GELU_STEEPEST + side * sqrt(case.share) / 2) for side in (-1, 1)]
    steep = Chord(agelu, ends[0], ends[1] - ends[0])
    holds = all(_rise(chord, arithmetic, constant) for chord in (case.chord, steep))
    fails = not _rise(steep, arithmetic, constant * (1 - case.share))
    return Trial(holds and fails, {**agelu.shown(), "x": case.chord.x, "L": constant, "smaller L": 1 - case.share})


def _rise(chord: Chord, arithmetic: Arithmetic, constant: float) -> bool:
    """Say whether |AGeLU(x) - AGeLU(y)| <= L |x - y| on a chord."""
    x, y = arithmetic.number(chord.x), arithmetic.number(chord.x + chord.step)
    rise = EXACT.rise(chord.agelu, x, y, arithmetic)
    return abs(rise.value) - rise.error <= constant * abs(y.value - x.value)


def _between(form: Gelu) -> Proof[Chord]:
    return Proof(
        "all numbers",
        lambda case: {"channel": len(case.agelu.alpha)},
        cases=_CHORDS,
        judge=lambda case, arithmetic: judge_chord(case, arithmetic, form),
    )


def _tight(form: Gelu) -> Proof[Narrower]:
    return Proof(
        "all numbers, and intervals narrower by 2^-48 |alpha beta| or more",
        lambda case: {"channel": len(case.agelu.alpha)},
        cases=st.builds(Narrower, coefficients(1), st.just(0.1)),
        judge=lambda case, arithmetic: judge_chord(Chord(case.agelu, 0.0, 1.0), arithmetic, form),
    )


def _attains(form: Gelu) -> Proof[Coefficients]:
    return Proof(
        "all numbers, to 2^-48 |alpha beta|",
        lambda case: {"channel": len(case.alpha)},
        judge=lambda case, arithmetic: judge_chord(Chord(case, 0.0, 1.0), arithmetic, form),
    )


@claim(chords(), proof=_between(EXACT))
def slope_interval(case: Chord, arithmetic: Arithmetic) -> Trial:
    """AGeLU with the exact GeLU is slope-restricted on [p, q] = alpha beta [-0.12890, 1.12890], turned round where
    alpha beta < 0: no chord of the package's module is flatter than p or steeper than q, nor is its derivative.

    Place: Sec. 4.2, after Lemma 1
    Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
        when the parameters alpha and beta in Eq. 4 are finite
    Bound: gamma of the steps of both values times their magnitudes, the error of phi as functions.py derives it; of a
        derivative, that of slope_attained
    """
    # Judge p (y - x) <= AGeLU(y) - AGeLU(x) <= q (y - x), and p <= AGeLU'(x) <= q, of the module.
    return case.trial(EXACT, arithmetic)


@claim(narrower(), proof=_tight(EXACT))
def slope_is_tight(case: Narrower, arithmetic: Arithmetic) -> Trial:
    """No narrower interval than [p, q] holds the slopes of AGeLU with the exact GeLU: chords about alpha x + gamma =
    -x* and x* leave it at both ends, x* = sqrt 2.

    Place: Sec. 4.2, after Lemma 1
    Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
        when the parameters alpha and beta in Eq. 4 are finite
    Bound: gamma of the steps of both values times their magnitudes, over the length of the chord
    """
    # Judge that chords leave the narrower interval at both ends.
    return case.trial(EXACT, arithmetic)


@claim(plain(coefficients(1)), proof=_attains(EXACT))
def slope_attained(case: Coefficients, arithmetic: Arithmetic) -> Trial:
    """The slope of AGeLU with the exact GeLU attains both ends of [p, q], up to rounding: at alpha x + gamma = -x* and
    x*, x* = sqrt 2.

    Place: Sec. 4.2, after Lemma 1
    Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
        when the parameters alpha and beta in Eq. 4 are finite
    Bound: 16 u alpha beta: 12 u for the slope of GeLU (functions.py), 4 u for products; 2^-49 alpha beta for the ends,
        which are rounded outward; the slope's own slope is zero at x*, so that rounding x* moves it by less than u
    """
    # Differentiate the module at the two points, and hold the slopes against the ends.
    return _attained(case, EXACT, arithmetic)


@claim(plain(coefficients(1)), proof=_attains(TANH))
def slope_tanh_attained(case: Coefficients, arithmetic: Arithmetic) -> Trial:
    """The slope of AGeLU with the tanh form of GeLU attains both ends of [p, q], up to rounding: at alpha x + gamma =
    -x* and x*, x* = 1.41850.

    Place: Sec. 4.2, after Lemma 1
    Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
        when the parameters alpha and beta in Eq. 4 are finite
    Bound: 24 u alpha beta: 7.5 u for tanh of a rounded argument, 14 u for 1 less its square, 2.5 u for sums and
        products; 2^-49 alpha beta for the ends, which are rounded outward; the slope's own slope is zero at x*, so that
        rounding x* moves it by less than u
    """
    # Differentiate the module at the two points, and hold the slopes against the ends.
    return _attained(case, TANH, arithmetic)


def _attained(case: Coefficients, gelu: Gelu, arithmetic: Arithmetic) -> Trial:
    at = [(sign * gelu.steepest - case.gamma[0]) / case.alpha[0] for sign in (-1, 1)]
    got, ends = sorted(gelu.gradients(case, at, arithmetic)), slopes_of(case, gelu.slopes)
    slack = gelu.slack(case, arithmetic) + abs(case.alpha[0] * case.beta[0]) * 2.0**-49
    attained = abs(got[0] - ends.low) <= slack and abs(got[1] - ends.high) <= slack
    return Trial(attained, {**case.shown(), "slopes there": got, "p, q": [ends.low, ends.high]})


@claim(chords(), proof=_between(TANH))
def slope_tanh_interval(case: Chord, arithmetic: Arithmetic) -> Trial:
    """AGeLU with the tanh form of GeLU is slope-restricted on [p, q] = alpha beta [-0.12899, 1.12899], turned round
    where alpha beta < 0: no chord of the package's module is flatter than p or steeper than q, nor is its derivative.

    Place: Sec. 4.2, after Lemma 1
    Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
        when the parameters alpha and beta in Eq. 4 are finite
    Bound: gamma of the steps of both values times their magnitudes, the error of phi as functions.py derives it; of a
        derivative, that of slope_attained
    """
    # Judge p (y - x) <= AGeLU(y) - AGeLU(x) <= q (y - x), and p <= AGeLU'(x) <= q, of the module.
    return case.trial(TANH, arithmetic)


@claim(narrower(), proof=_tight(TANH))
def slope_tanh_is_tight(case: Narrower, arithmetic: Arithmetic) -> Trial:
    """No narrower interval than [p, q] holds the slopes of AGeLU with the tanh form of GeLU: chords about alpha x +
    gamma = -x* and x* leave it at both ends, x* = 1.41850.

    Place: Sec. 4.2, after Lemma 1
    Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
        when the parameters alpha and beta in Eq. 4 are finite
    Bound: gamma of the steps of both values times their magnitudes, over the length of the chord
    """
    # Judge that chords leave the narrower interval at both ends.
    return case.trial(TANH, arithmetic)
