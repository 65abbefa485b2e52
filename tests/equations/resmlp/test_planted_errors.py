"""Each error that is planted in ResMLP's modules, or in what its claims stand on, makes the claims about it false."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.mixer import PatchEmbedding
from imlp_audit.models.resmlp import (
    Aff,
    AlgorithmLayer,
    ClassMlp,
    ClassMlpLayer,
    CrossPatch,
    CrossPatchMlp,
    EquationLayer,
    FeedForward,
    LayerScale,
    ResMlpLayer,
)
from specs.resmlp.equations import appendix_a, sec3_3_sparsity
from specs.resmlp.equations._costs import WIDTH, OnGrid
from tests.equations import papers


def _is_false(name: str) -> bool:
    return papers.is_false("resmlp", name, 20)


def _without_shift(aff: Aff, x: Tensor) -> Tensor:
    return aff.alpha * x


def _scale_and_shift_exchanged(aff: Aff, x: Tensor) -> Tensor:
    return aff.beta * x + aff.alpha


def _centred_over_channels(aff: Aff, x: Tensor) -> Tensor:
    return aff.alpha * (x - x.mean(dim=-1, keepdim=True)) + aff.beta


def _centred_over_batch(aff: Aff, x: Tensor) -> Tensor:
    return aff.alpha * (x - x.mean(dim=0)) + aff.beta


def _channels_reversed(aff: Aff, x: Tensor) -> Tensor:
    return aff.alpha.flip(0) * x + aff.beta


def _layer_scale_with_shift(scale: LayerScale, x: Tensor) -> Tensor:
    return scale.alpha * x + 1


def _a_transposed(layer: CrossPatch, x: Tensor) -> Tensor:
    return layer.a.weight[: x.shape[1], : x.shape[1]].T @ x


def _last_submatrix(layer: CrossPatch, x: Tensor) -> Tensor:
    return layer.a.weight[-x.shape[1] :, -x.shape[1] :] @ x


def _not_triangular(layer: CrossPatch, x: Tensor) -> Tensor:
    return layer.a.weight[: x.shape[1], : x.shape[1]] @ x


def _upper_triangular(layer: CrossPatch, x: Tensor) -> Tensor:
    return layer.a.weight[: x.shape[1], : x.shape[1]].triu() @ x


def _strictly_triangular(layer: CrossPatch, x: Tensor) -> Tensor:
    return layer.a.weight[: x.shape[1], : x.shape[1]].tril(-1) @ x


def _across_channels_too(layer: CrossPatch, x: Tensor) -> Tensor:
    return layer.a.weight @ (x + x.mean(dim=-1, keepdim=True))


def _scaled_by_data(layer: CrossPatch, x: Tensor) -> Tensor:
    return layer.a.weight @ (x * x)


def _blind_to_positions(layer: CrossPatch, x: Tensor) -> Tensor:
    return x.mean(dim=1, keepdim=True) + layer.a.weight[0, 0] * x


def _neighbours_only(layer: CrossPatch, x: Tensor) -> Tensor:
    return layer.a.weight.tril(1).triu(-1) @ x


def _relu(feedforward: FeedForward, x: Tensor) -> Tensor:
    y: Tensor = feedforward.c(F.relu(feedforward.b(x)))
    return y


def _tanh_gelu(feedforward: FeedForward, x: Tensor) -> Tensor:
    y: Tensor = feedforward.c(F.gelu(feedforward.b(x), approximate="tanh"))
    return y


def _second_nonlinearity(feedforward: FeedForward, x: Tensor) -> Tensor:
    y: Tensor = feedforward.c(feedforward.activation(feedforward.b(x)).relu())
    return y


def _across_patches_too(feedforward: FeedForward, x: Tensor) -> Tensor:
    y: Tensor = feedforward.c(feedforward.activation(feedforward.b(x.cumsum(dim=1))))
    return y


def _patches_reversed(module: CrossPatchMlp, x: Tensor) -> Tensor:
    y: Tensor = module.mlp(x.transpose(1, 2))
    return y.transpose(1, 2).flip(1)


def _no_first_skip(layer: ResMlpLayer, x: Tensor) -> Tensor:
    z: Tensor = layer.post1(layer.across_patches(layer.pre1(x)))
    return z


def _no_second_skip(layer: ResMlpLayer, z: Tensor) -> Tensor:
    y: Tensor = layer.post2(layer.across_channels(layer.pre2(z)))
    return y


def _nothing(_: nn.Module, x: Tensor) -> Tensor:
    return x


def _all_tokens_updated(layer: ClassMlpLayer, tokens: Tensor) -> Tensor:
    tokens = tokens + layer.post1(layer.aggregate(layer.pre1(tokens)))
    updated: Tensor = tokens + layer.post2(layer.mlp(layer.pre2(tokens)))
    return updated


def _token_kept_from_aggregation(layer: ClassMlpLayer, tokens: Tensor) -> Tensor:
    token = tokens[:, :1] + layer.post2(layer.mlp(layer.pre2(tokens[:, :1])))
    return torch.cat((token, tokens[:, 1:]), dim=1)


def _second_token(module: ClassMlp, patches: Tensor) -> Tensor:
    token = module.token.expand(len(patches), 1, -1)
    tokens: Tensor = module.layers(torch.cat((token, patches), dim=1))
    return tokens[:, 1]


def _itself_alone(attention: SelfAttention, x: Tensor) -> Tensor:
    y: Tensor = attention.proj(attention.qkv(x).chunk(3, dim=-1)[2])
    return y


def _plain_mean(attention: SelfAttention, x: Tensor) -> Tensor:
    y: Tensor = attention.proj(attention.qkv(x).chunk(3, dim=-1)[2])
    return y.mean(dim=1, keepdim=True).expand_as(x)


Forward = Callable[..., Tensor]


@pytest.mark.parametrize(
    ("module", "wrong", "claims"),
    [
        (Aff, _without_shift, "eq1_aff aff_rescales_and_shifts eq2_cross_patch eq3_feedforward affs_around_a_merge"),
        (Aff, _without_shift, "aff_absorbed_by_b aff_absorbed_by_c eq3_is_a_transformer_feedforward"),
        (Aff, _without_shift, "aff_absorbed_by_a_after_it_corrected aff_absorbed_by_a_before_it_corrected"),
        (Aff, _without_shift, "padding_adds_what_aff_makes_of_zeros triangular_a_hides_the_future"),
        (Aff, _scale_and_shift_exchanged, "eq1_aff aff_starts_as_the_identity class_mlp_can_average"),
        (Aff, _centred_over_channels, "aff_uses_no_channel_statistics aff_acts_on_each_column"),
        (Aff, _centred_over_batch, "aff_uses_no_batch_statistics"),
        (Aff, _channels_reversed, "aff_acts_on_each_column eq1_aff"),
        (LayerScale, _layer_scale_with_shift, "aff_is_layer_scale_plus_bias algorithm1_computes_eq3"),
        (LayerScale, _layer_scale_with_shift, "algorithm1_computes_eq2_corrected"),
        (CrossPatch, _a_transposed, "eq2_cross_patch weights_depend_on_no_data affs_around_a_merge"),
        (CrossPatch, _a_transposed, "layer_starts_near_the_identity algorithm1_computes_eq2_corrected"),
        (CrossPatch, _a_transposed, "linear_layer_is_shared_across_channels"),
        (CrossPatch, _last_submatrix, "padding_adds_what_aff_makes_of_zeros padding_adds_nothing_to_a_decoder"),
        (CrossPatch, _not_triangular, "triangular_a_hides_the_future padding_adds_nothing_to_a_decoder"),
        (CrossPatch, _upper_triangular, "triangular_a_hides_the_future padding_adds_nothing_to_a_decoder"),
        (CrossPatch, _strictly_triangular, "triangular_a_hides_the_future"),
        (CrossPatch, _across_channels_too, "linear_layer_is_shared_across_channels"),
        (CrossPatch, _across_channels_too, "depthwise_convolution_mixes_no_channels"),
        (CrossPatch, _scaled_by_data, "weights_depend_on_no_data gelu_is_the_only_nonlinearity"),
        (CrossPatch, _blind_to_positions, "linear_layer_encodes_positions"),
        (CrossPatch, _neighbours_only, "global_field_of_view"),
        (CrossPatch, _a_transposed, "bias_tells_patches_apart"),  # it leaves the bias out too
        (FeedForward, _relu, "eq3_feedforward eq3_is_a_transformer_feedforward algorithm1_computes_eq3"),
        (FeedForward, _tanh_gelu, "eq3_feedforward appendix_mlp_across_patches"),
        (FeedForward, _second_nonlinearity, "gelu_is_the_only_nonlinearity eq3_feedforward"),
        (FeedForward, _across_patches_too, "cross_channel_works_per_location no_interaction_is_a_bag_of_patches"),
        (CrossPatchMlp, _patches_reversed, "appendix_mlp_across_patches appendix_mlps_are_symmetrical"),
        (AlgorithmLayer, _nothing, "smaller_patches_cost_more"),
        (ClassMlpLayer, _all_tokens_updated, "class_mlp_keeps_patches_frozen class_mlp_costs_little"),
        (ClassMlpLayer, _token_kept_from_aggregation, "class_mlp_can_average"),
        (ClassMlp, _second_token, "class_mlp_can_average"),
        (SelfAttention, _itself_alone, "global_field_of_view self_attention_weights_depend_on_data"),
        (SelfAttention, _plain_mean, "self_attention_weights_depend_on_data"),
    ],
)
def test_wrong_forward(monkeypatch: pytest.MonkeyPatch, module: type[nn.Module], wrong: Forward, claims: str) -> None:
    monkeypatch.setattr(module, "forward", wrong)
    assert [name for name in claims.split() if not _is_false(name)] == []


@pytest.mark.parametrize(
    ("sublayer", "wrong", "claims"),
    [
        ("cross_patch", _no_first_skip, "eq2_cross_patch layer_starts_near_the_identity"),
        ("cross_channel", _no_second_skip, "eq3_feedforward layer_starts_near_the_identity"),
    ],
)
def test_missing_skip(monkeypatch: pytest.MonkeyPatch, sublayer: str, wrong: Forward, claims: str) -> None:
    monkeypatch.setattr(ResMlpLayer, sublayer, wrong)
    assert [name for name in claims.split() if not _is_false(name)] == []


def _starts_large(layer: EquationLayer, channels: int, patches: int, *, scale: float = 1.0) -> None:
    linear, feedforward = CrossPatch(patches, bias=False), FeedForward(channels, bias=False)
    ResMlpLayer.__init__(layer, channels, linear, feedforward, Aff(channels, 1.0), Aff(channels, 1.0))


def _starts_halved(layer: EquationLayer, channels: int, patches: int) -> None:
    _starts_large(layer, channels, patches)
    nn.init.constant_(layer.get_parameter("pre2.alpha"), 0.5)


def _narrow(layer: EquationLayer, channels: int, patches: int) -> None:
    linear, feedforward = CrossPatch(patches, bias=False), FeedForward(channels, 2, bias=False)
    ResMlpLayer.__init__(layer, channels, linear, feedforward, Aff(channels), Aff(channels))


@pytest.mark.parametrize(
    ("module", "wrong", "claims"),
    [
        (EquationLayer, _starts_large, "layer_starts_near_the_identity"),
        (EquationLayer, _starts_halved, "aff_starts_as_the_identity"),
        (EquationLayer, _narrow, "dimensions algorithm1_has_the_parameters_of_eq2_eq3_corrected"),
        (AlgorithmLayer, _starts_large, "algorithm1_has_the_parameters_of_eq2_eq3_corrected"),
    ],
)
def test_wrong_parts(
    monkeypatch: pytest.MonkeyPatch, module: type[nn.Module], wrong: Callable[..., None], claims: str
) -> None:
    monkeypatch.setattr(module, "__init__", wrong)
    assert [name for name in claims.split() if not _is_false(name)] == []


def test_one_hidden_unit_has_fewer_parameters_than_the_linear_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_hidden(module: CrossPatchMlp, patches: int) -> None:
        nn.Module.__init__(module)
        module.mlp = FeedForward(patches, 1 / patches, bias=True)

    monkeypatch.setattr(CrossPatchMlp, "__init__", one_hidden)
    assert _is_false("linear_layer_has_fewer_parameters")


def _kernel_of_one(layer: OnGrid, *convolutions: nn.Module) -> None:
    nn.Module.__init__(layer)
    layer.convolutions = nn.Sequential(nn.Conv2d(WIDTH, WIDTH, 1))


def _full_convolution(layer: OnGrid, *convolutions: nn.Module) -> None:
    nn.Module.__init__(layer)
    layer.convolutions = nn.Sequential(nn.Conv2d(WIDTH, WIDTH, 3, padding=1))


def _wide_mlp(module: CrossPatchMlp, patches: int, expansion: float = 8) -> None:
    nn.Module.__init__(module)
    module.mlp = FeedForward(patches, 2 * expansion, bias=True)


def _overlapping_patches(module: PatchEmbedding, patch: int, channels: int, image_channels: int = 3) -> None:
    nn.Module.__init__(module)
    module.proj = nn.Conv2d(image_channels, channels, kernel_size=patch + 2, stride=patch, padding=1)


@pytest.mark.parametrize(
    ("module", "wrong", "claims"),
    [
        (OnGrid, _kernel_of_one, "convolution_full_doubles_costs"),
        (OnGrid, _full_convolution, "convolution_depthwise_costs_the_same convolution_separable_costs_the_same"),
        (CrossPatchMlp, _wide_mlp, "communication_mlp_costs_halfway communication_mlp_sizes"),
        (PatchEmbedding, _overlapping_patches, "patches_are_embedded_independently"),
    ],
)
def test_wrong_costs_and_patches(
    monkeypatch: pytest.MonkeyPatch, module: type[nn.Module], wrong: Callable[..., None], claims: str
) -> None:
    monkeypatch.setattr(module, "__init__", wrong)
    assert [name for name in claims.split() if not _is_false(name)] == []


def test_norms_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    layer_norm, batch_norm = nn.LayerNorm, nn.BatchNorm1d
    monkeypatch.setattr(nn, "BatchNorm1d", layer_norm)
    assert _is_false("batchnorm_uses_batch_statistics")
    monkeypatch.setattr(nn, "LayerNorm", batch_norm)
    assert _is_false("layernorm_uses_batch_statistics_corrected")


def test_sixteen_levels_on_each_side(monkeypatch: pytest.MonkeyPatch) -> None:
    def finer(w: Tensor, least: int, greatest: int, step: float) -> Tensor:
        return (2 * w / step).round().clamp(2 * least, 2 * greatest)

    monkeypatch.setattr(sec3_3_sparsity, "_rounded", finer)
    assert _is_false("four_bits_round_small_weights_to_zero")


def test_sparsity_below_a_fixed_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sec3_3_sparsity, "_sparsity", lambda w: float((w.abs() < 0.05).double().mean()))
    assert _is_false("sparsity_ignores_the_scale")


def test_bias_left_out_of_the_printed_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RoundedMatrix, "__add__", lambda products, _: products)
    assert _is_false("fully_connected_is_a_1x1_convolution")


def test_overlapping_patches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appendix_a, "grid", lambda patch, _: ((224 - patch) // 8 + 1,) * 2)
    assert _is_false("grid_of_16_by_16_patches_corrected")
