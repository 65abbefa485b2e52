"""Recipes: what a spec writes, read and written again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from imlp_audit.models.available_hosts import (
    HOSTS,
    Bert,
    Gmlp,
    GmlpText,
    Mixer,
    ResMlp,
    Timm,
    Torchvision,
    Transformers,
)
from imlp_audit.models.blocks import Activation, Gate, ImlpRecipe, Norm, Part, Pooling
from imlp_audit.models.host import FrozenMap, Host
from imlp_audit.models.own import OwnBlock, PythonModule
from imlp_audit.models.readings import (
    AnyReading,
    OutputLayer,
    PaperReading,
    Presence,
    ResMlpForm,
    ResMlpReading,
    SpatialMatrix,
    TextReading,
)
from imlp_audit.models.recipe import Recipe, Replacement
from imlp_audit.spec.tree import plain, read_tree
from tests.models.readings import RELEASED

HOST: dict[str, Host] = {
    "mixer": Mixer(layers=8, patch=16, width=512, tokens_hidden=256, channels_hidden=2048),
    "gmlp": Gmlp(layers=30, patch=16, width=128, hidden=768),
    "gmlp_text": GmlpText(layers=18, width=512),
    "bert": Bert(layers=6),
    "resmlp": ResMlp(layers=12, width=384),
    "python": PythonModule(file="net.py", name="Net", arguments={"width": "8"}, input=(3, 16, 16)),
    "torchvision": Torchvision(architecture="resnet18"),
    "transformers": Transformers(architecture="ViTModel", config={"hidden_size": "192"}),
}
BLOCK = Replacement(imlp=ImlpRecipe())
TEXT = TextReading(30, 16, 12, SpatialMatrix.FULL, Presence.YES, OutputLayer.TIED, Presence.NO)
RESMLP = ResMlpReading(ResMlpForm.EQUATIONS, Presence.NO)
PAPER = PaperReading(RELEASED, RESMLP, TEXT)


def of(name: str, **options: object) -> Recipe:
    """A recipe of one host, by its key."""
    return Recipe.model_validate({name: HOST.get(name, "deit_tiny_patch16_224"), **options})


def test_every_host_is_tried_here() -> None:
    assert set(HOSTS) == {"timm", *HOST}
    assert all(isinstance(host, HOSTS[key]) for key, host in HOST.items())


@pytest.mark.parametrize("name", HOSTS)
def test_the_host_of_a_recipe_is_the_one_that_is_given(name: str) -> None:
    assert of(name).host == HOST.get(name, Timm(architecture="deit_tiny_patch16_224"))


@pytest.mark.parametrize(
    ("image", "size"), [(None, None), (32, (32, 32)), ((800, 1280), (800, 1280)), ((1280, 800), (1280, 800))]
)
def test_a_size_is_height_and_width(image: object, size: object) -> None:
    assert of("timm", image=image).image == size


@pytest.mark.parametrize(
    ("recipe", "family", "part"),
    [
        (of("timm"), None, None),
        (of("timm", activation=Activation.RELU, agelu=True, image=32, classes=2), None, None),
        (of("timm", mlp=BLOCK), "imlp", RELEASED),
        (of("python", mlp=BLOCK), "imlp", RELEASED),
        (of("python"), None, None),
        (of("mixer"), None, None),
        (of("gmlp"), None, None),
        (of("gmlp_text"), "text", TEXT),
        (of("bert"), "text", TEXT),
        (of("bert", classes=3), "text", TEXT),
        (of("resmlp"), "resmlp", RESMLP),
        (Recipe.of(resmlp=ResMlp(layers=12, width=384, form=ResMlpForm.ALGORITHM)), None, None),
    ],
    ids=str,
)
def test_a_model_depends_on_its_own_part_of_a_reading(
    recipe: Recipe, family: str | None, part: AnyReading | None
) -> None:
    assert recipe.family == family
    assert recipe.part_of(PAPER) == part
    assert recipe.part_of(PaperReading()) is None


@pytest.mark.parametrize(
    ("recipe", "name"),
    [
        (of("timm"), "deit_tiny_patch16_224"),
        (of("timm", mlp=BLOCK, activation="relu"), "deit_tiny_patch16_224"),
        (of("timm", image=64), "timm: deit_tiny_patch16_224, image: 64"),  # 64 may be what it cannot take
        (of("timm", classes=10), "timm: deit_tiny_patch16_224, classes: 10"),
        (of("resmlp"), "resmlp: {layers: 12, width: 384}"),
    ],
)
def test_a_model_is_called_by_its_architecture_or_by_its_recipe(recipe: Recipe, name: str) -> None:
    assert recipe.name == name


@pytest.mark.parametrize(
    ("recipe", "text"),
    [
        (Recipe.of(timm="resnet50"), "timm: resnet50"),
        (Recipe.of(timm="resnet50", image=160, classes=10), "timm: resnet50, image: 160, classes: 10"),
        (Recipe.of(classes=10, image=(160, 192), timm="resnet50"), "timm: resnet50, image: [160, 192], classes: 10"),
        (Recipe.of(timm="vit", activation=Activation.PRELU, agelu=True), "timm: vit, activation: prelu, agelu: true"),
        (Recipe.of(timm="vit", agelu=False), "timm: vit, agelu: false"),
        (
            Recipe.of(timm="vit", mlp=Replacement(imlp=ImlpRecipe(ratio=2, kernel=5, part=Part.CHANNEL, plain=True))),
            "timm: vit, mlp: {imlp: {ratio: 2, kernel: 5, part: channel, plain: true}}",
        ),
        (
            Recipe.of(timm="vit", mlp=Replacement(sites=("blocks.0.mlp", "blocks.1.mlp"), imlp=ImlpRecipe(ratio=2.5))),
            "timm: vit, mlp: {imlp: {ratio: 2.5}, sites: [blocks.0.mlp, blocks.1.mlp]}",
        ),
        (Recipe.of(timm="vit", mlp=Replacement(imlp=ImlpRecipe())), "timm: vit, mlp: {imlp: {}}"),
        (
            Recipe.of(timm="swin", mlp=Replacement(imlp=ImlpRecipe(), sites=("layers.0.*", "*.mlp"))),
            'timm: swin, mlp: {imlp: {}, sites: ["layers.0.*", "*.mlp"]}',
        ),
        (
            Recipe.of(timm="vit", mlp=Replacement(imlp=ImlpRecipe(), sites=("a.mlp", "a.mlp"))),
            "timm: vit, mlp: {imlp: {}, sites: [a.mlp, a.mlp]}",
        ),
        (
            Recipe.of(gmlp_text=GmlpText(width=512, layers=18, gate=Gate.SUM, attention=64), classes=2),
            "gmlp_text: {layers: 18, width: 512, gate: sum, attention: 64}, classes: 2",
        ),
        (
            Recipe.of(resmlp=ResMlp(layers=12, width=384, norm=Norm.AFF, pooling=Pooling.CLASS_MLP)),
            "resmlp: {layers: 12, width: 384, norm: aff, pooling: class_mlp}",
        ),
    ],
)
def test_a_recipe_is_written_on_a_line_as_it_was_given(recipe: Recipe, text: str) -> None:
    assert str(recipe) == text


def sizes(low: int = 1) -> st.SearchStrategy[int]:
    return st.integers(low, 1000)


def given_or_not(options: Mapping[str, st.SearchStrategy[object]]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=dict(options))


architectures = st.from_regex(r"[a-z][a-z0-9_]{0,12}(\.[a-z][a-z0-9_]{0,5})?", fullmatch=True)
ratios = st.floats(2**-10, 64, width=32)
globs = st.lists(st.from_regex(r"[a-z*?\[][a-z0-9_.*?\[\]!]{0,8}", fullmatch=True), min_size=1, max_size=2)
kernels = sizes().map(lambda n: 2 * n + 1)
block = given_or_not({"ratio": ratios, "kernel": kernels, "part": st.sampled_from(Part)})
replacements = st.fixed_dictionaries({"imlp": block}, optional={"sites": globs})
hosts: dict[str, st.SearchStrategy[object]] = {
    "timm": architectures,
    "bert": given_or_not({"positions": sizes()}).map(lambda more: {"layers": 2, "width": 12, "heads": 3, **more}),
    "gmlp_text": given_or_not(
        {
            "hidden": sizes().map(lambda n: 2 * n),
            "gate": st.sampled_from(Gate),
            "spatial_matrix": st.sampled_from(SpatialMatrix),
            "attention": sizes(),
        }
    ).map(lambda more: {"layers": 2, "width": 4, **more}),
    "resmlp": given_or_not({"norm": st.sampled_from(Norm), "expansion": ratios, "patch": st.sampled_from([8, 16])}).map(
        lambda more: {"layers": 2, "width": 4, "communication": "mlp", **more}
    ),
}
images = sizes().map(lambda n: 16 * n) | st.tuples(st.just(32), st.just(48))


def options(host: str) -> st.SearchStrategy[dict[str, object]]:
    size = {} if host in ("bert", "gmlp_text") else {"image": images}
    replaced = {"mlp": replacements} if host == "timm" else {}
    return given_or_not({**size, **replaced, "classes": sizes()})


recipes = st.sampled_from(sorted(hosts)).flatmap(
    lambda host: st.builds(lambda sizes, more: Recipe.model_validate({host: sizes, **more}), hosts[host], options(host))
)


def read(text: str) -> object:
    """Read a recipe as a spec's reader does."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "recipe.yaml")
        path.write_text(f"model: {{{text}}}\n", encoding="utf-8")
        tree, problems = read_tree(path, path.name)
    assert not problems
    assert tree is not None
    values = plain(tree)
    assert isinstance(values, dict)
    return values["model"]


