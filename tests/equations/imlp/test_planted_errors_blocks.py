"""Each error that is planted where a block is made, or in one of its readings, makes a claim about blocks false."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.equations.lipschitz import estimate
from imlp_audit.equations.lipschitz.branches import Branch
from imlp_audit.equations.lipschitz.certificate import Certificate, Solver
from imlp_audit.models import imlp, in_place
from imlp_audit.models.agelu import AGeLU, SumOfFunctions
from imlp_audit.models.blocks import ImlpRecipe, Part, Sums
from imlp_audit.models.reading import Reading
from imlp_audit.models.recipe import Replacement
from imlp_audit.models.vanillanet import SeriesActivation, VanillaNetBlock
from specs.imlp.equations import sec4_3_vanillanet, sec5_1_replacement
from tests.equations import papers

MAKE = imlp.Imlp.__init__
BLOCKS = ("fig4_readings", "table2_channel", "table2_spatial", "replaced_mlp")


def _is_false(name: str) -> bool:
    return papers.is_false("imlp", name, 100)


def _without_norm(block: imlp.Imlp) -> None:
    block.norm = nn.Identity()


def _with_another_constant(block: imlp.Imlp) -> None:
    if isinstance(block.norm, imlp.ChannelLayerNorm):
        block.norm.eps = 1e-6


def _biased(block: imlp.Imlp) -> None:
    block.fc1.bias = nn.Parameter(torch.zeros(2))


def _drop_first(block: imlp.Imlp) -> None:
    block.drop1, block.drop2 = block.drop2, block.drop1


def _skipping(block: imlp.Imlp) -> None:
    if block.spatial is not None:
        block.spatial.skip = True


def _of_one_coefficient(block: imlp.Imlp) -> None:
    for module in block.modules():
        if isinstance(module, AGeLU):
            module.alpha = nn.Parameter(torch.ones(1))


def _with_gelu(block: imlp.Imlp) -> None:
    for module in block.modules():
        if isinstance(module, AGeLU):
            module.phi = nn.GELU()


CHANGES: Mapping[str, tuple[Callable[[imlp.Imlp], None], tuple[str, ...]]] = {
    "no norm at the end": (_without_norm, BLOCKS),
    "another constant in the norm of channels": (_with_another_constant, BLOCKS),
    "a bias that is not asked for": (_biased, BLOCKS),
    "dropout of the wrong place": (_drop_first, BLOCKS),
    "a skip that is not asked for": (_skipping, ("fig4_readings", "table2_spatial", "replaced_mlp")),
    "one coefficient for the layer": (_of_one_coefficient, BLOCKS),
    "GeLU whatever the activation": (_with_gelu, BLOCKS),
}


@pytest.mark.parametrize("name", CHANGES)
def test_blocks(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    change, claims = CHANGES[name]

    def make(block: imlp.Imlp, *args: object, **named: object) -> None:
        MAKE(block, *args, **named)  # type: ignore[arg-type]
        change(block)

    monkeypatch.setattr(imlp.Imlp, "__init__", make)
    for claim in claims:
        assert _is_false(claim)


def test_norm_after_the_concatenation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imlp, "_concat_norm", lambda *_, **__: nn.Identity())
    for claim in ("fig4_readings", "table2_channel", "replaced_mlp"):
        assert _is_false(claim)


def test_activation_of_the_depthwise_block(monkeypatch: pytest.MonkeyPatch) -> None:
    def activation(width: int, reading: Reading, act_layer: type[nn.Module]) -> nn.Module:
        return honest(width, reading, nn.GELU)

    honest = imlp.DepthwiseBlock._activation
    monkeypatch.setattr(imlp.DepthwiseBlock, "_activation", staticmethod(activation))
    for claim in ("fig4_readings", "table2_spatial"):
        assert _is_false(claim)


@pytest.mark.parametrize("change", [{"kernel": 5}, {"ratio": 3}, {"part": Part.SPATIAL}, {"plain": True}])
def test_hyperparameters(monkeypatch: pytest.MonkeyPatch, change: dict[str, object]) -> None:
    def block(replacement: Replacement) -> ImlpRecipe:
        assert replacement.imlp is not None
        return replacement.imlp.model_copy(update=change)

    monkeypatch.setattr(Replacement, "block", property(block))
    assert _is_false("replaced_hyperparameters")
    assert _is_false("replaced_mlp")


def test_two_kinds_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    def validate(_: Mapping[str, object]) -> Replacement:
        return Replacement.model_construct(imlp=ImlpRecipe(), sums=Sums(), python=None, sites=("*",))

    monkeypatch.setattr(Replacement, "model_validate", validate)
    assert _is_false("replaced_by_one")


def test_three_functions_a_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    def sums_for(mlp: nn.Module, block: Sums) -> SumOfFunctions:
        return in_place.sums_for(mlp, Sums(ratio=3, agelu=block.agelu))  # type: ignore[arg-type]

    monkeypatch.setattr(sec5_1_replacement, "sums_for", sums_for)
    assert _is_false("table4_functions")


def test_an_activation_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sec5_1_replacement, "with_activation", lambda mlp, *_, **__: mlp)
    assert _is_false("table3_activation")


def _series(change: Callable[[SeriesActivation], object]) -> Callable[..., SeriesActivation]:
    def make(channels: int) -> SeriesActivation:
        module = SeriesActivation(channels)
        change(module)
        return module

    return make


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (lambda module: setattr(module.norm, "eps", 1e-5), "eq10_series_default"),
        (lambda module: setattr(module, "act", nn.GELU()), "eq10_series_default"),
        (lambda module: module.conv.weight.data.mul_(1.1), "eq10_series_start"),
        (lambda module: module.norm.running_var.fill_(2.0), "eq10_series_start"),
    ],
)
def test_series_activation(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[SeriesActivation], object], claim: str
) -> None:
    monkeypatch.setattr(sec4_3_vanillanet, "SeriesActivation", _series(change))
    assert _is_false(claim)


FORWARDS: Mapping[str, Callable[[VanillaNetBlock, Tensor], Tensor]] = {
    "pooling at the end": lambda block, x: block.pool(block.act(block.conv(x))),
    "a mean in place of the maximum": lambda block, x: block.act(nn.functional.avg_pool2d(block.conv(x), 2)),
    "no activation": lambda block, x: block.pool(block.conv(x)),
}


@pytest.mark.parametrize("name", FORWARDS)
def test_block_of_vanillanet(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(VanillaNetBlock, "forward", FORWARDS[name])
    assert _is_false("eq10_vanillanet_block")


def test_curvature(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = estimate._curvature
    monkeypatch.setattr(estimate, "_curvature", lambda z: -honest(z))
    assert _is_false("gradient_of_one_unit")
    monkeypatch.setattr(estimate, "_curvature", lambda z: honest(z) * 1.000001)
    assert _is_false("gradient_direction")


def test_branches_that_share_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    def prove_both(branches: tuple[Branch, Branch], solver: Solver, seconds: float) -> tuple[Certificate, Certificate]:
        proof = estimate.prove_least(branches[0], solver, seconds)
        return proof, proof

    monkeypatch.setattr(estimate, "_prove_both", prove_both)
    assert _is_false("theorem1_one_unit")
