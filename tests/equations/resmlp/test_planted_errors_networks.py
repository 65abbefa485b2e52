"""Each error that is planted where ResMLP's networks are built makes a claim about whole networks false."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.models.hosts.resmlp import Nonlinearity, Norm
from imlp_audit.models.nets import cait_chain
from imlp_audit.models.nets import resmlp as nets
from imlp_audit.models.resmlp import Aff, AveragePooling, ClassPooling, LayerScale, OnGrid, ResMlpLayer
from tests.equations import papers


def _is_false(name: str) -> bool:
    return papers.is_false("resmlp", name, 100)


def _over_patches(_: nn.Module, x: Tensor) -> Tensor:
    return F.normalize(x, dim=1)


def _each_image_alone(norm: nets.BatchNorm, x: Tensor) -> Tensor:
    return torch.stack([nn.BatchNorm1d.forward(norm, image) for image in x])


def _last_layer_first(net: nets.ResMlpClassifier, image: Tensor) -> Tensor:
    x: Tensor = net.stem(image)
    for block in reversed(net.blocks):
        x = block(x)
    logits: Tensor = net.head(net.pool(x))
    return logits


def _mean_of_tokens(pool: ClassPooling, patches: Tensor) -> Tensor:
    token = pool.token.expand(len(patches), 1, -1)
    tokens: Tensor = pool.layers(torch.cat((token, patches), dim=1))
    return tokens.mean(dim=1)


def _gradient_stopped(_: nn.Module, patches: Tensor) -> Tensor:
    return patches.detach().mean(dim=1)


def _columns_first(on_grid: OnGrid, x: Tensor) -> Tensor:
    height, width = on_grid.grid
    y: Tensor = on_grid.convolutions(x.transpose(1, 2).reshape(len(x), -1, width, height))
    return y.flatten(2).transpose(1, 2)


def _first_skip_stopped(layer: ResMlpLayer, x: Tensor) -> Tensor:
    z: Tensor = x.detach() + layer.post1(layer.across_patches(layer.pre1(x)))
    return z


def _heads_not_mixed(attention: cait_chain.TalkingHeads, x: Tensor) -> Tensor:
    q, k, v = (cait_chain._by_head(part, attention.heads) for part in attention.qkv(x).chunk(3, dim=-1))
    weights = (q * q.shape[-1] ** -0.5 @ k.transpose(-2, -1)).softmax(dim=-1)
    y: Tensor = attention.proj((weights @ v).transpose(1, 2).flatten(2))
    return y


def _without_positions(net: cait_chain.CaitClassifier, image: Tensor) -> Tensor:
    logits: Tensor = net.head(net.pool(net.blocks(net.stem(image))))
    return logits


def _last_token_asks(attention: cait_chain.ClassAttention, x: Tensor) -> Tensor:
    q, k, v = (
        cait_chain._by_head(part, attention.heads) for part in (attention.q(x[:, -1:]), attention.k(x), attention.v(x))
    )
    weights = (q * q.shape[-1] ** -0.5 @ k.transpose(-2, -1)).softmax(dim=-1)
    y: Tensor = attention.proj((weights @ v).transpose(1, 2).flatten(2))
    return y


@pytest.mark.parametrize(
    ("module", "method", "wrong", "claims"),
    [
        (nets.L2Norm, "forward", _over_patches, "network_norms"),
        (nets.BatchNorm, "forward", _each_image_alone, "network_batch_norm_in_training"),
        (nets.ResMlpClassifier, "forward", _last_layer_first, "network_of_eq2_eq3 network_of_algorithm1"),
        (nets.ResMlpClassifier, "get_classifier", lambda net: net.stem.proj, "network_predicts_labels"),
        (ClassPooling, "forward", _mean_of_tokens, "network_with_class_mlp"),
        (AveragePooling, "forward", _gradient_stopped, "network_learns_every_weight"),
        (ResMlpLayer, "cross_patch", _first_skip_stopped, "network_learns_every_weight"),
        (LayerScale, "forward", lambda scale, x: scale.alpha.detach() * x, "network_learns_every_weight"),
        (cait_chain.TalkingHeads, "forward", _heads_not_mixed, "appendix_chain_of_networks"),
        (cait_chain.ClassAttention, "forward", _last_token_asks, "appendix_chain_of_networks"),
        (cait_chain.CaitClassifier, "forward", _without_positions, "appendix_chain_of_networks"),
        (OnGrid, "forward", _columns_first, "network_communications"),
    ],
)
def test_wrong_method(
    monkeypatch: pytest.MonkeyPatch, module: type[nn.Module], method: str, wrong: Callable[..., object], claims: str
) -> None:
    monkeypatch.setattr(module, method, wrong)
    assert [name for name in claims.split() if not _is_false(name)] == []


@pytest.mark.parametrize(
    ("name", "wrong", "claims"),
    [
        ("CLASS_LAYERS", 3, "network_with_class_mlp"),
        ("initial_scale", lambda layers: 0.1 if layers < 18 else 1e-5, "layer_scale_starts_by_depth"),
        ("_layer", cache(nets._layer), "network_of_eq2_eq3 network_of_algorithm1 network_with_class_mlp"),
        ("LayerScale", Aff, "network_of_algorithm1 network_communications"),
        ("AveragePooling", nn.Identity, "network_norms"),
        ("KERNEL", 1, "network_communications network_communications_that_fit"),
    ],
)
def test_wrong_part(monkeypatch: pytest.MonkeyPatch, name: str, wrong: object, claims: str) -> None:
    monkeypatch.setattr(nets, name, wrong)
    assert [claim for claim in claims.split() if not _is_false(claim)] == []


def test_another_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(nets.PRE_NORMS, Norm.LAYER, partial(nn.LayerNorm, eps=1e-5))
    assert _is_false("network_norms")


@pytest.mark.parametrize("nonlinearity", Nonlinearity)
def test_another_nonlinearity(monkeypatch: pytest.MonkeyPatch, nonlinearity: Nonlinearity) -> None:
    monkeypatch.setitem(nets.ACTIVATIONS, nonlinearity, nn.ELU)
    assert _is_false("network_nonlinearities")
