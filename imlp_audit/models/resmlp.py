"""ResMLP's layer as its equations have it and as its Algorithm 1 has it, and class-MLP (arXiv 2105.03404).

Features are (batch, patches, channels): the transposes of the paper's d x N^2 matrices X, one for each image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PreNorm: TypeAlias = Callable[[int], nn.Module]
"""Makes what stands before a sublayer of so many channels."""

SMALL_START = 1e-4
"""What LayerScale starts with in a layer of no network of known depth: timm's value."""


class Aff(nn.Module):
    """Computes Diag(alpha) x + beta (Eq. 1) along the channels, the last axis.

    Starts with every alpha as given: 1 before a sublayer, a small value after it (Sec. 2).
    """

    def __init__(self, channels: int, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.full((channels,), alpha))
        self.beta = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape."""
        return self.alpha * x + self.beta


class LayerScale(nn.Module):
    """Computes Diag(alpha) x along the channels: Aff without its bias (CaiT; Algorithm 1)."""

    def __init__(self, channels: int, alpha: float) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.full((channels,), alpha))

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape."""
        return self.alpha * x


class CrossPatch(nn.Module):
    """Computes A X^T (Eq. 2): one linear layer across the patches, shared by all channels.

    `a.weight` is A, a row for each patch of the output. `causal` takes its lower triangle alone, so that no token
    sees a later one. An input of fewer than `patches` patches takes the submatrix of the first ones (Sec. 2,
    sequence-to-sequence ResMLP).
    """

    def __init__(self, patches: int, *, bias: bool, causal: bool = False) -> None:
        super().__init__()
        self.a = nn.Linear(patches, patches, bias=bias)
        self.causal = causal

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, patches, channels)."""
        patches = x.shape[1]
        weight = self.a.weight[:patches, :patches]
        bias = None if self.a.bias is None else self.a.bias[:patches]
        return F.linear(x.transpose(1, 2), weight.tril() if self.causal else weight, bias).transpose(1, 2)


class FeedForward(nn.Module):
    """Computes C GELU(B x) (Eq. 3) along the last axis; B is 4d x d and C is d x 4d where `expansion` is 4.

    `activation` makes what stands in GELU's place (Appendix A).
    """

    def __init__(
        self, channels: int, expansion: float = 4, *, bias: bool, activation: Callable[[], nn.Module] = nn.GELU
    ) -> None:
        super().__init__()
        hidden = int(expansion * channels)
        self.b = nn.Linear(channels, hidden, bias=bias)
        self.activation = activation()
        self.c = nn.Linear(hidden, channels, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape."""
        y: Tensor = self.c(self.activation(self.b(x)))
        return y


class CrossPatchMlp(nn.Module):
    """The transposed MLP that the linear layer A replaced (Appendix A; Table 3, "linear -> MLP")."""

    def __init__(
        self, patches: int, expansion: float = 4, *, bias: bool = True, activation: Callable[[], nn.Module] = nn.GELU
    ) -> None:
        super().__init__()
        self.mlp = FeedForward(patches, expansion, bias=bias, activation=activation)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, patches, channels)."""
        y: Tensor = self.mlp(x.transpose(1, 2))
        return y.transpose(1, 2)


class OnGrid(nn.Module):
    """Convolutions of the grid of patches (Table 3, "patch communication"); `grid` is its height and width."""

    def __init__(self, grid: tuple[int, int], *convolutions: nn.Module) -> None:
        super().__init__()
        self.grid = grid
        self.convolutions = nn.Sequential(*convolutions)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, patches, channels)."""
        y: Tensor = self.convolutions(x.transpose(1, 2).reshape(len(x), -1, *self.grid))
        return y.flatten(2).transpose(1, 2)


