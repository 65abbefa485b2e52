"""Eq. 10, its i and j running from -n to n, is phi followed by a depthwise convolution of (2n+1) x (2n+1) weights.

Compared away from the borders, where no index leaves the grid. The weight at row i + n and column j + n of the kernel
is a_{i,j,c}, not flipped, and the bias b_c comes before phi, not with the convolution.

Place: Sec. 4.3, Eq. 10 and the sentence after it
Corrected: phi_s(x_{h,w,c}) = sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c)
Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._series import Series, interior, series


def judge(case: Series, arithmetic: Arithmetic) -> Trial:
    """Hold the convolution against the sum over the whole window."""
    rows, columns = interior(case)
    convolved = case.convolved(arithmetic)[:, rows.start : rows.stop, columns.start : columns.stop]
    printed = case.printed(arithmetic, range(-case.n, case.n + 1), rows, columns)
    return equal(convolved, printed, **case.shown())


CLAIM = Claim(series(lambda n: 2 * n + 1), judge)
