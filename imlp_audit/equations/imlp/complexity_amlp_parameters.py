"""The AMLP has fewer parameters than the MLP, at the widths of the models of Table 1.

With biases, and AGeLU coefficients for every channel; C' is 4 C, or 8 C as in a stage of LVT.

Place: Sec. 4.1, the sentence after Eq. 5
Printed: the first FC layer has half the output channels compared to the original MLP module, and can effectively
    reduce the FLOPs and parameters in the vision transformer model
Bound: none: parameters are counted
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._blocks import LAYERS_OF_TABLE_1, amlp, mlp
from imlp_audit.measure.parameters import count_parameters


def judge(case: tuple[int, int], _: Arithmetic) -> Trial:
    """Hold the parameters of one module against those of the other."""
    c, ratio = case
    ours, theirs = count_parameters(amlp(c, ratio * c)), count_parameters(mlp(c, ratio * c))
    return Trial(ours < theirs, {"C": c, "C'": ratio * c, "AMLP": ours, "MLP": theirs})


CLAIM = Claim(
    st.tuples(st.sampled_from(sorted({width for width, _ in LAYERS_OF_TABLE_1})), st.sampled_from((4, 8))), judge
)
