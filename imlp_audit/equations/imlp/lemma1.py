"""For AGeLU applied to every element, slope-restricted on [p, q], and any diagonal T with no negative
entries, the quadratic form of Lemma 1 in the differences of inputs and outputs is never negative.

Place: Sec. 4.2, Lemma 1 and Eq. 8
Printed: [x - y; phi(x) - phi(y)]' [[-2 p q T, (p + q) T], [(p + q) T, -2 T]] [x - y; phi(x) - phi(y)] >= 0 for all
    x, y in R^n, T = sum_{i=1}^{n} lambda_ii e_i e_i', lambda_ii >= 0
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._agelu import Coefficients, coefficients
from imlp_audit.equations.imlp._slope import slopes_of, value
from imlp_audit.equations.imlp._theorem import diagonal, difference, form, scaled
from imlp_audit.equations.strategies import Vector, vectors
from imlp_audit.lipschitz import slopes


@dataclass(frozen=True)
class Case:
    """Two inputs, an AGeLU for all elements, and the diagonal of T."""

    x: Vector
    y: Vector
    agelu: Coefficients
    t: Vector


def cases() -> st.SearchStrategy[Case]:
    """Vectors of up to three elements; entries of T may be zero."""
    entries = st.sampled_from((0.0, 1.0, 2.0, 0.5, 3.0))
    return st.integers(1, 3).flatmap(
        lambda n: st.builds(Case, vectors(n), vectors(n), coefficients(1), vectors(n, entries))
    )


def judge(case: Case, arithmetic: Arithmetic) -> Trial:
    """Judge the printed form, its blocks multiplied out."""
    ends = slopes_of(case.agelu, slopes.GELU)
    p, q, t = arithmetic.number(ends.low), arithmetic.number(ends.high), diagonal(case.t, arithmetic)
    x, y = arithmetic.vector(case.x), arithmetic.vector(case.y)
    outputs = [[value(case.agelu, gelu, each) for each in vector] for vector in (x, y)]
    blocks = [[scaled(-2 * (p * q), t), scaled(p + q, t)], [scaled(p + q, t), scaled(-2, t)]]
    found = form(blocks, [*difference(x, y), *difference(*outputs)])
    shown = {"x": case.x, "y": case.y, **case.agelu.shown(), "lambda": case.t, "p": ends.low, "q": ends.high}
    return at_most(arithmetic.number(0), found, **shown)


CLAIM = Claim(cases(), judge)
