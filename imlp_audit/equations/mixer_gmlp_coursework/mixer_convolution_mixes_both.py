"""A convolution with an N x N kernel, N > 1, mixes channels and space at once.

Read as: some output depends on an input at another place, and some on an input of another channel, for any kernel
without a zero.

Place: Sec. 2.1, paragraph on mixing
Printed: в свёрточных нейронных сетях это можно сделать одновременно, используя размер ядра N x N (N > 1)
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
