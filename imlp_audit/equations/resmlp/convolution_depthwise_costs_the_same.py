"""A layer with a depth-wise 3 x 3 convolution for the linear patch communication has a comparable number of parameters
and FLOPs. Read as: of a layer of ResMLP-S12, the ratios of both round to 1.

Place: Sec. 3.3, Communication across patches
Printed: The depth-wise convolution yields similar performance at a comparable number of parameters and FLOPs
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
    return rounds_to(1, cost_of_layer(lambda: OnGrid(nn.Conv2d(width, width, 3, padding=1, groups=width))))


CLAIM = Claim(st.just(384), judge)
