"""Classifiers of torchvision with other arguments: above all, without the heads that only training uses."""

from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError

from imlp_audit.errors import BuildError
from imlp_audit.models.build import build_host
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.relatives import relatives_of

CLASSES = 1000


def without_heads(name: str) -> Recipe:
    return Recipe.of(torchvision={"architecture": name, "arguments": {"aux_logits": False}})


def parameters(recipe: Recipe) -> int:
    with torch.device("meta"):
        return sum(one.numel() for one in build_host(recipe, None).parameters())


def of_googlenet(channels: int) -> int:
    """Sec. 5 of arXiv 1409.4842: a 1x1 convolution of 128 filters with a norm, and two layers on maps of 4x4."""
    return 128 * channels + 2 * 128 + (128 * 4 * 4 + 1) * 1024 + (1024 + 1) * CLASSES


OF_INCEPTION = 128 * 768 + 2 * 128 + 5 * 5 * 128 * 768 + 2 * 768 + (768 + 1) * CLASSES
"""A 1x1 and a 5x5 convolution with norms, and one layer."""


@pytest.mark.parametrize(
    ("name", "heads"), [("googlenet", of_googlenet(512) + of_googlenet(528)), ("inception_v3", OF_INCEPTION)]
)
def test_the_heads_are_what_a_model_has_more_with_them(name: str, heads: int) -> None:
    assert parameters(Recipe.of(torchvision=name)) - parameters(without_heads(name)) == heads


def test_each_form_is_tried_for_the_other() -> None:
    """timm runs its head in every mode, so with it the model is torchvision's."""
    both = Recipe.of(torchvision="inception_v3")
    assert both in relatives_of(Recipe.of(timm="inception_v3"))
    assert both in relatives_of(without_heads("inception_v3"))
    assert without_heads("googlenet") in relatives_of(Recipe.of(torchvision="googlenet"))


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("num_classes", "write `classes` beside the host instead"),
        ("image_size", "write `image` beside the host instead"),
        ("pretrained", "nothing is read or downloaded"),
        ("weights", "nothing is read or downloaded"),
    ],
)
def test_what_is_said_elsewhere_or_reads_files_is_refused(name: str, instead: str) -> None:
    with pytest.raises(ValidationError, match=f"{name}: .*{instead}"):
        Recipe.of(torchvision={"architecture": "resnet18", "arguments": {name: 1}})
    with pytest.raises(ValidationError, match="arguments: they stand in the host, as torchvision: "):
        Recipe.of(torchvision="resnet18", arguments={"groups": 2})


def test_an_argument_that_torchvision_does_not_take_is_an_error_of_that_model() -> None:
    wrong = Recipe.of(torchvision={"architecture": "googlenet", "arguments": {"aux": False}})
    assert str(wrong) == "torchvision: {architecture: googlenet, arguments: {aux: false}}"
    with pytest.raises(BuildError, match="googlenet with "):
        parameters(wrong)
