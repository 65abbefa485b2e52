"""AGeLU with the exact GeLU is slope-restricted on [p, q] = alpha beta [-0.12890, 1.12890], turned round where
alpha beta < 0: no chord of it is flatter than p or steeper than q.

Place: Sec. 4.2, after Lemma 1
Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
    when the parameters alpha and beta in Eq. 4 are finite
Bound: gamma of the steps of both values times their magnitudes, the error of phi as functions.py derives it
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.functions import gelu, gelu_slope_value
from imlp_audit.equations.imlp._slope import Chord, chords
from imlp_audit.lipschitz import slopes
from imlp_audit.records.figure import Curve, Figure


def judge(case: Chord, arithmetic: Arithmetic) -> Trial:
    """Judge p (y - x) <= AGeLU(y) - AGeLU(x) <= q (y - x)."""
    return case.trial(gelu, slopes.GELU, arithmetic)


def figure() -> Figure:
    """Draw the slopes of AGeLUs with alpha beta of both signs, between the ends of their intervals."""
    places = [step / 8 for step in range(-40, 41)]
    curves = [
        Curve(label=f"alpha = {alpha:g}, beta = {beta:g}", y=tuple(_slope(alpha, beta, x) for x in places))
        for alpha, beta in ((1.0, 1.0), (-1.0, 1.0))
    ]
    ends = {end for sign in (1, -1) for end in _ends(sign)}
    return Figure(
        title="Slope of AGeLU and the interval that holds it",
        x_label="x",
        y_label="slope",
        x=tuple(places),
        curves=tuple(curves),
        levels=tuple((f"{end:.5f}", round(end, 5)) for end in sorted(ends)),
    )


def _slope(alpha: float, beta: float, x: float) -> float:
    return round(alpha * beta * gelu_slope_value(alpha * x), 4)


def _ends(product: float) -> tuple[float, float]:
    interval = slopes.GELU.scaled(product)
    return interval.low, interval.high


CLAIM = Claim(chords(), judge, figure=figure)
