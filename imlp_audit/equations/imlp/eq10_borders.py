"""With the terms left out whose position is beyond the grid, Eq. 10 is phi followed by a zero-padded convolution.

This holds at every position, the borders included, and for every phi and b_c: what is padded with zeros is the output
of phi, as in VanillaNet. Eq. 10 itself does not say what x_{h,w,c} is beyond the grid.

Place: Sec. 4.3, Eq. 10, at the borders of the grid
Corrected: phi_s(x_{h,w,c}) = sum over i, j from -n to n with (h + i, w + j) on the grid of
    a_{i,j,c} phi(x_{h+i,w+j,c} + b_c)
Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._series import GELU, RELU, SOFTPLUS, Series, series


def judge(case: Series, arithmetic: Arithmetic) -> Trial:
    """Hold the convolution against the sum over what is on the grid, everywhere."""
    height, width = case.size
    printed = case.printed(arithmetic, range(-case.n, case.n + 1), range(height), range(width))
    return equal(case.convolved(arithmetic), printed, **case.shown())


CLAIM = Claim(series(lambda n: 2, phis=(RELU, GELU, SOFTPLUS)), judge)
