"""Which rows and readings a checkpoint fits: against building every model and comparing."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import pytest
import timm
import torch
from torch import nn

from imlp_audit.checkpoint.fitting import Shapes
from imlp_audit.inspect.matching_rows import (
    find_candidates,
    has_same_start,
    is_plausible,
    list_models,
)
from imlp_audit.models.blocks import Part
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import AnyReading, Reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.checkpoint import Candidates, FittingModel
from imlp_audit.spec.load import Selection, load
from tests.models.readings import AS_WRITTEN, RELEASED

SPECS = Path(__file__).parents[2] / "specs"
BUILDER = Builder()
TABLE = "imlp/table5.yaml"  # kernels of 1, 3, 5 and 7
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


def places(candidates: tuple[FittingModel, ...]) -> set[tuple[str, str]]:
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
    assert len(alike) == answer.models.compared < answer.models.known


@pytest.mark.slow
def test_the_nearest_models_are_listed_with_what_does_not_fit() -> None:
    with torch.device("meta"):
        held = shapes(timm.create_model("deit_tiny_patch16_224", num_classes=10))
    answer = found(held, "imlp/table3.yaml")
    assert not answer.exact
    assert answer.nearest[0].places == ("imlp/3/gelu",)
    assert [sum(len(one.tensors) for one in model.problems) for model in answer.nearest][:2] == [
        2,
        50,
    ]  # the head, and 4 coefficients of 12 AGeLUs
    (problem,) = answer.nearest[0].problems
    assert problem.details == ("10 x 192 in the file, 1000 x 192 in the model", "10 in the file, 1000 in the model")


def test_a_block_that_fits_no_reading_is_reported_with_the_nearest_declared_one() -> None:
    answer = found(built(recipe(kernel=9), RELEASED), TABLE)
    (nearest, *_) = answer.nearest
    assert nearest.readings == ("released",)
    assert [one.details for one in nearest.problems] == [("768 x 1 x 9 x 9 in the file, 768 x 1 x 1 x 1 in the model",)]


def test_tensor_names_that_no_paper_has() -> None:
    answer = found({"encoder.weight": (3, 4)}, TABLE)
    assert (answer.exact, answer.nearest, answer.models.compared) == ((), (), 0)


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
    "resmlp: {layers: 12",
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
    for model, place in ((DEIT, "broken/1/base"), (Recipe.of(torchvision="alexnet"), "broken/1/wrong")):
        answer = find_candidates(built(model), load(["specs/broken"]), lambda total: lambda name: None)
        assert [one.places for one in answer.exact] == [(place,)]
