"""Which rows and readings a checkpoint fits: against building every model, and every block, and comparing."""

from __future__ import annotations

from dataclasses import astuple, replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest
import timm
import torch
from torch import nn

from imlp_audit.checkpoint.misfits import Shapes
from imlp_audit.inspect.candidates import (
    Candidate,
    Candidates,
    find_candidates,
    has_same_start,
    is_plausible,
    list_models,
)
from imlp_audit.models.blocks import Part
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import AnyReading, ClassToken, ConcatNorm, Presence, Reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.solve.space import readings_of
from imlp_audit.spec.library import Selection, load
from tests.models.readings import AS_WRITTEN, RELEASED

SPECS = Path(__file__).parents[2] / "specs"
BUILDER = Builder()
ABLATIONS = ("imlp/table2.yaml", "imlp/table3.yaml")
DEIT = Recipe.of(timm="deit_tiny_patch16_224")


def recipe(host: str = "deit_tiny_patch16_224", **block: object) -> Recipe:
    return Recipe.model_validate({"timm": host, "mlp": {"imlp": {"ratio": 2, "kernel": 3, **block}}})


def shapes(model: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


@cache
def built(model: Recipe, reading: AnyReading | None = None) -> Shapes:
    with BUILDER.variant(model, reading) as variant:
        return shapes(variant.model)


@cache
def papers(*names: str) -> Selection:
    return load([str(SPECS / name) for name in names])


def found(held: Shapes, *names: str) -> Candidates:
    return find_candidates(held, papers(*names), lambda total: lambda name: None)


def places(candidates: tuple[Candidate, ...]) -> set[tuple[str, str]]:
    """Each row with each of its declared readings, "" where it needs none."""
    return {(place, reading) for one in candidates for place in one.places for reading in one.readings or ("",)}


def rows_alike(held: Shapes) -> set[tuple[str, str]]:
    """Build every model under every declared reading, and compare it as a whole."""
    alike = set()
    for use in list_models(papers(*ABLATIONS)):
        for reading, readings in use.readings.items():
            if built(use.recipe, reading) == held:
                alike |= set(product(use.places, readings or ("",)))
    return alike


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("model", "reading"),
    [
        (DEIT, None),
        (recipe(), RELEASED),
        (recipe(part=Part.CHANNEL), AS_WRITTEN),
        (recipe(plain=True), RELEASED),
    ],
    ids=["baseline", "released", "channel", "plain"],
)
def test_every_row_that_fits_is_found_and_no_other(model: Recipe, reading: Reading | None) -> None:
    held = built(model, reading)
    answer = found(held, *ABLATIONS)
    assert places(answer.exact) == rows_alike(held)
    assert answer.exact
    assert not answer.nearest


def test_models_that_begin_otherwise_are_not_compared() -> None:
    answer = found(built(DEIT), "imlp/table9.yaml")
    alike = [use for use in list_models(papers("imlp/table9.yaml")) if use.recipe.host == DEIT.host]
    assert len(alike) == answer.compared < answer.known


AXES = readings_of("imlp").axes
TABLE = "imlp/table5.yaml"  # kernels of 1, 3, 5 and 7


def every_reading() -> list[Reading]:
    return [Reading(*chosen) for chosen in product(*AXES.values())]  # type: ignore[arg-type]  # in the axes' order


def restated(reading: Reading) -> Shapes:
    """The tensors of DeiT-Ti's block with a 3 x 3 kernel, h = 384, and its class token, as the axes say them."""
    agelu = (384 if reading.agelu_parameters == "per_channel" else 1,)
    wide = (768 if reading.agelu_parameters == "per_channel" else 1,)
    coefficients = ("alpha", "beta", "gamma", "theta")
    held: dict[str, tuple[int, ...]] = {
        "fc1.weight": (384, 192),
        "fc2.weight": (192, 768),
        "conv.weight": (768, 1, 3, 3),
    }
    held |= {f"agelu{i}.{name}": agelu for i in (1, 2) for name in coefficients}
    held |= {"fc1.bias": (384,)} if reading.fc1_bias else {}
    held |= {"fc2.bias": (192,)} if reading.fc2_bias else {}
    held |= {"conv.bias": (768,)} if reading.depthwise_bias else {}
    held |= {"dw_norm.mean": (768,), "dw_norm.weight": (768,)} if reading.depthwise_norm == "batch" else {}
    held |= {f"dw_agelu.{name}": wide for name in coefficients} if reading.depthwise_activation == "agelu" else {}
    held |= {"concat.weight": (768,)} if reading.concat_norm != "none" else {}
    held |= {"concat.mean": (768,)} if reading.concat_norm == "batch" else {}
    held |= {"out.weight": (192,)} if reading.output_norm == "layer" else {}
    return held | ({"cls_token": (1, 1, 192)} if reading.class_token is ClassToken.KEPT else {})


@pytest.mark.daily(1)
@pytest.mark.parametrize("reading", every_reading()[5::307], ids=lambda reading: "-".join(map(str, astuple(reading))))
def test_all_readings_that_fit_are_listed(reading: Reading) -> None:
    """Those, of all 2304, that have the same tensors, whichever the papers declare."""
    (one,) = found(built(recipe(), reading), TABLE).exact
    assert one.allowed is not None
    alike = [other for other in every_reading() if restated(other) == restated(reading)]
    assert [other for other in every_reading() if one.allowed.has(other)] == alike
    declared = {"as_written": AS_WRITTEN, "released": RELEASED}
    assert set(one.readings) == {name for name, other in declared.items() if other in alike}


