"""The four matrices of a layer have the printed shapes.

Place: Sec. 2.1, paragraph on the parameters
Printed: W_1 in R^{D_S x S}, W_2 in R^{S x D_S}, W_3 in R^{D_C x C}, W_4 in R^{C x D_C}
Bound: none: shapes are compared
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes, sizes


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the shapes of the module's weights against the printed ones."""
    with torch.device("meta"):
        layer = case.layer()
    tokens, channels = layer.token_mixing.mlp, layer.channel_mixing.mlp
    matrices = (tokens.fc1.weight, tokens.fc2.weight, channels.fc1.weight, channels.fc2.weight)
    module = [tuple(matrix.shape) for matrix in matrices]
    printed = [(case.d_s, case.s), (case.s, case.d_s), (case.d_c, case.c), (case.c, case.d_c)]
    return Trial(module == printed, {**case.shown(), "shapes in the module": module, "printed": printed})


CLAIM = Claim(sizes(), judge)
