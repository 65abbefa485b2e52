from __future__ import annotations

from typing import TypeVar

import pytest
import torch
from timm.layers import Attention, PatchEmbed
from timm.models.mlp_mixer import MixerBlock
from torch import Tensor, nn

from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.mixer import MixerLayer, PatchEmbedding

_TIMM_NAMES = {
    "token_mixing.norm": "norm1",
    "token_mixing.mlp": "mlp_tokens",
    "channel_mixing.norm": "norm2",
    "channel_mixing.mlp": "mlp_channels",
}


Module = TypeVar("Module", bound=nn.Module)


def _randomised(module: Module) -> Module:
    """Weights, norms and biases that all matter."""
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module.double().eval()


def _renamed(weights: dict[str, Tensor], names: dict[str, str]) -> dict[str, Tensor]:
    return {
        name.replace(theirs, ours, 1): weight
        for ours, theirs in names.items()
        for name, weight in weights.items()
        if name.startswith(theirs + ".")
    }


def _copied(ours: Module, weights: dict[str, Tensor]) -> Module:
    ours.double().load_state_dict(weights)
    return ours.eval()


@pytest.mark.parametrize(("tokens", "channels"), [(4, 6), (5, 8), (1, 2)])
def test_layer_is_timms_mixer_block(tokens: int, channels: int) -> None:
    theirs = _randomised(MixerBlock(channels, tokens))
    weights = _renamed(theirs.state_dict(), _TIMM_NAMES)
    ours = _copied(MixerLayer(tokens, channels, channels // 2, 4 * channels), weights)
    x = torch.randn(3, tokens, channels, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x))


def test_patch_embedding_is_timms() -> None:
    theirs = _randomised(PatchEmbed(img_size=(8, 12), patch_size=4, in_chans=3, embed_dim=5))
    ours = _copied(PatchEmbedding(4, 5), dict(theirs.state_dict()))
    image = torch.randn(2, 3, 8, 12, dtype=torch.float64)
    assert ours(image).shape == (2, 6, 5)
    torch.testing.assert_close(ours(image), theirs(image))


@pytest.mark.parametrize("heads", [1, 3])
def test_attention_is_timms(heads: int) -> None:
    theirs = _randomised(Attention(6, num_heads=heads, qkv_bias=True))
    theirs.fused_attn = False
    ours = _copied(SelfAttention(6, heads), dict(theirs.state_dict()))
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-12, atol=1e-12)


def test_no_biases_where_none_are_asked_for() -> None:
    layer = MixerLayer(4, 6, 3, 5, bias=False)
    assert [name for name, _ in layer.named_parameters() if name.endswith("bias")] == [
        "token_mixing.norm.bias",
        "channel_mixing.norm.bias",
    ]
    assert [name for name, _ in SelfAttention(4, bias=False).named_parameters()] == ["qkv.weight", "proj.weight"]
