"""What a host says about itself is what the model that it builds shows. A new host adds a case to `SMALL`."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

import imlp_audit
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import measure
from imlp_audit.count.record import Ledger
from imlp_audit.explain.breakdown import find_part
from imlp_audit.inspect.matching_rows import has_same_start, is_plausible
from imlp_audit.models.available_hosts import HOSTS
from imlp_audit.models.build import Builder, mlps_of
from imlp_audit.models.host import Reads, Stack
from imlp_audit.models.readings import (
    OutputLayer,
    PaperReading,
    Presence,
    ResMlpForm,
    ResMlpReading,
    SpatialMatrix,
    TextReading,
)
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs
from tests.models.readings import RELEASED

SMALL: dict[str, object] = {
    "timm": "deit_tiny_patch16_224",
    "bert": {"layers": 2, "width": 16, "heads": 4, "hidden": 32},
    "gmlp": {"layers": 2, "patch": 16, "width": 16, "hidden": 32},
    "gmlp_text": {"layers": 2, "width": 16, "attention": 8},
    "mixer": {"layers": 2, "patch": 16, "width": 16, "tokens_hidden": 8, "channels_hidden": 64},
    "python": {"file": "own_nets.py", "name": "SmallNet", "input": (3, 16, 16), "folder": Path(__file__).parent},
    "resmlp": {"layers": 2, "width": 16},
    "torchvision": "squeezenet1_1",
    "transformers": {
        "architecture": "ViTForImageClassification",
        "config": {"num_hidden_layers": 1, "hidden_size": 24, "intermediate_size": 32},
    },
}
TEXT = TextReading(300, 16, 12, SpatialMatrix.FULL, Presence.YES, OutputLayer.MASKED_LM, Presence.YES)
PAPER = PaperReading(RELEASED, ResMlpReading(ResMlpForm.ALGORITHM, Presence.NO), TEXT)


def small(key: str, **changes: object) -> Recipe:
    return Recipe.of(**{key: SMALL[key]}, **changes)


@cache
def shapes(recipe: Recipe) -> dict[str, tuple[int, ...]]:
    """The shapes of the model's tensors by their names."""
    with Builder().variant(recipe, recipe.part_of(PAPER)) as variant:
        return {name: tuple(tensor.shape) for name, tensor in variant.model.state_dict().items()}


@cache
def ledger(recipe: Recipe) -> Ledger:
    with Builder().variant(recipe, recipe.part_of(PAPER)) as variant:
        model = unfuse_attention(variant.model)
        with torch.device("meta"):
            return measure(model, *example_inputs(model))


every_host = pytest.mark.parametrize("key", HOSTS)
ours = pytest.mark.parametrize(
    "key", [key for key in HOSTS if key not in ("timm", "torchvision", "transformers", "python")]
)

known = pytest.mark.parametrize(
    "key", [key for key in HOSTS if key != "python"]
)  # of code from outside nothing is known


def test_every_host_has_a_small_one_here() -> None:
    assert SMALL.keys() == HOSTS.keys()


@every_host
def test_it_is_built_for_the_size_that_it_names(key: str) -> None:
    recipe = small(key)
    with Builder().variant(recipe, recipe.part_of(PAPER)) as variant, torch.device("meta"):
        given = example_inputs(variant.model)[0]
    match recipe.host.reads:
        case Reads.IMAGE:
            assert given.shape[-2:] == (224, 224)
        case Reads.OWN_IMAGE:
            assert given.ndim == 4
        case Reads.OWN:
            assert given.shape == (1, 3, 16, 16)
        case Reads.TOKENS:
            assert not given.is_floating_point()


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("key", ["gmlp", "mixer", "resmlp"])
def test_an_image_has_rows_as_it_is_high(key: str, later: bool) -> None:
    """Its height is written first, at once or in place of another size."""
    recipe = small(key, image=224).with_image((32, 48)) if later else small(key, image=(32, 48))
    with Builder().variant(recipe, recipe.part_of(PAPER)) as variant, torch.device("meta"):
        (images,) = example_inputs(variant.model)
        variant.model(images)
    assert images.shape[-2:] == (32, 48)
    assert small("python").with_image((32, 48)).host.value()["input"] == (3, 32, 48)  # type: ignore[index]


@every_host
def test_its_classes_are_where_it_says(key: str) -> None:
    own = shapes(small(key))
    if HOSTS[key].classified:
        assert shapes(small(key, classes=7)) != own
    else:
        with pytest.raises(ValidationError, match="classes: "):
            small(key, classes=7)


@known
def test_its_mlps_can_be_replaced_where_it_says(key: str) -> None:
    if not HOSTS[key].replaceable:
        with pytest.raises(ValidationError, match="this host has none"):
            small(key, mlp={"imlp": {}})
        return
    recipe = small(key, mlp={"imlp": {}})
    with Builder().variant(recipe, RELEASED) as variant:
        assert variant.mlps
        assert not mlps_of(variant.model)


@every_host
def test_its_patches_divide_the_image_where_it_has_a_side(key: str) -> None:
    side = small(key).host.patch_side
    if side is not None:
        with pytest.raises(ValidationError, match="does not divide"):
            small(key, image=side + 1)


def test_no_two_hosts_put_a_name_at_different_sites() -> None:
    for one, other in combinations(HOSTS.values(), 2):
        assert not one.stem & other.head, (one, other)
        assert not one.head & other.stem, (one, other)


@known
def test_each_of_its_tensors_is_in_a_part_that_has_a_name(key: str) -> None:
    recipe = small(key)
    names = recipe.host.parts
    assert {path for path in shapes(recipe) if find_part(path, names) is None} == set()


@known
def test_its_own_checkpoint_shows_its_clue(key: str) -> None:
    recipe = small(key)
    assert is_plausible(recipe, shapes(recipe))
    assert is_plausible(recipe, {f"model.{name}": shape for name, shape in shapes(recipe).items()})
    if recipe.family is None:
        assert has_same_start(recipe, shapes(recipe), Builder())
    assert not is_plausible(recipe, {"other.weight": (1,)})


@every_host
def test_a_host_that_readings_change_is_a_stack(key: str) -> None:
    host = small(key).host
    if host.family is not None:
        assert isinstance(host, Stack)


@ours
def test_its_own_sizes_come_back_from_its_value(key: str) -> None:
    host = small(key).host
    assert Recipe.of(**{key: host.value()}).host == host
    assert host.key == key


def test_torchvisions_models_are_counted_on_the_images_of_their_weights() -> None:
    """EfficientNet-B3 has 1.827 GMACs on 300 x 300 (torchvision's documentation), Inception-v3 5.713 on 299 x 299."""
    for name, side, macs in (("efficientnet_b3", 300, 1.827), ("inception_v3", 299, 5.713)):
        with Builder().variant(Recipe.of(torchvision=name), None) as variant, torch.device("meta"):
            (images,) = example_inputs(variant.model)
            assert images.shape[2:] == (side, side)
            assert round(imlp_audit.measure(variant.model, images).flops["macs"] / 10**9, 3) == macs