@pytest.mark.slow
def test_shapes_do_not_decide_on_a_skip() -> None:
    (one,) = found(built(recipe(), RELEASED), TABLE).exact
    assert one.allowed is not None
    open_ = {axis: [str(value) for value in values] for axis, values in one.allowed.values.items() if len(values) > 1}
    assert open_ == {
        "depthwise_activation": ["none", "gelu"],
        "depthwise_skip": ["yes", "no"],
    }
    assert one.readings == ("released",)
    skipless = replace(RELEASED, depthwise_skip=Presence.NO)
    assert one.allowed.has(skipless)
    assert not one.allowed.has(AS_WRITTEN)
    assert not one.allowed.has(None)


@pytest.mark.slow
def test_a_host_without_a_class_token_leaves_it_open() -> None:
    (one,) = found(built(recipe("swin_tiny_patch4_window7_224"), RELEASED), "iffn_poster/table1.yaml").exact
    assert one.allowed is not None
    assert len(one.allowed.values["class_token"]) == 2


@pytest.mark.slow
def test_the_nearest_models_are_listed_with_what_does_not_fit() -> None:
    with torch.device("meta"):
        held = shapes(timm.create_model("deit_tiny_patch16_224", num_classes=10))
    answer = found(held, "imlp/table3.yaml")
    assert not answer.exact
    assert answer.nearest[0].places == ("imlp/3/gelu",)
    assert [one.fit.misfits for one in answer.nearest][:2] == [2, 50]  # the head, and 4 coefficients of 12 AGeLUs
    (problem,) = answer.nearest[0].fit.problems
    assert problem.reason == "another number of classes"


def test_a_block_that_fits_no_reading_is_reported_with_the_nearest_declared_one() -> None:
    answer = found(built(recipe(kernel=9), RELEASED), TABLE)
    (nearest, *_) = answer.nearest
    assert (nearest.readings, nearest.allowed) == (("released",), None)
    assert [problem.reason for problem in nearest.fit.problems] == ["a kernel of another size"]


def test_a_block_fits_though_the_head_does_not() -> None:
    """Nearer under a reading that no paper declares than under one that does."""
    reading = replace(RELEASED, concat_norm=ConcatNorm.BATCH)
    held = {**built(recipe(), reading), "head.weight": (10, 192), "head.bias": (10,)}
    (nearest, *_) = found(held, TABLE).nearest
    assert nearest.allowed is not None
    assert nearest.allowed.has(reading)
    assert (nearest.readings, nearest.fit.misfits) == ((), 2)


@pytest.mark.slow
def test_a_first_block_unlike_the_others_decides_nothing() -> None:
    held = {name: shape for name, shape in built(recipe(), RELEASED).items() if name != "blocks.0.mlp.fc1.bias"}
    (nearest, *_) = found(held, TABLE).nearest
    assert (nearest.readings, nearest.fit.misfits, nearest.allowed) == (("released",), 1, None)


def test_tensor_names_that_no_paper_has() -> None:
    answer = found({"encoder.weight": (3, 4)}, TABLE)
    assert (answer.exact, answer.nearest, answer.compared) == ((), (), 0)


@pytest.mark.slow
def test_published_resmlp_names_are_found() -> None:
    with torch.device("meta"):
        held = shapes(timm.create_model("resmlp_12_224"))
    (one,) = found(held, "resmlp/table2.yaml").exact
    assert one.places == ("resmlp/2/s12",)
    assert one.readings == ("algorithm",)


HOSTS = (
    "timm: deit_tiny_patch16_224", "timm: swin_tiny", "timm: poolformer_s12", "timm: mixer_s16", "timm: resnetv2",
    "timm: resnet50", "timm: gmlp_ti16", "timm: cait_xs24", "mixer", "gmlp:", "gmlp_text", "bert: {layers: 6",
    "resmlp: {layers: 12", "vanilla_block",
)  # fmt: skip


@pytest.mark.daily(5)
@pytest.mark.parametrize("start", HOSTS)
def test_no_model_is_ruled_out_by_its_own_names(start: str) -> None:
    use = next(
        use
        for use in list_models(papers("imlp", "mixer_gmlp_coursework", "resmlp"))
        if str(use.recipe).startswith(start)
    )
    held = built(use.recipe, next(iter(use.readings)))
    assert is_plausible(use.recipe, held)
    assert has_same_start(use.recipe, held, BUILDER)
    wrapped = {f"model.{name}": shape for name, shape in held.items()}
    assert is_plausible(use.recipe, wrapped)
    assert is_plausible(DEIT, held) == (start.startswith(("timm: deit", "timm: swin", "timm: cait")))


def test_a_row_that_cannot_be_built_does_not_keep_others_from_being_found(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.papers import write_all

    monkeypatch.chdir(write_all(tmp_path_factory.mktemp("papers")))
    answer = find_candidates(built(DEIT), load(["specs/broken"]), lambda total: lambda name: None)
    assert [one.places for one in answer.exact] == [("broken/1/base", "broken/1/wrong")]
