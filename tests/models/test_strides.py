"""ResNets with the strides of their bottlenecks in 1x1 convolutions, against a formula and what others publish."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Rounding

DEPTHS = {"resnet50": (3, 4, 6, 3), "resnet101": (3, 4, 23, 3), "resnet152": (3, 8, 36, 3)}

# Table 4 of CBAM (arXiv 1807.06521): parameters in M and multiply-accumulates in G, ResNeXts included.
CBAM = {
    "resnet50": ("25.56", "3.858"),
    "resnet101": ("44.55", "7.570"),
    "seresnet50": ("28.09", "3.860"),
    "seresnet101": ("49.33", "7.575"),
    "resnext50_32x4d": ("25.03", "3.768"),
    "seresnext50_32x4d": ("27.56", "3.771"),
    "resnext101_32x4d": ("44.18", "7.508"),
}
SLOW = {"resnet152", "seresnet101", "resnext101_32x4d", "seresnext50_32x4d"}


def measured(recipe: Recipe) -> ModelFacts | Failure:
    key = ModelKey(recipe, None)
    return dict(measure_models({key: Need(work=True)}, lambda _: None))[key]


def count(recipe: Recipe, convention: str = "macs") -> tuple[int, int]:
    facts = measured(recipe)
    assert isinstance(facts, ModelFacts), facts
    assert facts.ledger is not None
    return facts.parameters["all"], total(facts.ledger, FLOPS_CONVENTIONS[convention])  # type: ignore[index]


def moved(library: str, name: str) -> Recipe:
    return Recipe.of(**{library: name}, image=224, stride_in_1x1=True)


def macs_of_resnet(depths: tuple[int, ...], *, groups: int, base: int, in_1x1: bool) -> int:
    """Table 1 of arXiv 1512.03385, and of arXiv 1611.05431 with `groups` of `base` channels in the first stage."""
    work, channels, side = 112**2 * 49 * 3 * 64 + 2048 * 1000, 64, 56
    for stage, depth in enumerate(depths):
        planes, width = 64 * 2**stage, groups * base * 2**stage
        for block in range(depth):
            halved = stage > 0 and block == 0
            after = side // 2 if halved else side
            work += (after if in_1x1 else side) ** 2 * channels * width
            work += after**2 * (9 * width * width // groups + width * 4 * planes)
            work += after**2 * channels * 4 * planes * (block == 0)
            channels, side = 4 * planes, after
    return work


@pytest.mark.parametrize("library", ["timm", "torchvision"])
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in DEPTHS])
def test_resnets_count_as_transformers_has_them_and_by_the_formula(library: str, name: str) -> None:
    config = {"depths": list(DEPTHS[name]), "downsample_in_bottleneck": True}
    theirs = Recipe.of(transformers={"architecture": "ResNetForImageClassification", "config": config}, classes=1000)
    for convention in ("macs", "fvcore"):
        assert count(moved(library, name), convention) == count(theirs, convention)
    assert count(theirs)[1] == macs_of_resnet(DEPTHS[name], groups=1, base=64, in_1x1=True)


@pytest.mark.parametrize("in_1x1", [True, False])
def test_a_resnext_counts_by_the_formula(in_1x1: bool) -> None:
    recipe = moved("timm", "resnext50_32x4d").with_change({"stride_in_1x1": in_1x1})
    assert count(recipe)[1] == macs_of_resnet(DEPTHS["resnet50"], groups=32, base=4, in_1x1=in_1x1)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in CBAM])
def test_all_of_cbams_bottlenecks_print_as_published(name: str) -> None:
    for value, printed, unit in zip(count(moved("timm", name)), CBAM[name], (10**6, 10**9), strict=True):
        assert value in parse_printed(printed).interval(Rounding.HALF_UP) * unit


def test_senet_is_as_timm_has_it_from_its_authors() -> None:
    """Their SE-ResNet-50 has its strides in 1x1 convolutions, and their SE-ResNeXt-50 in 3x3 ones."""
    assert count(moved("timm", "seresnet50")) == count(Recipe.of(timm="legacy_seresnet50", image=224))
    theirs, ours = (Recipe.of(timm=name, image=224) for name in ("legacy_seresnext50_32x4d", "seresnext50_32x4d"))
    assert count(ours) == count(theirs)


def test_only_the_first_convolutions_of_three_bottlenecks_change() -> None:
    recipes = Recipe.of(timm="resnet26"), Recipe.of(timm="resnet26", stride_in_1x1=True)
    maps: list[dict[str, tuple[int, ...]]] = []
    for recipe in recipes:
        with Builder().variant(recipe, None) as variant:
            maps.append(shapes(variant.model))
    changed = {path: maps[1][path] for path in maps[0] if maps[0][path] != maps[1][path]}
    sides = {"layer2": (128, 28), "layer3": (256, 14), "layer4": (512, 7)}
    assert changed == {
        f"{stage}.0.{layer}": (1, width, side, side)
        for stage, (width, side) in sides.items()
        for layer in ("conv1", "bn1", "act1")
    }


def shapes(model: nn.Module) -> dict[str, tuple[int, ...]]:
    """The shapes of what the modules return for an image of 224."""
    found: dict[str, tuple[int, ...]] = {}
    for path, module in model.named_modules():
        module.register_forward_hook(lambda *seen, path=path: found.update({path: tuple(seen[2].shape)}))
    model(torch.empty(1, 3, 224, 224, device="meta"))
    return found


@pytest.mark.parametrize("name", ["resnet18", "resnetaa50", "legacy_seresnet50", "regnetx_002"])
def test_a_model_without_such_strides_is_refused(name: str) -> None:
    failure = measured(moved("timm", name))
    assert isinstance(failure, Failure)
    assert failure.message == f"stride_in_1x1: {name} has no ResNet bottleneck whose stride could be moved"
