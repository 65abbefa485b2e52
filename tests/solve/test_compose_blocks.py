from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from imlp_audit.count.ledger import CallCache
from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Activation, ImlpRecipe, Part, Replacement, Sums
from imlp_audit.models.build import Builder
from imlp_audit.models.hosts.lvt import Lvt
from imlp_audit.models.recipe import Recipe
from imlp_audit.solve.compose_blocks import Hosts
from imlp_audit.solve.space import readings_of
from imlp_audit.spec.paper import rows_of
from tests.bundled import bundled_paper
from tests.solve.direct import composed, direct, sample

READINGS = readings_of("imlp")
SAMPLED = 2  # readings of each model
PATCHES = 196 * 192 * 3 * 16 * 16  # multiply-accumulates of DeiT-Ti's patch embedding, a convolution


@cache
def in_the_specs() -> list[Recipe]:
    """Every model with IMLP blocks that a table of the IMLP paper lists, each once."""
    recipes = (row.row.model for row in rows_of(bundled_paper("imlp")))
    return list(dict.fromkeys(recipe for recipe in recipes if recipe is not None and recipe.family == "imlp"))


def with_imlp(host: str, activation: Activation | None = None, image: int | None = None, **block: object) -> Recipe:
    replacement = Replacement(imlp=ImlpRecipe.model_validate(block))
    return Recipe.of(timm=host, mlp=replacement, activation=activation, image=image)


OTHERS = [
    with_imlp("deit_tiny_patch16_224", plain=True),
    with_imlp("deit_tiny_patch16_224", Activation.PRELU, kernel=5),
    with_imlp("deit_tiny_patch16_224", image=384, ratio=1.5),
    with_imlp("vit_tiny_r_s16_p8_224", part=Part.SPATIAL),
    with_imlp("poolformer_s12", part=Part.CHANNEL),
    with_imlp("poolformer_s12", image=160),
    Recipe.of(lvt=Lvt(recursions=2), mlp=Replacement(imlp=ImlpRecipe(kernel=5), sites=("backbone.[1-3].*",))),
    Recipe.of(lvt=Lvt(recursions=3), mlp=Replacement(imlp=ImlpRecipe(kernel=3), sites=("post_network.*", "*.0.mlp"))),
]


@pytest.fixture(scope="module")
def hosts() -> Hosts:
    return Hosts()


@pytest.fixture(scope="module")
def builder() -> Builder:
    return Builder()


@pytest.fixture(scope="module")
def memory() -> CallCache:
    return {}


def test_the_tables_list_the_largest_hosts_and_those_that_are_no_classifiers() -> None:
    named = " ".join(map(str, in_the_specs()))
    for host in ("swin_base_patch4", "poolformer_m48", "deit_base_patch16", "recursions: 4", "mask_rcnn", "upernet"):
        assert host in named
    assert SAMPLED * len(in_the_specs() + OTHERS) >= 60


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    "recipe", [*OTHERS, *(pytest.param(recipe, marks=pytest.mark.slow) for recipe in in_the_specs())], ids=str
)
def test_a_composed_model_has_what_a_built_one_has(
    recipe: Recipe, hosts: Hosts, builder: Builder, memory: CallCache
) -> None:
    table = hosts.with_blocks(recipe, READINGS)
    assert len(table) == len(READINGS) == 2304
    for index, reading in sample(READINGS, SAMPLED, str(recipe)):
        assert composed(table, index) == direct(builder, memory, recipe, reading), reading


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    "recipe",
    [
        Recipe.of(timm="deit_tiny_patch16_224"),
        Recipe.of(timm="deit_tiny_patch16_224", mlp=Replacement(sums=Sums())),
        Recipe.of(timm="deit_tiny_patch16_224", activation=Activation.RELU, agelu=True),
        Recipe.of(timm="resnet152"),
    ],
    ids=str,
)
def test_a_model_that_no_reading_changes_is_counted_as_it_is(
    recipe: Recipe, hosts: Hosts, builder: Builder, memory: CallCache
) -> None:
    assert composed(hosts.as_it_is(recipe)[np.newaxis], 0) == direct(builder, memory, recipe, None)


def test_a_host_is_as_it_was_after_its_mlps_were_replaced(hosts: Hosts) -> None:
    host = Recipe.of(timm="deit_tiny_patch16_224")
    hosts.with_blocks(with_imlp("deit_tiny_patch16_224"), READINGS)
    counts = composed(hosts.as_it_is(host)[np.newaxis], 0)
    assert (counts["all"], counts["conv@stem"], counts["linear@head"]) == (5_717_416, PATCHES, 192_000)


def test_a_kernel_larger_than_the_grid_is_refused(hosts: Hosts) -> None:
    with pytest.raises(BuildError, match="kernel: 9 is larger than the grid of 7 x 7"):
        hosts.with_blocks(with_imlp("swin_tiny_patch4_window7_224", kernel=9), READINGS)
