"""Eq. 10 is phi and a convolution whose padding copies; with x = 0 beyond, it has phi(b_c) times weights in excess.

Padding that replicates, reflects or wraps around copies values that phi has seen, so the two are equal for every b_c.
Padding with zeros makes a difference of phi(b_c) times the sum of the weights that stand beyond the grid: none for
every choice of weights only where phi(b_c) = 0. ReLU and GeLU have phi(0) = 0, SoftPlus has not.

Place: Sec. 4.3, the sentence after Eq. 10, at the borders of the grid
Corrected: sum over i, j of a_{i,j,c} phi(x_{i+h,j+w,c} + b_c) = (phi followed by the convolution)_{h,w,c}
    + phi(b_c) sum over (i, j) with (i + h, j + w) beyond the grid of a_{i,j,c}, the last term for padding with zeros
Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._padding import Padded, padded
from imlp_audit.equations.imlp._series import GELU, RELU, SOFTPLUS, series
from imlp_audit.equations.rounded import Rounded, total


def judge(case: Padded, arithmetic: Arithmetic) -> Trial:
    """Hold the convolution against the sum less its excess, everywhere."""
    less = [
        [[value - _excess(case, arithmetic, h, w, c) for w, value in enumerate(row)] for h, row in enumerate(grid)]
        for c, grid in enumerate(case.printed(arithmetic))
    ]
    return equal(case.convolved(arithmetic), less, **case.shown())


def _excess(case: Padded, arithmetic: Arithmetic, h: int, w: int, c: int) -> Rounded:
    series, zero = case.series, arithmetic.number(0)
    if case.padding != "zeros":
        return zero
    (height, width), n = series.size, series.n
    window = [(i, j) for i in range(-n, n + 1) for j in range(-n, n + 1)]
    beyond = [(i, j) for i, j in window if not (0 <= i + h < height and 0 <= j + w < width)]
    weights = total([zero, *(arithmetic.number(series.a[c][i + n][j + n]) for i, j in beyond)])
    return series.phi.rounded(arithmetic.number(series.b[c])) * weights


CLAIM = Claim(padded(series(lambda n: n + 1, phis=(RELU, GELU, SOFTPLUS))), judge)
