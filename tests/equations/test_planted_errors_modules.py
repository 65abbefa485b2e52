"""Each error that is planted in a whole module makes a claim about it false: layouts, norms, heads, pooling."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from imlp_audit.models.nets import resmlp as nets
from torch import Tensor, nn
from torch.nn import functional

from imlp_audit.models import agelu, attention, gmlp, imlp, mixer, resmlp, vanillanet
from specs.imlp.equations._efficient import ChunkedAttention, ProjectedAttention
from tests.equations import papers


def _prefix_last(block: imlp.Imlp, x: Tensor) -> Tensor:
    y = _ENHANCE(block, x)
    return y.roll(-block.prefix_tokens, 1) if x.ndim == 3 else y


def _without_scale(block: attention.SelfAttention, x: Tensor) -> Tensor:
    q, k, v = (block._by_head(part) for part in block.qkv(x).chunk(3, dim=-1))
    y: Tensor = block.proj(((q @ k.mT).softmax(dim=-1) @ v).transpose(1, 2).flatten(2))
    return y


def _two_channels_a_head(block: attention.SelfAttention, x: Tensor) -> Tensor:
    return x.reshape(*x.shape[:2], -1, block.heads).permute(0, 3, 1, 2)


def _without_aggregate(layer: resmlp.ClassLayer, tokens: Tensor) -> Tensor:
    token = tokens[:, :1]
    return torch.cat((token + layer.post2(layer.mlp(layer.pre2(token))), tokens[:, 1:]), dim=1)


def _maximum(network: mixer.PatchClassifier, image: Tensor) -> Tensor:
    y: Tensor = network.head(network.norm(network.blocks(network.stem(image))).amax(dim=1))
    return y


_ENHANCE = imlp.Imlp._enhance_spatially

PLANTS: dict[str, tuple[type[nn.Module], str, Callable[..., Tensor], str, str]] = {
    "the class token last": (imlp.Imlp, "_enhance_spatially", _prefix_last, "imlp", "fig4_imlp"),
    "the norm before the convolution": (
        vanillanet.SeriesActivation, "forward", lambda m, x: m.conv(m.norm(m.act(x))), "imlp", "eq10_series_activation"
    ),
    "the activation behind the convolution": (
        vanillanet.SeriesActivation, "forward", lambda m, x: m.norm(m.act(m.conv(x))), "imlp", "eq10_borders"
    ),
    "a mean in place of the sum": (
        agelu.SumOfFunctions, "forward", lambda m, x: m.agelus(x.repeat_interleave(m.functions, m.axis)).unflatten(
            m.axis, (m.channels, m.functions)).mean(m.axis), "imlp", "sums_of_agelus"
    ),
    "attention without its scale": (attention.SelfAttention, "forward", _without_scale, "resmlp", "self_attention"),
    "heads that take turns": (attention.SelfAttention, "_by_head", _two_channels_a_head, "resmlp", "self_attention"),
    "attention times the gate": (
        gmlp.SpatialGatingUnit, "f", lambda m, z, a: m.proj(m.norm(z)) * (1 if a is None else a),
        "mixer_gmlp_coursework", "amlp_block",
    ),
    "no norm in the gate": (
        gmlp.SpatialGatingUnit, "f", lambda m, z, a: m.proj(z), "mixer_gmlp_coursework", "gmlp_norms_and_shifts"
    ),
    "the largest patch": (mixer.PatchClassifier, "forward", _maximum, "mixer_gmlp_coursework", "mixer_classifier"),
    "the sum of the patches": (
        resmlp.AveragePooling, "forward", lambda m, x: x.sum(dim=1), "resmlp", "average_pooling"
    ),
    "a grid on its side": (
        resmlp.OnGrid, "forward", lambda m, x: m.convolutions(x.mT.reshape(len(x), -1, *m.grid[::-1])).flatten(2).mT,
        "resmlp", "communication_by_convolution",
    ),
    "a bag without its skip": (
        resmlp.BagOfPatchesLayer, "forward", lambda m, x: m.post(m.across_channels(m.pre(x))), "resmlp",
        "communication_none",
    ),
    "l1 in place of l2": (
        nets.L2Norm, "forward", lambda m, x: functional.normalize(x, p=1, dim=-1), "resmlp", "appendix_l2_norm"
    ),
    "the norm of the batch": (
        nets.L2Norm, "forward", lambda m, x: x / x.norm(dim=0), "resmlp", "appendix_norms_and_their_statistics"
    ),
    "Aff that centres its channels": (
        resmlp.Aff, "forward", lambda m, x: m.alpha * (x - x.mean(-1, keepdim=True)) + m.beta, "resmlp",
        "appendix_norms_and_their_statistics",
    ),
    "keys that are not projected": (
        ProjectedAttention, "forward", lambda m, x: m.qkv(x)[..., : x.shape[-1]] @ x.mT @ x, "imlp",
        "complexity_attention_linear",
    ),
    "chunks that see all tokens": (
        ChunkedAttention, "forward", lambda m, x: m.proj(m.qk(x) @ m.qk(x).mT @ m.v(x)), "imlp",
        "complexity_attention_sorted",
    ),
    "no aggregate": (
        resmlp.ClassLayer, "forward", _without_aggregate,
        "resmlp", "class_mlp_layer",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("module", "method", "planted", "paper", "claim"), PLANTS.values(), ids=PLANTS)
def test_a_planted_error_makes_the_claim_false(
    monkeypatch: pytest.MonkeyPatch,
    module: type[nn.Module],
    method: str,
    planted: Callable[..., Tensor],
    paper: str,
    claim: str,
) -> None:
    monkeypatch.setattr(module, method, planted)
    assert papers.is_false(paper, claim, 20)
