"""Each error that is planted in a default, a recipe or what is learned makes a claim about the built block false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.models import imlp
from imlp_audit.models.agelu import AGeLU
from imlp_audit.models.blocks import Part
from imlp_audit.models.reading import (
    PRINTED,
    AGeLUParameters,
    ClassToken,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputNorm,
    Presence,
    Reading,
)
from imlp_audit.models.recipe import Recipe
from specs.imlp.equations import sec4_3_defaults
from tests.equations import papers


def _is_false(name: str) -> bool:
    return papers.is_false("imlp", name, 100)


OTHERS = (
    replace(PRINTED, agelu_parameters=AGeLUParameters.PER_LAYER),
    replace(PRINTED, fc1_bias=Presence.NO),
    replace(PRINTED, fc2_bias=Presence.NO),
    replace(PRINTED, concat_norm=ConcatNorm.LAYER),
    replace(PRINTED, output_norm=OutputNorm.LAYER),
    replace(PRINTED, depthwise_bias=Presence.YES),
    replace(PRINTED, depthwise_norm=DepthwiseNorm.NONE),
    replace(PRINTED, depthwise_activation=DepthwiseActivation.NONE),
    replace(PRINTED, depthwise_skip=Presence.YES),
    replace(PRINTED, class_token=ClassToken.REMOVED),
)


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: "-".join(vars(other).values()))
def test_another_default(monkeypatch: pytest.MonkeyPatch, other: Reading) -> None:
    monkeypatch.setattr(sec4_3_defaults, "make_reading", lambda *_: other)
    assert _is_false("fig4_read_by_default")


def test_another_printed_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sec4_3_defaults, "PRINTED", OTHERS[0])
    assert _is_false("fig4_read_by_default")


def test_one_activation_for_both_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    make = imlp.PlainChannelPart.__init__

    def share(part: imlp.PlainChannelPart, *sizes: object, **others: object) -> None:
        make(part, *sizes, **others)  # type: ignore[arg-type]
        part.phi2 = part.phi1

    monkeypatch.setattr(imlp.PlainChannelPart, "__init__", share)
    assert any(map(_is_false, ("fig4_readings", "table2_channel")))


def _unlearned(agelu: AGeLU, x: Tensor) -> Tensor:
    alpha, beta, gamma, theta = (
        each.view(agelu.shape) for each in (agelu.alpha, agelu.beta, agelu.gamma.detach(), agelu.theta)
    )
    bent: Tensor = agelu.phi(alpha * x + gamma)
    return beta * bent + theta


def test_a_coefficient_without_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AGeLU, "forward", _unlearned)
    assert _is_false("fig4_learns_every_weight")


def test_a_skip_without_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(block: imlp.DepthwiseBlock, x: Tensor) -> Tensor:
        y: Tensor = block.act(block.norm(block.conv(x)))
        return x.detach() + y if block.skip else y

    monkeypatch.setattr(imlp.DepthwiseBlock, "forward", forward)
    assert _is_false("fig4_learns_every_weight")


def test_a_weight_that_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    make = imlp.Imlp.__init__

    def fix(block: imlp.Imlp, *sizes: object, **others: object) -> None:
        make(block, *sizes, **others)  # type: ignore[arg-type]
        if isinstance(block.fc1, nn.Linear):
            block.fc1.weight.requires_grad = False

    monkeypatch.setattr(imlp.Imlp, "__init__", fix)
    assert _is_false("fig4_learns_every_weight")


def _without_kernel(recipe: Recipe) -> Recipe:
    return recipe.with_change({"mlp": {"imlp": {"kernel": 3}}})


def _with_kernel(recipe: Recipe) -> Recipe:
    return recipe


def _without_part(recipe: Recipe) -> Recipe:
    return recipe.with_change({"mlp": {"imlp": {"part": Part.CHANNEL, "plain": False}}})


@pytest.mark.parametrize("essence", [_without_kernel, _with_kernel, _without_part])
def test_another_essence(monkeypatch: pytest.MonkeyPatch, essence: Callable[[Recipe], Recipe]) -> None:
    monkeypatch.setattr(Recipe, "essence", essence)
    assert _is_false("replaced_kernel_of_the_convolution")


@pytest.mark.parametrize("left", ["mlp", "activation", "agelu", "image", "classes"])
def test_another_baseline(monkeypatch: pytest.MonkeyPatch, left: str) -> None:
    without = {"mlp": None, "activation": None, "agelu": False}
    update = {name: value for name, value in without.items() if name != left}
    if left not in without:
        update[left] = None
    monkeypatch.setattr(Recipe, "with_own_mlps", lambda recipe: recipe.model_copy(update=update))
    assert _is_false("replaced_baseline")


def test_agelus_start_alike() -> None:
    """The planted forward differs from the module's own only in what is learned."""
    agelu = AGeLU(2)
    assert torch.equal(_unlearned(agelu, torch.ones(2)), agelu(torch.ones(2)))