@given(recipes)
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_the_recipe_as_a_spec_would_write_it(recipe: Recipe) -> None:
    assert Recipe.model_validate(read(str(recipe))) == recipe


@pytest.mark.parametrize("name", HOSTS)
def test_a_recipe_is_read_again_from_what_a_spec_would_write(name: str) -> None:
    recipe = of(name)
    assert Recipe.model_validate(recipe.as_written()) == recipe


def test_a_change_touches_what_it_names() -> None:
    recipe = of("timm", mlp={"imlp": {"ratio": 2.5}}, classes=10)
    assert recipe.with_change({"mlp": {"imlp": {"kernel": "5"}}}) == of(
        "timm", mlp={"imlp": {"ratio": 2.5, "kernel": 5}}, classes=10
    )
    assert recipe.with_change({"image": "384"}).image == (384, 384)
    with pytest.raises(ValidationError, match="an even kernel"):
        recipe.with_change({"mlp": {"imlp": {"kernel": 4}}})


@pytest.mark.parametrize(
    ("change", "taken"),
    [
        ({"image": "384"}, True),
        ({"mlp": {"imlp": {"kernel": "5"}}}, True),
        ({"mlp": {"python": {"arguments": {"ratio": "5"}}}}, False),
        ({"resmlp": {"form": "equations"}}, False),
    ],
)
def test_a_change_inside_a_mapping_needs_the_mapping(change: dict[str, object], taken: bool) -> None:
    assert of("timm", mlp=BLOCK).takes(change) is taken
    assert not of("timm").takes({"mlp": {"imlp": {"kernel": "5"}}})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"agelu": True, "mlp": BLOCK}, "agelu: it goes into the host's own MLPs"),
        ({"bert": HOST["bert"]}, "given: timm, bert"),
        ({"timm": None}, "given: none"),
        ({"mlp": {}}, "give exactly one of imlp, python"),
        ({"mlp": {"imlp": {"kernel": 2}}}, "an even kernel"),
        ({"mlp": {"imlp": {"part": "spatial", "plain": True}}}, "a block of only the spatial part has no AGeLUs"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_recipes_that_contradict_themselves(options: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        of("timm", **options)


@pytest.mark.parametrize(
    "change",
    [
        {"agelu": True}, {"activation": "prelu", "agelu": True}, {"mlp": {"imlp": {}}},
        {"mlp": {"imlp": {"part": "channel"}, "sites": ("blocks.*",)}, "activation": "softplus"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("rest", [{}, {"image": (16, 32), "classes": 3}])
def test_a_baseline_is_the_recipe_without_changes_of_its_mlps(
    change: dict[str, object], rest: dict[str, object]
) -> None:
    recipe, baseline = of("timm", **rest, **change), of("timm", **rest)
    assert recipe.with_own_mlps() == baseline
    assert recipe.changes_mlps
    assert not baseline.changes_mlps
    assert baseline.with_change(change) == recipe


@pytest.mark.parametrize("part", Part)
def test_a_kernel_is_of_no_essence_without_a_convolution(part: Part) -> None:
    one, other = (of("timm", mlp={"imlp": {"part": part, "kernel": kernel}}).essence() for kernel in (3, 5))
    assert (one == other) == (part is Part.CHANNEL)
    assert one == of("timm", mlp={"imlp": {"part": part}})


def test_what_a_spec_does_not_say_of_a_block() -> None:
    block = Replacement.model_validate({"imlp": {}})
    assert block.sites == ("*",)
    assert block.block == ImlpRecipe(ratio=2, kernel=3, part=Part.CHANNEL_AND_SPATIAL, plain=False)
    for ratio in (0, -1):
        with pytest.raises(ValidationError, match="ratio"):
            ImlpRecipe(ratio=ratio)


def test_a_block_of_ones_own_has_no_name_of_a_bundled_family() -> None:
    with pytest.raises(ValidationError, match="resmlp is what a family of bundled models is called"):
        OwnBlock(file="own.py", name="resmlp")


def test_values_that_are_written_otherwise_are_others() -> None:
    assert FrozenMap(a=1) != FrozenMap(a=True)
    assert FrozenMap(a=1) == FrozenMap(a=1)
