"""Multiply-accumulates, from the ledger of a forward pass, and parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.ledger import measure
from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.mixer import ChannelMixing


def macs(build: Callable[[], nn.Module], *shape: int) -> int:
    """Return the multiply-accumulates of one forward pass on an input of this shape."""
    with torch.device("meta"):
        ledger = measure(build(), torch.empty(shape))
    if ledger.unknown:
        raise ValueError(f"not counted: {', '.join(ledger.unknown)}")
    return total(ledger, FLOPS_CONVENTIONS["macs"])


def parameters(build: Callable[[], nn.Module]) -> int:
    """Return the number of parameters."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build().parameters())


def vit_layer_macs(tokens: int, channels: int) -> int:
    """Return the multiply-accumulates of a ViT layer: self-attention, and an MLP four times as wide on channels."""
    mlp = macs(lambda: ChannelMixing(channels, 4 * channels), 1, tokens, channels)
    return macs(lambda: SelfAttention(channels), 1, tokens, channels) + mlp


def second_differences(costs: Sequence[int]) -> list[int]:
    """Return by how much equal steps grow: the same each time for a polynomial of degree 2, and 0 for a line."""
    return [after - 2 * at + before for before, at, after in zip(costs, costs[1:], costs[2:], strict=False)]