class ResMlpLayer(nn.Module):
    """A cross-patch and a cross-channel sublayer, each between what comes before and after it, beside a skip.

    `pre` makes what comes before them.
    """

    def __init__(
        self,
        channels: int,
        across_patches: nn.Module,
        across_channels: nn.Module,
        post1: nn.Module,
        post2: nn.Module,
        *,
        pre: PreNorm = Aff,
    ) -> None:
        super().__init__()
        self.pre1 = pre(channels)
        self.across_patches = across_patches
        self.post1 = post1
        self.pre2 = pre(channels)
        self.across_channels = across_channels
        self.post2 = post2

    def cross_patch(self, x: Tensor) -> Tensor:
        """Return Z of X (Eq. 2); keeps the shape (batch, patches, channels)."""
        z: Tensor = x + self.post1(self.across_patches(self.pre1(x)))
        return z

    def cross_channel(self, z: Tensor) -> Tensor:
        """Return Y of Z (Eq. 3); keeps the shape (batch, patches, channels)."""
        y: Tensor = z + self.post2(self.across_channels(self.pre2(z)))
        return y

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, patches, channels)."""
        return self.cross_channel(self.cross_patch(x))


class EquationLayer(ResMlpLayer):
    """The layer of Eq. 2 and 3: Aff before and after each sublayer; A, B and C are matrices, without biases."""

    def __init__(
        self, channels: int, patches: int, *, expansion: float = 4, scale: float = SMALL_START, causal: bool = False
    ) -> None:
        super().__init__(
            channels,
            CrossPatch(patches, bias=False, causal=causal),
            FeedForward(channels, expansion, bias=False),
            Aff(channels, scale),
            Aff(channels, scale),
        )


class AlgorithmLayer(ResMlpLayer):
    """The layer of Algorithm 1, as the authors and timm build it: Aff before each sublayer, LayerScale after it.

    A, B and C have biases.
    """

    def __init__(self, channels: int, patches: int, *, expansion: float = 4, scale: float = SMALL_START) -> None:
        super().__init__(
            channels,
            CrossPatch(patches, bias=True),
            FeedForward(channels, expansion, bias=True),
            LayerScale(channels, scale),
            LayerScale(channels, scale),
        )


class BagOfPatchesLayer(nn.Module):
    """The layer without its cross-patch sublayer (Table 3, "linear -> none"): no patch sees another."""

    def __init__(self, channels: int, across_channels: nn.Module, post: nn.Module, *, pre: PreNorm = Aff) -> None:
        super().__init__()
        self.pre = pre(channels)
        self.across_channels = across_channels
        self.post = post

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, patches, channels)."""
        y: Tensor = x + self.post(self.across_channels(self.pre(x)))
        return y


class Aggregate(nn.Linear):
    """One linear layer from all tokens to one, shared by all channels; `weight` is (1, tokens)."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, tokens, channels) to (batch, 1, channels)."""
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class ClassLayer(nn.Module):
    """Updates the class token, and it alone, from all tokens (CaiT, arXiv 2103.17239, Sec. 3).

    `aggregate` makes one token of all, the MLP acts on the class token; each stands between `pre` and a LayerScale,
    beside a skip. Maps (batch, 1 + patches, channels), the class token first, to the same shape.
    """

    def __init__(
        self, channels: int, aggregate: nn.Module, mlp: nn.Module, scale: float, *, pre: PreNorm = Aff
    ) -> None:
        super().__init__()
        self.pre1 = pre(channels)
        self.aggregate = aggregate
        self.post1 = LayerScale(channels, scale)
        self.pre2 = pre(channels)
        self.mlp = mlp
        self.post2 = LayerScale(channels, scale)

    def forward(self, tokens: Tensor) -> Tensor:
        """Keep the shape (batch, 1 + patches, channels), and the patches."""
        token, patches = tokens[:, :1], tokens[:, 1:]
        token = token + self.post1(self.aggregate(self.pre1(tokens)))
        token = token + self.post2(self.mlp(self.pre2(token)))
        return torch.cat((token, patches), dim=1)


class ClassMlpLayer(ClassLayer):
    """A layer of class-MLP (Sec. 2): simple linear layers in place of class-attention.

    `aggregate` is one linear layer from the class token and all patches to one, shared by all channels.
    """

    def __init__(
        self,
        channels: int,
        patches: int,
        *,
        scale: float,
        expansion: float = 4,
        pre: PreNorm = Aff,
        activation: Callable[[], nn.Module] = nn.GELU,
    ) -> None:
        mlp = FeedForward(channels, expansion, bias=True, activation=activation)
        super().__init__(channels, Aggregate(1 + patches), mlp, scale, pre=pre)


class ClassPooling(nn.Module):
    """Pools by a learned class token: layers update it from the frozen patch embeddings, and it alone is kept.

    Maps (batch, patches, channels) to (batch, channels).
    """

    def __init__(self, channels: int, *layers: nn.Module) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(channels))
        self.layers = nn.Sequential(*layers)

    def forward(self, patches: Tensor) -> Tensor:
        """Pool the patches."""
        token = self.token.expand(len(patches), 1, -1)
        tokens: Tensor = self.layers(torch.cat((token, patches), dim=1))
        return tokens[:, 0]


class ClassMlp(ClassPooling):
    """Replaces average pooling by `depth` layers of class-MLP: (batch, patches, channels) to (batch, channels)."""

    def __init__(self, channels: int, patches: int, *, depth: int = 2, scale: float = SMALL_START) -> None:
        super().__init__(channels, *(ClassMlpLayer(channels, patches, scale=scale) for _ in range(depth)))


class AveragePooling(nn.Module):
    """Averages the patches: (batch, patches, channels) to (batch, channels)."""

    def forward(self, patches: Tensor) -> Tensor:
        """Pool the patches."""
        return patches.mean(dim=1)
