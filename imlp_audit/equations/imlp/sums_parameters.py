"""4 C AGeLUs with coefficients for every channel have 16 C^2 parameters, more than the MLP they replace, 8 C^2 + 5 C.

With one of each coefficient for the layer, they have 16 C. The paper does not say which; the MLP has biases.

Place: Sec. 5.2 on Table 4, row AGeLU
Corrected: parameters of AGeLU_1, ..., AGeLU_{4C} = 4 C * 4 C > 8 C^2 + 5 C, or 4 C * 4
Bound: none: parameters are counted
"""

from __future__ import annotations

from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._blocks import mlp
from imlp_audit.measure.parameters import count_parameters
from imlp_audit.models.agelu import AGeLU


def judge(c: int, _: Arithmetic) -> Trial:
    """Hold the parameters of the modules against the formulas."""
    per_channel, per_layer = (
        count_parameters(nn.ModuleList(AGeLU(channels) for _ in range(4 * c))) for channels in (c, 1)
    )
    replaced = count_parameters(mlp(c, 4 * c))
    shown = {"C": c, "for every channel": per_channel, "for the layer": per_layer, "MLP": replaced}
    counted = (per_channel, per_layer, replaced) == (16 * c * c, 16 * c, 8 * c * c + 5 * c)
    return Trial(counted and per_channel > replaced, shown)


CLAIM = Claim(st.integers(1, 16), judge)
