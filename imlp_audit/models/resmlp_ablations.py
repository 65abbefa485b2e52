"""What the ablations of ResMLP put in the place of its Aff, its GELU and its linear layer A (arXiv 2105.03404)."""

from __future__ import annotations

from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models.hosts.resmlp import Nonlinearity, Norm
from imlp_audit.models.resmlp import Aff, CrossPatchMlp, PreNorm


class BatchNorm(nn.BatchNorm1d):
    """Batch norm of the channels, the last axis, over the batch and all of its tokens."""

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (..., channels)."""
        return super().forward(x.flatten(0, -2)).view_as(x)


class L2Norm(nn.Module):
    """Divides each token by the l2 norm of its channels, the last axis; it has no parameters."""

    def __init__(self, _channels: int) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (..., channels)."""
        return F.normalize(x, dim=-1)


PRE_NORMS: dict[Norm, PreNorm] = {
    Norm.AFF: Aff,
    Norm.LAYER: partial(nn.LayerNorm, eps=1e-6),  # CaiT's and timm's epsilon
    Norm.BATCH: BatchNorm,
    Norm.L2: L2Norm,
}

ACTIVATIONS: dict[Nonlinearity, type[nn.Module]] = {
    Nonlinearity.GELU: nn.GELU,
    Nonlinearity.SILU: nn.SiLU,
    Nonlinearity.HARD_SWISH: nn.Hardswish,
    Nonlinearity.RELU: nn.ReLU,
}


def initial_scale(layers: int) -> float:
    """Return what LayerScale starts with in a network of so many layers, as in CaiT (arXiv 2103.17239, Sec. 2)."""
    if layers <= 18:
        return 0.1
    return 1e-5 if layers <= 24 else 1e-6


def cross_patch_mlp(patches: int, expansion: float | None, activation: type[nn.Module], *, bias: bool) -> CrossPatchMlp:
    """Return the MLP over the patches, four times as wide as they are many unless an expansion is given.

    Raises BuildError where the expansion leaves no hidden unit.
    """
    expansion = 4 if expansion is None else expansion
    if int(expansion * patches) == 0:
        raise BuildError(f"expansion: {expansion:g} times {patches} patches leaves the MLP over them no hidden unit")
    return CrossPatchMlp(patches, expansion, bias=bias, activation=activation)
