"""A layer with a full 3 x 3 convolution for the linear patch communication has roughly double the parameters and the
FLOPs. Read as: of a layer of ResMLP-S12, the ratios of both round to 2.

Place: Sec. 3.3, Communication across patches
Printed: While full 3 x 3 convolutions yield best results, they come with roughly double the number of parameters and
    FLOPs
Bound: none: counts are integers
"""

from __future__ import annotations

from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._costs import OnGrid, cost_of_layer, rounds_to


def judge(width: int, _: Arithmetic) -> Trial:
    """Hold the ratios of costs against 2."""
    return rounds_to(2, cost_of_layer(lambda: OnGrid(nn.Conv2d(width, width, 3, padding=1))))


CLAIM = Claim(st.just(384), judge)
