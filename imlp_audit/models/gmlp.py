"""gMLP, tMLP and aMLP blocks (Liu et al., Pay Attention to MLPs, arXiv 2105.08050; the coursework's Sec. 3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import assert_never

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from imlp_audit.models.blocks import Gate
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.mixer import PatchClassifier, number_of_patches
from imlp_audit.models.readings import SpatialMatrix

Norm = Callable[[int], nn.Module]


class TokenProjection(nn.Module):
    """f(Z) = W Z + b: one linear layer over the tokens, the same for every channel (gMLP).

    W is tokens x tokens, b one number per token. Maps (..., tokens, channels) to the same shape. Initialised
    with W near 0 and b = 1, so that f(Z) is near 1.
    """

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(self.weight_shape(tokens)))
        self.bias = nn.Parameter(torch.ones(tokens))
        nn.init.normal_(self.weight, std=1e-6)

    @staticmethod
    def weight_shape(tokens: int) -> tuple[int, ...]:
        """Return the shape of the weights that make W."""
        return (tokens, tokens)

    def matrix(self) -> Tensor:
        """Return W."""
        return self.weight

    def forward(self, z: Tensor) -> Tensor:
        return F.linear(z.mT, self.matrix(), self.bias).mT


class ToeplitzProjection(TokenProjection):
    """f(Z) = W Z + b with the same weight along each diagonal of W: W[i, j] = w[i - j] (tMLP).

    `weight` has 2 tokens - 1 entries: w[1 - tokens] for the upper right corner, ..., w[tokens - 1].
    """

    @staticmethod
    def weight_shape(tokens: int) -> tuple[int, ...]:
        """Return the shape of the weights that make W."""
        return (2 * tokens - 1,)

    def matrix(self) -> Tensor:
        """Return W."""
        tokens = len(self.bias)
        places = torch.arange(tokens, device=self.weight.device)
        return self.weight[places[:, None] - places + tokens - 1]


PROJECTIONS: dict[SpatialMatrix, type[TokenProjection]] = {
    SpatialMatrix.FULL: TokenProjection,
    SpatialMatrix.TOEPLITZ: ToeplitzProjection,
}


class SpatialGatingUnit(nn.Module):
    """s(Z), the only part of a block that mixes tokens.

    Maps (..., tokens, channels) to the same shape, or to half the channels where the gate splits them. The norm
    is over the channels that go into f (nn.Identity: none). `attention` is added to f, in aMLP.
    """

    def __init__(
        self,
        channels: int,
        tokens: int,
        gate: Gate = Gate.SPLIT,
        projection: type[TokenProjection] = TokenProjection,
        norm_layer: Norm = nn.LayerNorm,
    ) -> None:
        super().__init__()
        if gate is Gate.SPLIT and channels % 2:
            raise ValueError(f"{channels} channels cannot be split into halves")
        self.gate = gate
        self.norm = norm_layer(gate.width(channels))
        self.proj = projection(tokens)

    def f(self, z: Tensor, attention: Tensor | None) -> Tensor:
        """Return what the gate is."""
        mixed: Tensor = self.proj(self.norm(z))
        return mixed if attention is None else mixed + attention

    def forward(self, z: Tensor, attention: Tensor | None = None) -> Tensor:
        match self.gate:
            case Gate.LINEAR:
                return self.f(z, attention)
            case Gate.SUM:
                return z + self.f(z, attention)
            case Gate.PRODUCT:
                return z * self.f(z, attention)
            case Gate.SPLIT:
                z1, z2 = z.chunk(2, dim=-1)
                return z1 * self.f(z2, attention)
            case _:
                assert_never(self.gate)


class TinyAttention(nn.Module):
    """The attention of aMLP, with one head (Fig. 4, pseudo-code). Maps (batch, tokens, width) to d_out channels."""

    def __init__(self, width: int, d_out: int, d_attn: int = 64) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * d_attn)
        self.out = nn.Linear(d_attn, d_out)
        self.scale = d_attn**-0.5

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        w = torch.einsum("bnd,bmd->bnm", q, k)
        a = (w * self.scale).softmax(dim=-1)
        mixed: Tensor = self.out(torch.einsum("bnm,bmd->bnd", a, v))
        return mixed


class GmlpBlock(nn.Module):
    """Z = GELU(X U), Z~ = s(Z), Y = Z~ V + X, with a norm before U (Fig. 3). Keeps (batch, tokens, width).

    `gate_norm_layer` is the norm inside s where it is another than the one before U (nn.Identity: none). With
    `d_attn`, the tiny attention of the block's normed input is added to the gate (aMLP, Fig. 4).
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        tokens: int,
        gate: Gate = Gate.SPLIT,
        projection: type[TokenProjection] = TokenProjection,
        norm_layer: Norm = nn.LayerNorm,
        d_attn: int | None = None,
        gate_norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        self.norm = norm_layer(width)
        self.u = nn.Linear(width, hidden)
        self.sgu = SpatialGatingUnit(hidden, tokens, gate, projection, gate_norm_layer or norm_layer)
        self.v = nn.Linear(gate.width(hidden), width)
        self.attention = None if d_attn is None else TinyAttention(width, gate.width(hidden), d_attn)

    def forward(self, x: Tensor) -> Tensor:
        shortcut, x = x, self.norm(x)
        z = F.gelu(self.u(x))
        z = self.sgu(z) if self.attention is None else self.sgu(z, self.attention(x))
        y: Tensor = self.v(z)
        return y + shortcut


class GmlpClassifier(PatchClassifier):
    """gMLP blocks where MLP-Mixer has its layers; what is before and after them is the same (coursework, Sec. 3).

    The epsilons are timm's: 1e-6, and inside the gate torch's own 1e-5.
    """

    def __init__(
        self,
        request: BuildRequest,
        *,
        layers: int,
        patch: int,
        width: int,
        hidden: int,
        gate: Gate,
        spatial_matrix: SpatialMatrix,
    ) -> None:
        tokens, projection = number_of_patches(request.size, patch), PROJECTIONS[spatial_matrix]
        norm, gate_norm = partial(nn.LayerNorm, eps=1e-6), nn.LayerNorm
        blocks = (GmlpBlock(width, hidden, tokens, gate, projection, norm, None, gate_norm) for _ in range(layers))
        super().__init__(request.size, patch, width, blocks, request.labels)
