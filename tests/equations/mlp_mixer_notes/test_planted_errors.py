"""Each error that is planted in the package makes a claim of the notes on MLP-Mixer false."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.mixer import ChannelMixing, MixerLayer, Mlp, PatchEmbedding, TokenMixing
from specs.mlp_mixer_notes.equations import mixing, mlps
from tests.equations import mixers, papers


def _is_false(name: str) -> bool:
    return papers.is_false("mlp_mixer_notes", name, 30)


@pytest.mark.parametrize("forward", mixers.TOKEN_MIXING.values(), ids=mixers.TOKEN_MIXING)
@pytest.mark.parametrize("claim", ["token_mixing", "layer"])
def test_token_mixing(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor], claim: str) -> None:
    monkeypatch.setattr(TokenMixing, "forward", forward)
    assert _is_false(claim)


@pytest.mark.parametrize("forward", mixers.CHANNEL_MIXING.values(), ids=mixers.CHANNEL_MIXING)
@pytest.mark.parametrize("claim", ["channel_mixing", "layer"])
def test_channel_mixing(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor], claim: str) -> None:
    monkeypatch.setattr(ChannelMixing, "forward", forward)
    assert _is_false(claim)


@pytest.mark.parametrize("forward", mixers.MLP.values(), ids=mixers.MLP)
def test_mlp(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor]) -> None:
    monkeypatch.setattr(Mlp, "forward", forward)
    assert _is_false("mlp_by_row")


def test_steps_in_the_other_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MixerLayer, "forward", lambda layer, x: layer.token_mixing(layer.channel_mixing(x)))
    assert _is_false("layer")


@pytest.mark.parametrize(
    "claim", ["mlp_by_row", "separates_operations", "mlp_block_mixes_channels", "positional_invariance_corrected"]
)
def test_mlp_across_rows(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    monkeypatch.setattr(Mlp, "forward", mixers.mlp_across_rows)
    assert _is_false(claim)


def test_channel_mixing_that_knows_places(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_places(step: ChannelMixing, u: Tensor) -> Tensor:
        y: Tensor = honest(step, u)
        return y + torch.arange(u.shape[1], dtype=u.dtype, device=u.device)[:, None]

    honest = ChannelMixing.forward
    monkeypatch.setattr(ChannelMixing, "forward", with_places)
    assert _is_false("positional_invariance_corrected")


def test_channel_mixing_of_the_mean_is_invariant(monkeypatch: pytest.MonkeyPatch) -> None:
    """The literal form is false because each token keeps its place, not because of how it is tested."""
    monkeypatch.setattr(
        mlps,
        "mix_channels",
        lambda u, _mixing, _arithmetic: [[sum(column[1:], column[0]) for column in zip(*u, strict=True)]] * len(u),
    )
    monkeypatch.setattr(ChannelMixing, "forward", lambda _step, u: u.sum(1, keepdim=True).expand_as(u))
    assert not _is_false("positional_invariance")


def test_hidden_width_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    make = Mlp.__init__
    monkeypatch.setattr(Mlp, "__init__", lambda mlp, width, hidden, **bias: make(mlp, width, 2 * hidden, **bias))
    assert _is_false("shapes")


@pytest.mark.parametrize("claim", ["cost_linear_in_patches", "cost_linear_in_pixels"])
def test_width_that_follows_the_tokens(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    make = TokenMixing.__init__

    def make_wider(step: TokenMixing, tokens: int, channels: int, hidden: int, *, bias: bool = True) -> None:
        make(step, tokens, channels, hidden + tokens, bias=bias)

    monkeypatch.setattr(TokenMixing, "__init__", make_wider)
    assert _is_false(claim)


def test_untied_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token-mixing MLP whose width grows with the channels."""
    make = TokenMixing.__init__

    def make_untied(step: TokenMixing, tokens: int, channels: int, hidden: int, *, bias: bool = True) -> None:
        make(step, tokens, channels, hidden * channels, bias=bias)

    monkeypatch.setattr(TokenMixing, "__init__", make_untied)
    assert _is_false("tying_saves_parameters")


def test_attention_without_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SelfAttention, "forward", lambda layer, x: layer.proj(layer.qkv(x).chunk(3, -1)[2]))
    assert _is_false("attention_mixes_both")
    assert _is_false("vit_quadratic")


def test_convolution_that_sees_one_pixel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.nn.functional, "conv2d", lambda image, weight: image[..., :2, :2] * weight.sum())
    assert _is_false("large_kernels_mix_both")
    assert _is_false("small_kernels_mix_channels")


def test_pooling_of_all_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        mixing._POOLINGS,
        "max",
        lambda image, **_: image[..., 1:, 1:].amax((1, 2, 3), keepdim=True).expand(1, 2, 2, 2),
    )
    assert _is_false("pooling_mixes_positions")


def test_overlapping_patches(monkeypatch: pytest.MonkeyPatch) -> None:
    make = PatchEmbedding.__init__

    def make_overlapping(embedding: PatchEmbedding, patch: int, channels: int) -> None:
        make(embedding, patch, channels)
        embedding.proj.stride = (max(patch // 2, 1),) * 2

    monkeypatch.setattr(PatchEmbedding, "__init__", make_overlapping)
    assert _is_false("patch_count")


def test_layer_that_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenMixing, "forward", lambda step, x: x[:, ::2])
    assert _is_false("same_size")


def test_patches_column_by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatchEmbedding, "forward", lambda embedding, image: embedding.proj(image).mT.flatten(2).mT)
    assert _is_false("patch_projection")
