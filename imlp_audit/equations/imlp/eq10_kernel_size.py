"""Eq. 10 reads as many rows and columns as phi followed by an n x n depthwise convolution.

The n of the equation and of the sentence after it are one symbol. Whether i and j take the two printed values or all
between them, the outermost positions are n away to each side.

Place: Sec. 4.3, the sentence after Eq. 10
Printed: this is equal to going through the non-linear function followed by a n x n depthwise convolution
Nearest: eq10_kernel_size_corrected
Bound: none: rows and columns are counted
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._reach import judge_kernel


def judge(n: int, arithmetic: Arithmetic) -> Trial:
    """Hold Eq. 10 as printed against an n x n convolution."""
    return judge_kernel(n, (-n, n), n, arithmetic)


CLAIM = Claim(st.integers(1, 5), judge)
