"""A layer with a depth-separable 3 x 3 convolution, a depth-wise one and then a 1 x 1 one, has a number of parameters
and FLOPs comparable to the linear layer. Read as: of a layer of ResMLP-S12, the ratios of both round to 1.

Place: Sec. 3.3, Communication across patches
Printed: the depth-separable convolutions combine accuracy close to that of full 3 x 3 convolutions with a number of
    parameters and FLOPs comparable to our linear layer
Bound: none: counts are integers
"""

from __future__ import annotations

from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._costs import OnGrid, cost_of_layer, rounds_to


def judge(width: int, _: Arithmetic) -> Trial:
    """Hold the ratios of costs against 1."""

    def separable() -> nn.Module:
        return OnGrid(nn.Conv2d(width, width, 3, padding=1, groups=width), nn.Conv2d(width, width, 1))

    return rounds_to(1, cost_of_layer(separable))


CLAIM = Claim(st.just(384), judge)
