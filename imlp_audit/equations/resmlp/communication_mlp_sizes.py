"""The MLP that mixes N patches with an expansion factor e is a linear layer from N to e N, GELU, and a linear layer
from e N to N, for the factors that the paper tries and its 14 x 14 patches: e N is an integer.

Place: Appendix A, Ablation on the size of the communication MLP
Printed: linear N x e x N - GELU - linear e x N x N
Bound: none: dimensions are integers
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._costs import PATCHES
from imlp_audit.models.resmlp import CrossPatchMlp


def judge(expansion: float, _: Arithmetic) -> Trial:
    """Hold the shapes of the module's weights, outputs by inputs, against the printed ones."""
    mlp, hidden = CrossPatchMlp(PATCHES, expansion).mlp, expansion * PATCHES
    shapes = [tuple(mlp.b.weight.shape), tuple(mlp.c.weight.shape)]
    return Trial(shapes == [(hidden, PATCHES), (PATCHES, hidden)], {"N": PATCHES, "e": expansion, "weights": shapes})


CLAIM = Claim(st.sampled_from((0.25, 0.5, 1, 2, 3, 4)), judge)
