"""Models counted under every reading against models that are built whole."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from imlp_audit.count.call import Operation
from imlp_audit.count.ledger import CallCache
from imlp_audit.errors import BuildError
from imlp_audit.models.available_hosts import Bert, GmlpText, ResMlp
from imlp_audit.models.blocks import Activation, Communication, Gate, ImlpRecipe, Norm, Part, Pooling
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import Family
from imlp_audit.models.recipe import Recipe, Replacement
from imlp_audit.solve.compose import count_models, readings_of
from imlp_audit.solve.problem import Integers
from tests.bundled import bundled_paper
from tests.models.test_papers_models import lvt
from tests.solve.direct import Counts, composed, direct, sample

SPACES = {str(family): readings_of(family) for family in (Family.IMLP, Family.TEXT, Family.RESMLP)}
READINGS, TEXTS, FORMS = SPACES.values()
SAMPLED = 2  # readings of each model
PATCHES = 196 * 192 * 3 * 16 * 16  # multiply-accumulates of DeiT-Ti's patch embedding, a convolution


@cache
def in_the_specs(paper: str, family: str) -> list[Recipe]:
    """Every model of a family that a paper's tables list, and those that its text describes, each once."""
    found = bundled_paper(paper)
    recipes = [*(row.row.model for row in found.rows), *(one.value.model for one in found.systems)]
    return list(dict.fromkeys(recipe for recipe in recipes if recipe is not None and recipe.family == family))


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
    lvt(2, imlp={"kernel": 5}, sites=["backbone.[1-3].*"]),
    lvt(3, imlp={"kernel": 3}, sites=["post_network.*", "*.0.mlp"]),
]


def counted(recipe: Recipe) -> Integers:
    """Return the counts of a model under every reading of its family."""
    table = count_models([recipe], SPACES)[recipe]
    if isinstance(table, BuildError):
        raise table
    return table


@pytest.fixture(scope="module")
def builder() -> Builder:
    return Builder()


@pytest.fixture(scope="module")
def memory() -> CallCache:
    return {}


def test_the_tables_list_the_largest_hosts_and_those_that_are_no_classifiers() -> None:
    named = " ".join(map(str, in_the_specs("imlp", "imlp")))
    for host in ("swin_base_patch4", "poolformer_m48", "deit_base_patch16", "recursions: 4", "SwinUperNet"):
        assert host in named
    assert SAMPLED * len(in_the_specs("imlp", "imlp") + OTHERS) >= 60


@pytest.mark.slow
def test_what_the_axes_of_a_block_change_adds_up(builder: Builder, memory: CallCache) -> None:
    recipe = with_imlp("deit_tiny_patch16_224", ratio=2, kernel=3)
    table = counted(recipe)
    for index, reading in sample(READINGS, 200, str(recipe)):
        whole = direct(builder, memory, recipe, reading)
        assert _without_layout(composed(table, index)) == _without_layout(whole), reading


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    "recipe",
    [*OTHERS, *(pytest.param(recipe, marks=pytest.mark.slow) for recipe in in_the_specs("imlp", "imlp"))],
    ids=str,
)
def test_a_table_of_readings_has_what_a_model_built_under_one_has(
    recipe: Recipe, builder: Builder, memory: CallCache
) -> None:
    table = counted(recipe)
    assert len(table) == len(READINGS) == 2304
    for index, reading in sample(READINGS, SAMPLED, str(recipe)):
        whole = direct(builder, memory, recipe, reading)
        assert _without_layout(composed(table, index)) == _without_layout(whole), reading


def _without_layout(counts: Counts) -> Counts:
    """Leave out what hangs on how tensors lie in memory; no search asks for it under readings."""
    return {name: n for name, n in counts.items() if not name.startswith(f"{Operation.BIAS_APART}@")}


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    "recipe",
    [
        Recipe.of(timm="deit_tiny_patch16_224"),
        Recipe.of(timm="deit_tiny_patch16_224", activation=Activation.RELU, agelu=True),
        Recipe.of(timm="resnet152"),
    ],
    ids=str,
)
def test_a_model_that_no_reading_changes_is_counted_as_it_is(
    recipe: Recipe, builder: Builder, memory: CallCache
) -> None:
    assert composed(counted(recipe), 0) == direct(builder, memory, recipe, None)


