"""Convolutions with a 1 x 1 kernel mix features at a location, and not between locations.

Read as: some output depends on an input of another channel, none on an input at another location, for any kernel
without a zero.

Place: list on CNNs, second item
Printed: (i) is implemented with 1 x 1 convolutions
Bound: none: the derivatives are the kernel's weights, and exactly zero where no path leads
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._mixing import ONLY_CHANNELS, Kernel, convolution, kernels, mixes


def judge(case: Kernel, arithmetic: Arithmetic) -> Trial:
    """Look at what the convolution links on a grid of 2 x 2."""
    found = mixes(convolution(case, arithmetic), arithmetic.tensor([[0.0] * len(case)] * 4))
    return Trial(found == ONLY_CHANNELS, {"kernel": case, "mixes": found})


CLAIM = Claim(kernels(st.just(1)), judge)
