"""Eq. 10 with i and j from -n to n reads as many rows and columns as a (2n+1) x (2n+1) depthwise convolution.

The 3 x 3 convolution that the paper uses as default is Eq. 10 with n = 1.

Place: Sec. 4.3, the sentence after Eq. 10
Corrected: this is equal to going through the non-linear function followed by a (2n+1) x (2n+1) depthwise convolution
Bound: none: rows and columns are counted
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._reach import judge_kernel


def judge(n: int, arithmetic: Arithmetic) -> Trial:
    """Hold Eq. 10 over the whole range against a (2n+1) x (2n+1) convolution."""
    return judge_kernel(n, range(-n, n + 1), 2 * n + 1, arithmetic)


CLAIM = Claim(st.integers(1, 5), judge)
