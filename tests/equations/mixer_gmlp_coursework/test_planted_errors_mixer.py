"""Each error that is planted in the package makes a claim about MLP-Mixer false."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.equations import functions, mixer
from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.mixer import ChannelMixing, MixerLayer, Mlp, PatchEmbedding, TokenMixing
from specs.mixer_gmlp_coursework.equations import _table1, sec2_1_gelu
from tests.equations import mixers, papers


def _is_false(name: str) -> bool:
    return papers.is_false("mixer_gmlp_coursework", name, 30)


@pytest.mark.parametrize("forward", mixers.TOKEN_MIXING.values(), ids=mixers.TOKEN_MIXING)
@pytest.mark.parametrize("claim", ["mixer_token_mixing", "mixer_biases_of_tokens"])
def test_token_mixing(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor], claim: str) -> None:
    monkeypatch.setattr(TokenMixing, "forward", forward)
    assert _is_false(claim)


@pytest.mark.parametrize("forward", mixers.CHANNEL_MIXING.values(), ids=mixers.CHANNEL_MIXING)
@pytest.mark.parametrize("claim", ["mixer_channel_mixing", "mixer_biases_of_channels"])
def test_channel_mixing(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor], claim: str) -> None:
    monkeypatch.setattr(ChannelMixing, "forward", forward)
    assert _is_false(claim)


@pytest.mark.parametrize("forward", mixers.MLP.values(), ids=mixers.MLP)
@pytest.mark.parametrize(
    "claim",
    [
        "mixer_token_mixing",
        "mixer_channel_mixing",
        "mixer_channel_mixing_as_convolution",
        "mixer_token_mixing_columns_corrected",
    ],
)
def test_mlp(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor], claim: str) -> None:
    monkeypatch.setattr(Mlp, "forward", forward)
    assert _is_false(claim)


@pytest.mark.parametrize("claim", ["mixer_in_turn", "mixer_token_mixing_columns_corrected"])
def test_mlp_across_rows(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    monkeypatch.setattr(Mlp, "forward", mixers.mlp_across_rows)
    assert _is_false(claim)


@pytest.mark.parametrize("step", [TokenMixing, ChannelMixing])
def test_what_the_mlps_read(monkeypatch: pytest.MonkeyPatch, step: type[TokenMixing | ChannelMixing]) -> None:
    forwards = mixers.TOKEN_MIXING if step is TokenMixing else mixers.CHANNEL_MIXING
    monkeypatch.setattr(step, "forward", forwards["no norm"])
    assert _is_false("mixer_layer_norm")


def test_token_mixing_that_sees_no_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenMixing, "forward", lambda step, x: x + step.norm(x).mean(1, keepdim=True))
    assert _is_false("mixer_token_mixing_sees_places")


def test_token_mixing_with_no_linking_norm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The literal form is false because of the norm alone: without it, the columns would be independent."""
    monkeypatch.setattr(mixer, "normalise", lambda table: table)
    monkeypatch.setattr(TokenMixing, "forward", mixers.TOKEN_MIXING["no norm"])
    assert not _is_false("mixer_token_mixing_columns")


@pytest.mark.parametrize(
    "claim",
    [
        "mixer_token_mixing_cost",
        "mixer_channel_mixing_cost",
        "mixer_weight_shapes",
        "mixer_parameters_corrected",
    ],
)
def test_hidden_width_doubled(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    make = Mlp.__init__
    monkeypatch.setattr(Mlp, "__init__", lambda mlp, width, hidden, **bias: make(mlp, width, 2 * hidden, **bias))
    assert _is_false(claim)


@pytest.mark.parametrize("claim", ["mixer_cost_linear", "mixer_vit_quadratic"])
def test_width_that_follows_the_tokens(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    make = TokenMixing.__init__

    def make_wider(step: TokenMixing, tokens: int, channels: int, hidden: int, *, bias: bool = True) -> None:
        make(step, tokens, channels, hidden + tokens, bias=bias)

    monkeypatch.setattr(TokenMixing, "__init__", make_wider)
    assert _is_false(claim)


def test_less_work_than_two_wider_mlps_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MixerLayer, "forward", lambda layer, x: layer.channel_mixing(x))
    assert _is_false("mixer_hidden_widths")


def test_attention_without_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SelfAttention, "forward", lambda layer, x: layer.proj(layer.qkv(x).chunk(3, -1)[2]))
    assert _is_false("mixer_attention_mixes_both")
    assert _is_false("mixer_vit_quadratic")


def test_layer_that_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenMixing, "forward", lambda step, x: x[:, ::2])
    assert _is_false("mixer_keeps_shape")


@pytest.mark.parametrize("claim", ["mixer_fixed_image_size", "mixer_patch_size"])
def test_token_mixing_by_a_mean(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    """It has no weights for the tokens, and takes any number of them."""

    def make_meaning(step: TokenMixing, _tokens: int, channels: int, hidden: int, *, bias: bool = True) -> None:
        nn.Module.__init__(step)
        step.norm, step.mlp = nn.LayerNorm(channels), Mlp(1, hidden, bias=bias)

    monkeypatch.setattr(TokenMixing, "__init__", make_meaning)
    monkeypatch.setattr(TokenMixing, "forward", lambda step, x: x + step.mlp(step.norm(x).mean(1)[..., None]).mT)
    assert _is_false(claim)


def test_overlapping_patches(monkeypatch: pytest.MonkeyPatch) -> None:
    make = PatchEmbedding.__init__

    def make_overlapping(embedding: PatchEmbedding, patch: int, channels: int, image_channels: int = 3) -> None:
        make(embedding, patch, channels, image_channels)
        embedding.proj.stride = (max(patch // 2, 1),) * 2

    monkeypatch.setattr(PatchEmbedding, "__init__", make_overlapping)
    assert _is_false("patches_count_corrected")
    assert _is_false("patches_convolution")


def test_patches_column_by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatchEmbedding, "forward", lambda embedding, image: embedding.proj(image).mT.flatten(2).mT)
    assert _is_false("patches_convolution")


@pytest.mark.parametrize("claim", ["gelu_x_phi", "mixer_biases_of_tokens"])
def test_another_activation(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    monkeypatch.setattr(nn.GELU, "forward", lambda _gelu, x: torch.nn.functional.silu(x))
    assert _is_false(claim)


@pytest.mark.parametrize("cube", [0.0447, 0.04472])
def test_another_coefficient_of_the_tanh_form(monkeypatch: pytest.MonkeyPatch, cube: float) -> None:
    monkeypatch.setattr(functions, "_CUBE", cube)
    assert _is_false("gelu_tanh_form_corrected")


def test_bound_too_low_is_not_proved() -> None:
    assert not sec2_1_gelu._differ_by_at_most(4.73e-4, 2.0, 3.0)
    assert sec2_1_gelu._differ_by_at_most(4.74e-4, 2.0, 3.0)


def test_table_1_misread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_table1.TABLE_1, "S/16", _table1.Row(8, 16, 512, 196, 2048, 196))
    assert _is_false("mixer_table1")
