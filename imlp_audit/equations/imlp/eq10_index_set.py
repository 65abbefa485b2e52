"""Eq. 10, its i and j taken from the set {-n, n} as printed, is phi followed by a depthwise convolution with weights a.

Compared away from the borders, where no index leaves the grid. The set {-n, n} has two elements, so that the sum has
four terms, the corners of the window, and x_{h,w,c} itself is not among them.

Place: Sec. 4.3, Eq. 10 and the sentence after it
Printed: phi_s(x_{h,w,c}) = sum_{i,j in {-n, n}} a_{i,j,c} phi(x_{i+h,j+w,c} + b_c) is equal to going through the
    non-linear function followed by a depthwise convolution
Nearest: eq10_index_set_corrected
Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._series import Series, interior, series


def judge(case: Series, arithmetic: Arithmetic) -> Trial:
    """Hold the convolution against the four printed terms."""
    rows, columns = interior(case)
    convolved = case.convolved(arithmetic)[:, rows.start : rows.stop, columns.start : columns.stop]
    printed = case.printed(arithmetic, (-case.n, case.n), rows, columns)
    return equal(convolved, printed, **case.shown())


CLAIM = Claim(series(lambda n: 2 * n + 1, largest=1), judge)
