"""The chain from CaiT to ResMLP (arXiv 2105.03404, Appendix A), which starts with CaiT (arXiv 2103.17239)."""

from __future__ import annotations

from typing import assert_never

import torch
from torch import Tensor, nn

from imlp_audit.models.hosts.resmlp import CaitChain, CaitStage, Pooling
from imlp_audit.models.mixer import PatchEmbedding
from imlp_audit.models.nets.resmlp import ACTIVATIONS, PRE_NORMS, cross_patch_mlp, initial_scale
from imlp_audit.models.resmlp import (
    AveragePooling,
    ClassLayer,
    ClassMlpLayer,
    ClassPooling,
    CrossPatch,
    FeedForward,
    LayerScale,
    ResMlpLayer,
)

CLASS_LAYERS = 2


class TalkingHeads(nn.Module):
    """Self-attention whose heads are mixed before and after the softmax (arXiv 2003.02436).

    Maps (batch, patches, channels) to the same shape.
    """

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(channels, 3 * channels)
        self.before = nn.Linear(heads, heads)
        self.after = nn.Linear(heads, heads)
        self.proj = nn.Linear(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Mix between patches and between channels."""
        q, k, v = (_by_head(part, self.heads) for part in self.qkv(x).chunk(3, dim=-1))
        scores = _across_heads(self.before, q * q.shape[-1] ** -0.5 @ k.transpose(-2, -1))
        weights = _across_heads(self.after, scores.softmax(dim=-1))
        y: Tensor = self.proj((weights @ v).transpose(1, 2).flatten(2))
        return y


class ClassAttention(nn.Module):
    """The class token's query over all tokens: (batch, 1 + patches, channels) to (batch, 1, channels)."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(channels, channels)
        self.k = nn.Linear(channels, channels)
        self.v = nn.Linear(channels, channels)
        self.proj = nn.Linear(channels, channels)

    def forward(self, tokens: Tensor) -> Tensor:
        """Aggregate the tokens, the class token the first of them."""
        parts = self.q(tokens[:, :1]), self.k(tokens), self.v(tokens)
        q, k, v = (_by_head(part, self.heads) for part in parts)
        weights = (q * q.shape[-1] ** -0.5 @ k.transpose(-2, -1)).softmax(dim=-1)
        token: Tensor = self.proj((weights @ v).transpose(1, 2).flatten(2))
        return token


class CaitClassifier(nn.Module):
    """Patches with their positions, the layers, a pool and a linear classifier.

    Maps images (batch, 3, height, width) to logits (batch, classes).
    """

    def __init__(self, host: CaitChain, size: tuple[int, int], classes: int) -> None:
        super().__init__()
        self.size = size
        patches = (size[0] // host.patch) * (size[1] // host.patch)
        self.stem = PatchEmbedding(host.patch, host.width)
        self.positions = nn.Parameter(torch.empty(patches, host.width))
        nn.init.trunc_normal_(self.positions, std=0.02)
        self.blocks = nn.Sequential(*(_layer(host, patches) for _ in range(host.layers)))
        self.pool = _pool(host, patches)
        self.head = nn.Linear(host.width, classes)

    def forward(self, image: Tensor) -> Tensor:
        """Return the logits."""
        logits: Tensor = self.head(self.pool(self.blocks(self.stem(image) + self.positions)))
        return logits

    def get_classifier(self) -> nn.Module:
        """Return the head."""
        return self.head

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return a batch of images of the model's size."""
        return (torch.zeros(batch, 3, *self.size),)


def build_cait_chain(host: CaitChain, size: tuple[int, int], classes: int) -> nn.Module:
    """Return a stage of the chain with fresh weights for images of a height and width.

    Raises BuildError for an expansion that leaves the MLP over the patches no hidden unit.
    """
    return CaitClassifier(host, size, classes)


def _layer(host: CaitChain, patches: int) -> ResMlpLayer:
    """Return a layer: CaiT's own has the form of ResMLP's, with LayerNorm before and LayerScale after a sublayer."""
    scale = initial_scale(host.layers)
    return ResMlpLayer(
        host.width,
        _across_patches(host, patches),
        FeedForward(host.width, bias=True, activation=ACTIVATIONS[host.nonlinearity]),
        LayerScale(host.width, scale),
        LayerScale(host.width, scale),
        pre=PRE_NORMS[host.norm],
    )


def _across_patches(host: CaitChain, patches: int) -> nn.Module:
    match host.stage:
        case CaitStage.ATTENTION:
            return TalkingHeads(host.width, host.heads)
        case CaitStage.PATCH_MLP | CaitStage.CLASS_MLP:
            return cross_patch_mlp(patches, host.expansion, ACTIVATIONS[host.nonlinearity], bias=True)
        case CaitStage.LINEAR:
            return CrossPatch(patches, bias=True)
        case _:
            assert_never(host.stage)


def _pool(host: CaitChain, patches: int) -> nn.Module:
    """Return the layers of the class token, and the norm after them; or the average after that norm."""
    last = PRE_NORMS[host.norm](host.width)
    if host.pooling is Pooling.AVERAGE:
        return nn.Sequential(last, AveragePooling())
    return ClassPooling(host.width, *(_class_layer(host, patches) for _ in range(CLASS_LAYERS)), last)


def _class_layer(host: CaitChain, patches: int) -> ClassLayer:
    scale, pre, activation = initial_scale(host.layers), PRE_NORMS[host.norm], ACTIVATIONS[host.nonlinearity]
    with_attention = host.stage in (CaitStage.ATTENTION, CaitStage.PATCH_MLP) and host.pooling is None
    if not with_attention:
        return ClassMlpLayer(host.width, patches, scale=scale, pre=pre, activation=activation)
    mlp = FeedForward(host.width, bias=True, activation=activation)
    return ClassLayer(host.width, ClassAttention(host.width, host.heads), mlp, scale, pre=pre)


def _by_head(x: Tensor, heads: int) -> Tensor:
    """Map (batch, tokens, channels) to (batch, heads, tokens, channels / heads)."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)


def _across_heads(linear: nn.Linear, x: Tensor) -> Tensor:
    """Apply a linear layer across the heads: (batch, heads, tokens, tokens) to the same shape."""
    y: Tensor = linear(x.permute(0, 2, 3, 1))
    return y.permute(0, 3, 1, 2)
