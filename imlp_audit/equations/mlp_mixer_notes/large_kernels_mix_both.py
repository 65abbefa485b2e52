"""Convolutions with an N x N kernel, N > 1, mix features both between locations and at one.

Read as: some output depends on an input at another location, and some on an input of another channel, for any kernel
without a zero.

Place: list on CNNs, first and third item
Printed: (ii) is implemented with N x N convolutions (for N > 1); larger kernels perform both (i) and (ii)
Bound: none: the derivatives are the kernel's weights
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._mixing import BOTH, Kernel, convolution, kernels, mixes


def judge(case: Kernel, arithmetic: Arithmetic) -> Trial:
    """Look at what the convolution links on a grid of 2 x 2."""
    found = mixes(convolution(case, arithmetic), arithmetic.tensor([[0.0] * len(case)] * 4))
    return Trial(found == BOTH, {"kernel": case, "mixes": found})


CLAIM = Claim(kernels(st.sampled_from([2, 3])), judge)
