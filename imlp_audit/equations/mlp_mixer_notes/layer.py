"""Both equations after each other are a Mixer layer, and give what those per column and per row give.

Read as: the layer Y of X by the notes' matrix products, by the columns U_{*,i} and rows Y_{j,*} of the MLP-Mixer paper
(arXiv 2105.01601, Eq. 1), and by the package's module, are the same S x C matrix.

Place: both equations
Printed: A Mixer layer can be written as follows: U = X^T + sigma(LayerNorm(X)^T x W_1^T) x W_2^T,
    Y = U^T + sigma(LayerNorm(U^T) x W_3^T) x W_4^T
Bound: the error of U, through the second LayerNorm (functions_norm.py) and two projections with GELU between them
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import (
    Mixing,
    channel_mixed,
    columns,
    normalised,
    run,
    token_mixed,
)
from imlp_audit.equations.mlp_mixer_notes._layer import Layer, layers, plus, sigma, times


def judge(case: Layer, arithmetic: Arithmetic) -> Trial:
    """Hold the matrix products against the columns and rows, and the module against the matrix products."""
    x, w1, w2 = arithmetic.matrix(case.x), arithmetic.matrix(case.w1), arithmetic.matrix(case.w2)
    w3, w4 = arithmetic.matrix(case.w3), arithmetic.matrix(case.w4)
    u_t = columns(plus(columns(x), times(sigma(times(columns(normalised(x)), columns(w1))), columns(w2))))
    y = plus(u_t, times(sigma(times(normalised(u_t), columns(w3))), columns(w4)))
    by_columns = token_mixed(x, Mixing(case.x, case.w1, case.w2), arithmetic)
    by_rows = channel_mixed(by_columns, Mixing(case.x, case.w3, case.w4), arithmetic)
    forms = equal(by_rows, y, **case.shown())
    return equal(run(case.module(arithmetic), case.x, arithmetic), y, **case.shown()) if forms.holds else forms


CLAIM = Claim(layers(), judge)
