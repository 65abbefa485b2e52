"""Each error that is planted in a module or in a formula is refuted on symbols."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.claim import Claim
from imlp_audit.equations.exact import Exact
from imlp_audit.equations.expression import Expression
from imlp_audit.equations.proof import RefutedError, prove
from imlp_audit.equations.symbol_tensor import SymbolTensor
from imlp_audit.models import agelu, attention, gmlp, imlp, mixer, resmlp, vanillanet
from tests.equations.papers import all_claims, proved_claims, runnable


def claim_named(name: str) -> Claim[object]:
    """Return a claim of any paper."""
    return next(runnable(claim) for claim in all_claims() if claim.name == name)


PLANTS: dict[str, tuple[type[nn.Module], Callable[..., Tensor], str]] = {
    "gamma behind phi": (
        agelu.AGeLU, lambda m, x: m.beta * (m.phi(m.alpha * x) + m.gamma) + m.theta, "eq6_t1"
    ),
    "beta twice": (agelu.AGeLU, lambda m, x: m.beta * m.beta * m.phi(m.alpha * x + m.gamma) + m.theta, "eq6_t1"),
    "no second layer": (mixer.Mlp, lambda m, x: m.act(m.fc1(x)), "eq2_scale_and_bias"),
    "the activation last": (
        vanillanet.SeriesActivation, lambda m, x: m.act(m.norm(m.conv(x))), "eq10_index_set_corrected"
    ),
    "no beta": (resmlp.Aff, lambda m, x: m.alpha * x, "eq1_aff"),
    "rows for columns": (gmlp.TokenProjection, lambda m, z: m.weight.T @ z + m.bias[:, None], "sgu_projection"),
    "the halves exchanged": (
        gmlp.SpatialGatingUnit, lambda m, z, _=None: z.chunk(2, -1)[1] * m.f(z.chunk(2, -1)[0], None), "sgu_split"
    ),
    "no skip": (gmlp.GmlpBlock, lambda m, x: m.v(m.sgu(torch.nn.functional.gelu(m.u(m.norm(x))))), "gmlp_block"),
    "neighbours for copies": (
        agelu.SumOfFunctions,
        lambda m, x: torch.unflatten(
            m.agelus(torch.cat([x] * m.functions, m.axis)), m.axis, (m.channels, m.functions)
        ).sum(m.axis),
        "sums_of_agelus",
    ),
    "one function for all rows": (mixer.Mlp, lambda m, x: m.fc2(m.act(m.fc1(x.flip(-1)))), "mlp_by_row"),
    "theta in phi": (agelu.AGeLU, lambda m, x: m.beta * m.phi(m.alpha * x + m.gamma + m.theta), "eq4_agelu"),
    "no alpha": (agelu.AGeLU, lambda m, x: m.beta * m.phi(x + m.gamma) + m.theta, "eq3_arbitrary_function"),
    "the halves in the other order": (
        imlp.ChannelPart, lambda m, x: torch.cat((m.agelu2(x), m.agelu1(x)), dim=m.axis), "eq5_amlp"
    ),
    "one AGeLU twice": (
        imlp.ChannelPart, lambda m, x: torch.cat((m.agelu1(x), m.agelu1(x)), dim=m.axis), "eq11_module"
    ),
    "no GeLU in the DW block": (imlp.DepthwiseBlock, lambda m, x: m.norm(m.conv(x)), "fig4_imlp"),
    "GeLU before the norm": (imlp.DepthwiseBlock, lambda m, x: m.norm(m.act(m.conv(x))), "depthwise_block"),
    "a skip around the DW block": (imlp.DepthwiseBlock, lambda m, x: x + m.conv(x), "eq10_dw_block"),
    "the norm before the convolution": (
        imlp.DepthwiseBlock, lambda m, x: m.act(m.conv(m.norm(x))), "eq10_dw_block_batch_norm"
    ),
    "the norm before the activation": (
        vanillanet.SeriesActivation, lambda m, x: m.conv(m.act(m.norm(x))), "eq10_series_activation"
    ),
    "padding before the activation": (
        vanillanet.SeriesActivation, lambda m, x: m.norm(m.act(m.conv(x))), "eq10_borders"
    ),
    "no norm before token mixing": (
        mixer.TokenMixing, lambda m, x: x + m.mlp(x.transpose(1, 2)).transpose(1, 2), "mixer_token_mixing"
    ),
    "no skip around token mixing": (
        mixer.TokenMixing, lambda m, x: m.mlp(m.norm(x).transpose(1, 2)).transpose(1, 2), "token_mixing"
    ),
    "the norm after channel mixing": (mixer.ChannelMixing, lambda m, u: u + m.norm(m.mlp(u)), "mixer_channel_mixing"),
    "the skip normalised": (mixer.ChannelMixing, lambda m, u: m.norm(u) + m.mlp(m.norm(u)), "channel_mixing"),
    "channels before tokens": (mixer.MixerLayer, lambda m, x: m.token_mixing(m.channel_mixing(x)), "layer"),
    "no second bias": (
        mixer.Mlp, lambda m, x: F.linear(m.act(m.fc1(x)), m.fc2.weight), "mixer_biases_of_tokens"
    ),
    "no first bias": (
        mixer.Mlp, lambda m, x: m.fc2(m.act(F.linear(x, m.fc1.weight))), "mixer_biases_of_channels"
    ),
    "no shift after the norm": (
        nn.LayerNorm, lambda m, x: F.layer_norm(x, m.normalized_shape, m.weight, None, m.eps), "mixer_layer_norm"
    ),
    "another epsilon": (
        nn.LayerNorm, lambda m, x: F.layer_norm(x, m.normalized_shape, m.weight, m.bias, 1e-5), "mixer_classifier"
    ),
    "no activation": (mixer.Mlp, lambda m, x: m.fc2(m.fc1(x)), "mixer_channel_mixing_as_convolution"),
    "tokens in place of channels": (
        mixer.ChannelMixing, lambda m, u: u + m.mlp(m.norm(u)).flip(-2), "positional_invariance_corrected"
    ),
    "no norm before U": (
        gmlp.GmlpBlock, lambda m, x: m.v(m.sgu(F.gelu(m.u(x)))) + x, "gmlp_norms_and_shifts"
    ),
    "attention to what is not normed": (
        gmlp.GmlpBlock, lambda m, x: m.v(m.sgu(F.gelu(m.u(m.norm(x))), m.attention(x))) + x, "amlp_block"
    ),
    "values for keys": (gmlp.TinyAttention, lambda m, x: tiny_attention(m, x, (0, 2, 1)), "attention_pseudo_code"),
    "keys for queries": (gmlp.TinyAttention, lambda m, x: tiny_attention(m, x, (1, 1, 2)), "attention_follows_shifts"),
    "one head for two": (
        attention.SelfAttention, lambda m, x: m.proj(F.scaled_dot_product_attention(*m.qkv(x).chunk(3, dim=-1))),
        "self_attention",
    ),
    "the channels in the other order": (
        resmlp.FeedForward, lambda m, x: m.c(m.activation(m.b(x.flip(-1)))), "no_interaction_is_a_bag_of_patches"
    ),
    "an upper Toeplitz matrix": (
        gmlp.ToeplitzProjection, lambda m, z: F.linear(z.mT, m.matrix().mT, m.bias).mT, "tmlp_convolution"
    ),
    "patches column by column": (
        mixer.PatchEmbedding, lambda m, image: m.proj(image).transpose(-1, -2).flatten(2).transpose(1, 2),
        "patch_projection",
    ),
    "patches in another order": (resmlp.Aff, lambda m, x: m.alpha * x.flip(-2) + m.beta, "class_mlp_can_average"),
    "no Aff before the bag": (
        resmlp.BagOfPatchesLayer, lambda m, x: x + m.post(m.across_channels(x)), "communication_none"
    ),
    "all of A for its lower triangle": (
        resmlp.CrossPatch, lambda m, x: F.linear(x.transpose(1, 2), m.a.weight[: x.shape[1], : x.shape[1]]).mT,
        "padding_adds_nothing_to_a_decoder",
    ),
}  # fmt: skip


def tiny_attention(module: gmlp.TinyAttention, x: Tensor, order: tuple[int, int, int]) -> Tensor:
    """Run the attention of aMLP with its queries, keys and values in another order."""
    parts = module.qkv(x).chunk(3, dim=-1)
    output: Tensor = module.out(F.scaled_dot_product_attention(*(parts[place] for place in order)))
    return output


@pytest.mark.parametrize(("module", "forward", "claim"), PLANTS.values(), ids=PLANTS)
def test_a_planted_error_is_refuted_on_symbols(
    monkeypatch: pytest.MonkeyPatch, module: type[nn.Module], forward: Callable[..., Tensor], claim: str
) -> None:
    monkeypatch.setattr(module, "forward", forward)
    with pytest.raises(RefutedError):
        prove(claim_named(claim))


# what holds of any g, h and x^1; test_proofs_of_inequalities.py plants errors there
_OF_ANYTHING = {
    "eq12_biases_corrected", "eq14", "eq14_own_t", "eq17_g_corrected",
    "eq19_expansion", "eq19_cauchy_schwarz", "eq19_square",
}  # fmt: skip
OF_MODULES = [claim for claim in proved_claims() if claim.name not in _OF_ANYTHING]


@pytest.mark.parametrize("claim", OF_MODULES, ids=lambda claim: claim.id)
def test_what_a_module_gives_is_compared(monkeypatch: pytest.MonkeyPatch, claim: ClaimText) -> None:
    """A proof is refuted where the last element of every tensor of symbols is off when it is read."""
    tolist = SymbolTensor.tolist

    def read(tensor: SymbolTensor) -> list[Exact]:
        tensor.array.flat[-1] = 2 * tensor.array.flat[-1] + Expression.symbol("planted")
        return tolist(tensor)

    monkeypatch.setattr(SymbolTensor, "tolist", read)
    with pytest.raises(RefutedError):
        prove(runnable(claim))
