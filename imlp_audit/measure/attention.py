"""timm's fused attention."""

from __future__ import annotations

from torch import nn


def unfuse_attention(model: nn.Module) -> nn.Module:
    """Makes timm's attention write out its two products, which fvcore does not count fused; same model."""
    for module in model.modules():
        if hasattr(module, "fused_attn"):
            module.fused_attn = False  # type: ignore[assignment]  # a plain attribute
    return model
