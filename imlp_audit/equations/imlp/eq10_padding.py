"""Eq. 10, x continued beyond the grid as the convolution's padding does, is phi followed by that convolution.

Read as: also at the borders, with i and j from -n to n, where a position beyond the grid has x = 0 for a convolution
that is padded with zeros, and likewise for one whose padding replicates, reflects or wraps around. A convolution after
phi is padded after phi, though, and phi(0 + b_c) need not be zero.

Place: Sec. 4.3, the sentence after Eq. 10
Printed: sum over i, j of a_{i,j,c} phi(x_{i+h,j+w,c} + b_c) is equal to going through the non-linear function followed
    by a depthwise convolution
Nearest: eq10_padding_corrected
Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._padding import Padded, padded
from imlp_audit.equations.imlp._series import series
from imlp_audit.equations.strategies import positive


def judge(case: Padded, arithmetic: Arithmetic) -> Trial:
    """Hold the convolution against the sum, everywhere."""
    return equal(case.convolved(arithmetic), case.printed(arithmetic), **case.shown())


CLAIM = Claim(padded(series(lambda n: n + 1, biases=positive(), largest=1)), judge)