def test_a_kernel_larger_than_the_grid_is_refused() -> None:
    with pytest.raises(BuildError, match="kernel: 9 is larger than the grid of 7 x 7"):
        counted(with_imlp("swin_tiny_patch4_window7_224", kernel=9))


def test_the_tables_list_the_deepest_models_and_every_gate() -> None:
    named = " ".join(map(str, in_the_specs("mixer_gmlp_coursework", "text")))
    for part in ("bert: {layers: 48}", "layers: 144", "attention: 64", *(f"gate: {gate}" for gate in Gate)):
        assert part in named


@pytest.mark.slow
@pytest.mark.parametrize("recipe", in_the_specs("mixer_gmlp_coursework", "text"), ids=str)
def test_a_model_of_language_is_its_layers_and_what_stands_around_them(recipe: Recipe, memory: CallCache) -> None:
    table = counted(recipe)
    assert len(table) == len(TEXTS) == 640
    for index, reading in sample(TEXTS, SAMPLED, str(recipe)):
        assert composed(table, index) == direct(Builder(), memory, recipe, reading), reading


@pytest.mark.slow
@pytest.mark.parametrize("classes", [None, 3])
@pytest.mark.parametrize(
    "host",
    [
        {"gmlp_text": GmlpText(layers=3, width=12)},
        {"gmlp_text": GmlpText(layers=3, width=12, gate=Gate.PRODUCT, attention=8)},
        {"bert": Bert(layers=3, width=12, heads=3, hidden=24)},
    ],
    ids=str,
)
def test_small_models_agree_under_many_readings(
    host: dict[str, object], classes: int | None, memory: CallCache
) -> None:
    recipe = Recipe.model_validate({**host, "classes": classes})
    table = counted(recipe)
    for index, reading in sample(TEXTS, 12, str(recipe)):
        assert composed(table, index) == direct(Builder(), memory, recipe, reading), reading


RESMLPS = [
    ResMlp(layers=3, width=24, norm=Norm.BATCH, pooling=Pooling.CLASS_MLP),
    ResMlp(layers=3, width=24, communication=Communication.NONE),
    ResMlp(layers=3, width=24, norm=Norm.L2, communication=Communication.MLP, expansion=0.5),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "recipe", in_the_specs("resmlp", "resmlp") + [Recipe.of(resmlp=host) for host in RESMLPS], ids=str
)
def test_a_resmlp_is_its_layers_and_what_stands_around_them(recipe: Recipe, memory: CallCache) -> None:
    table = counted(recipe)
    assert len(table) == len(FORMS) == 4
    for index, reading in sample(FORMS, 4, ""):
        assert composed(table, index) == direct(Builder(), memory, recipe, reading), reading


def test_a_width_in_the_recipe_holds_under_every_reading() -> None:
    said = counted(Recipe.of(gmlp_text=GmlpText(layers=4, width=12, hidden=2048)))
    open_ = counted(Recipe.of(gmlp_text=GmlpText(layers=4, width=12)))
    axis = list(TEXTS.axes).index("ffn_width")
    by_width = np.moveaxis(said.reshape(*TEXTS.shape, -1), axis, 0)
    np.testing.assert_array_equal(by_width[0], by_width[1])
    np.testing.assert_array_equal(by_width[0], np.moveaxis(open_.reshape(*TEXTS.shape, -1), axis, 0)[0])


def test_texts_longer_than_the_table_of_positions_are_refused() -> None:
    with pytest.raises(BuildError, match="sequence_length: 512 tokens, but only 256 positions"):
        counted(Recipe.of(bert=Bert(layers=2, positions=256)))
