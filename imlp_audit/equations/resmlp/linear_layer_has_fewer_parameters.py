"""The single linear square layer across patches has fewer parameters than the residual MLP block with four times as
many hidden units, with the biases of both or without.

Place: Sec. 3.3, Communication across patches
Printed: The simpler choice of a single linear square layer requires fewer parameters than a residual MLP block
Bound: none: counts are integers
"""

from __future__ import annotations

from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.models.resmlp import CrossPatch, CrossPatchMlp


def judge(side: int, _: Arithmetic) -> Trial:
    """Hold the counts of both, with biases and without, against each other."""
    linear, mlp = CrossPatch(side**2, bias=True), CrossPatchMlp(side**2)
    counts = {"linear": _parameters(linear), "MLP": _parameters(mlp)}
    weights = {"weights of linear": _parameters(linear, 2), "weights of MLP": _parameters(mlp, 2)}
    fewer = counts["linear"] < counts["MLP"] and weights["weights of linear"] < weights["weights of MLP"]
    return Trial(fewer, {"N": side, **counts, **weights})


def _parameters(module: nn.Module, least_dimensions: int = 1) -> int:
    return sum(parameter.numel() for parameter in module.parameters() if parameter.ndim >= least_dimensions)


CLAIM = Claim(st.integers(1, 5), judge)
