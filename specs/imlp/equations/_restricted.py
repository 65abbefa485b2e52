"""AGeLUs whose phi is any function that is slope-restricted on [p, q]: what Lemma 1 and Theorem 1 are proved from."""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial
from imlp_audit.equations.exact import Exact
from imlp_audit.equations.functions import Activation, gelu
from imlp_audit.equations.not_negative import NotNegative, at_most_by, square, suppose
from imlp_audit.equations.rounded import Rounded

from ._agelu import Coefficients
from ._slope import EXACT, Chord, Gelu

P, Q = Exact.symbol("p"), Exact.symbol("q")  # of phi


def ends(agelu: Coefficients) -> tuple[Rounded, Rounded]:
    """Return alpha beta p and alpha beta q, the ends of AGeLU's slopes, in either order.

    Lemma 1 and Eq. 9 hold their sum and their product alone.
    """
    factor = Exact.of(agelu.alpha[0]) * agelu.beta[0]
    return P * factor, Q * factor


def restricted(agelu: Coefficients, x: Rounded, y: Rounded, phi: Activation = gelu) -> NotNegative:
    """Return (rise - p run) (q run - rise) of AGeLU from y to x, with its own p and q.

    It is beta^2 times that of phi, which says that a chord of phi is neither flatter than p nor steeper than q.
    """
    (alpha,), (beta,), (gamma,) = agelu.alpha, agelu.beta, agelu.gamma
    at_x, at_y = alpha * x + gamma, alpha * y + gamma
    rise, run = phi(at_x) - phi(at_y), at_x - at_y
    return square(Exact.of(beta)) * suppose((rise - P * run) * (Q * run - rise))


def judge_chord(case: Chord, arithmetic: Arithmetic, form: Gelu = EXACT) -> Trial:
    """Judge that chords of the package's AGeLU lie between its ends if those of GeLU do, and that those of GeLU do."""
    x, y = arithmetic.number(case.x), arithmetic.number(case.x) + case.step
    rise, run, (p, q) = form.rise(case.agelu, x, y, arithmetic), y - x, ends(case.agelu)
    between = (rise - p * run) * (q * run - rise)
    of_agelu = at_most_by(
        arithmetic.number(0), between, restricted(case.agelu, y, x, form.rounded), **case.agelu.shown()
    )
    return of_agelu if not of_agelu.holds else judge_ends(form)


def judge_eq7(case: Chord, arithmetic: Arithmetic) -> Trial:
    """Judge |rise|^2 <= (alpha beta q run)^2 where 0 <= p + q, and the ends of GeLU's slopes."""
    x, y = arithmetic.number(case.x), arithmetic.number(case.x) + case.step
    (alpha,), (beta,), (gamma,) = case.agelu.alpha, case.agelu.beta, case.agelu.gamma
    at_x, at_y = alpha * x + gamma, alpha * y + gamma
    rise, (_, q), run = EXACT.rise(case.agelu, x, y, arithmetic), ends(case.agelu), y - x
    flatter = suppose((Q * (at_y - at_x) - (gelu(at_y) - gelu(at_x))) * (at_y - at_x))
    reason = restricted(case.agelu, y, x) + square(Exact.of(beta)) * suppose(P + Q) * flatter
    eq7 = at_most_by(rise * rise, q * q * run * run, reason, **case.agelu.shown())
    return eq7 if not eq7.holds else judge_chord(case, arithmetic)


def judge_ends(form: Gelu) -> Trial:
    """Judge that the ends of GeLU's slopes hold its steepest and its flattest slope, and are less than 2^-48 off."""
    steepest, ours = form.enclose(), form.slopes
    off = (Fraction(ours.high) - steepest.high, 1 - steepest.high - Fraction(ours.low))
    positive = ours.low + ours.high > 0
    shown = {"p": ours.low, "q": ours.high, "steepest slope of GeLU": [float(steepest.low), float(steepest.high)]}
    return Trial(positive and all(0 <= end < Fraction(1, 2**48) for end in off), shown)
