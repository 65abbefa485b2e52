"""What the parts of a plain ViT cost at 224 with patches of 16."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch import nn

from imlp_audit.count.parameters import count_parameters
from imlp_audit.equations import draw as st
from imlp_audit.models.attention import SelfAttention

from ._blocks import imlp, mlp, multiply_accumulates

_TOKENS, _CLASSES, _HEAD_WIDTH = 14 * 14, 1000, 64
_RATIO, _KERNEL = 4, 3

Count = Callable[..., int]
"""From a module and the shape of its input to a count."""


@dataclass(frozen=True)
class Vit:
    """A width C, in heads of 64, and a number L of blocks."""

    width: int
    depth: int


@dataclass(frozen=True)
class Cost:
    """What a model costs in all, its MLPs alone, and how much less IMLPs with n = 3 in their place cost."""

    everything: int
    mlps: int
    saved: int


def work(vit: Vit) -> Cost:
    """Return multiply-accumulates."""
    return _cost(vit, multiply_accumulates)


def parameters(vit: Vit) -> Cost:
    """Return parameters, positions left out."""
    return _cost(vit, _parameters)


def attention(width: int, heads: int) -> nn.Module:
    """Return plain self-attention with biases, without its numbers."""
    with torch.device("meta"):
        return SelfAttention(width, heads)


def growing() -> st.Strategy[tuple[Vit, Vit]]:
    """Return a ViT and a larger one: wider, deeper or both."""
    vits = [Vit(width, depth) for width in (64, 128, 192, 384, 768, 1024) for depth in (1, 2, 12, 24)]
    pairs = [(a, b) for a in vits for b in vits if a != b and a.width <= b.width and a.depth <= b.depth]
    return st.sampled_from(pairs)


def _parameters(module: nn.Module, *_: int) -> int:
    return count_parameters(module)


@cache
def _cost(vit: Vit, count: Count) -> Cost:
    c, tokens = vit.width, (1, _TOKENS, vit.width)
    with torch.device("meta"):
        stem, head = nn.Conv2d(3, c, 16, stride=16), nn.Sequential(nn.LayerNorm(c), nn.Linear(c, _CLASSES))
        rest = nn.Sequential(nn.LayerNorm(c), attention(c, c // _HEAD_WIDTH), nn.LayerNorm(c))
    mlps = vit.depth * count(mlp(c, _RATIO * c), *tokens)
    imlps = vit.depth * count(imlp(c, _RATIO * c, _KERNEL), *tokens)
    others = count(stem, 1, 3, 224, 224) + vit.depth * count(rest, *tokens) + count(head, 1, c)
    return Cost(others + mlps, mlps, mlps - imlps)
