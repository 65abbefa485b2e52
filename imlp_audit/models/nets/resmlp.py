"""ResMLP for images, and the rows of its ablations (arXiv 2105.03404, Sec. 2, Fig. 1; Algorithm 1; Tables 3, D.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import assert_never

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models.hosts.resmlp import Communication, Nonlinearity, Norm, Pooling, ResMlp
from imlp_audit.models.mixer import PatchEmbedding
from imlp_audit.models.reading import ResMlpForm, ResMlpReading
from imlp_audit.models.resmlp import (
    Aff,
    AveragePooling,
    BagOfPatchesLayer,
    ClassMlpLayer,
    ClassPooling,
    CrossPatch,
    CrossPatchMlp,
    FeedForward,
    LayerScale,
    OnGrid,
    PreNorm,
    ResMlpLayer,
)

KERNEL = 3
CLASS_LAYERS = 2


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


class ResMlpClassifier(nn.Module):
    """Patches, a linear layer for each, the layers, a pool and a linear classifier.

    Maps images (batch, 3, height, width) to logits (batch, classes).
    """

    def __init__(self, host: ResMlp, reading: ResMlpReading, size: tuple[int, int], classes: int) -> None:
        super().__init__()
        self.size = size
        grid = (size[0] // host.patch, size[1] // host.patch)
        self.stem = PatchEmbedding(host.patch, host.width)
        self.blocks = nn.Sequential(*(_layer(host, reading, grid) for _ in range(host.layers)))
        self.pool = _pool(host, reading.resmlp_form, grid[0] * grid[1])
        self.head = nn.Linear(host.width, classes)

    def forward(self, image: Tensor) -> Tensor:
        """Return the logits."""
        x = self.stem(image)
        for block in self.blocks:  # as the authors' code does: nothing holds on to what came before
            x = block(x)
        logits: Tensor = self.head(self.pool(x))
        return logits

    def get_classifier(self) -> nn.Module:
        """Return the head."""
        return self.head

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return a batch of images of the model's size."""
        return (torch.zeros(batch, 3, *self.size),)


def build_resmlp(host: ResMlp, reading: ResMlpReading, size: tuple[int, int], classes: int) -> nn.Module:
    """Return ResMLP with fresh weights for images of a height and width.

    The reading's form decides on biases in A, B and C, on what follows a sublayer and on a last Aff before the mean;
    class-MLP is one and the same under both. Raises BuildError for an expansion or a grid that is too small.
    """
    return ResMlpClassifier(host, reading, size, classes)


def _layer(host: ResMlp, reading: ResMlpReading, grid: tuple[int, int]) -> nn.Module:
    """Return the layer of Eq. 2 and 3 (Aff after a sublayer, no biases), or of Algorithm 1 (LayerScale, biases).

    Without communication the layer has only its second sublayer; the first leaves its scales if they stay.
    """
    bias = reading.resmlp_form is ResMlpForm.ALGORITHM
    post: Callable[[int, float], nn.Module] = LayerScale if bias else Aff
    width, scale, pre = host.width, initial_scale(host.layers), PRE_NORMS[host.norm]
    across_patches = _communication(host, grid, bias=bias)
    across_channels = FeedForward(width, bias=bias, activation=ACTIVATIONS[host.nonlinearity])
    if across_patches is None and reading.scales_stay:
        across_patches = nn.Identity()
    if across_patches is None:
        return BagOfPatchesLayer(width, across_channels, post(width, scale), pre=pre)
    return ResMlpLayer(width, across_patches, across_channels, post(width, scale), post(width, scale), pre=pre)


def _communication(host: ResMlp, grid: tuple[int, int], *, bias: bool) -> nn.Module | None:
    """Return what exchanges information between patches (Table 3), None where nothing does."""
    patches, width = grid[0] * grid[1], host.width
    match host.communication:
        case Communication.LINEAR:
            return CrossPatch(patches, bias=bias)
        case Communication.NONE:
            return None
        case Communication.MLP:
            return cross_patch_mlp(patches, host.expansion, ACTIVATIONS[host.nonlinearity], bias=bias)
        case Communication.CONV:
            return OnGrid(grid, _convolution(width, grid, bias=bias))
        case Communication.DEPTHWISE:
            return OnGrid(grid, _convolution(width, grid, groups=width, bias=bias))
        case Communication.SEPARABLE:
            depthwise = _convolution(width, grid, groups=width, bias=bias)
            return OnGrid(grid, depthwise, nn.Conv2d(width, width, 1, bias=bias))
        case _:
            assert_never(host.communication)


def _convolution(width: int, grid: tuple[int, int], *, bias: bool, groups: int = 1) -> nn.Conv2d:
    """Return a 3 x 3 convolution that keeps the grid."""
    if min(grid) < KERNEL:
        raise BuildError(f"communication: a {KERNEL} x {KERNEL} kernel is larger than the grid, {grid[0]} x {grid[1]}")
    return nn.Conv2d(width, width, KERNEL, padding=KERNEL // 2, groups=groups, bias=bias)


def _pool(host: ResMlp, form: ResMlpForm, patches: int) -> nn.Module:
    """Return average pooling, or class-MLP; Algorithm 1 has an Aff before the mean, CaiT a norm after its class layers.

    Eq. 2 and 3 end with the last layer.
    """
    pre, activation = PRE_NORMS[host.norm], ACTIVATIONS[host.nonlinearity]
    last = pre(host.width) if form is ResMlpForm.ALGORITHM else nn.Identity()
    match host.pooling:
        case Pooling.AVERAGE:
            return nn.Sequential(last, AveragePooling())
        case Pooling.CLASS_MLP:
            scale = initial_scale(host.layers)
            layers = (
                ClassMlpLayer(host.width, patches, scale=scale, pre=pre, activation=activation)
                for _ in range(CLASS_LAYERS)
            )
            return ClassPooling(host.width, *layers, last)
        case _:
            assert_never(host.pooling)


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
        raise BuildError(f"expansion: {expansion:g} times {patches} patches is less than one hidden unit")
    return CrossPatchMlp(patches, expansion, bias=bias, activation=activation)
