"""Sec. 2 of paper.tex: what is claimed about the activation."""

from torch import Tensor
from torch.nn.functional import relu

from imlp_audit.claims import Sides, claim, tensors


@claim(x=tensors(), place="Sec. 2, Eq. 1", printed="x = ReLU(x) + ReLU(-x)")
def relu_loses_nothing(x: Tensor) -> Sides:
    """ReLU(x) and ReLU(-x) together give the input back."""
    return x, relu(x) + relu(-x)
