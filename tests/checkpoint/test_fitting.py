"""Checkpoints that do not fit a model: what is said of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import pytest
import timm
import torch
from torch import nn

from imlp_audit.checkpoint.fitting import Fit, Shapes, describe, fit
from imlp_audit.models.blocks import ImlpRecipe, Part
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import AGeLUParameters, DepthwiseActivation, Presence, Reading
from imlp_audit.models.recipe import Recipe, Replacement
from imlp_audit.records.checkpoint import MisfitKind
from tests.models.readings import AS_WRITTEN, RELEASED

DEIT = "deit_tiny_patch16_224"
BUILDER = Builder()


@contextmanager
def imlp(reading: Reading = RELEASED, **block: object) -> Iterator[nn.Module]:
    recipe = Recipe.of(timm=DEIT, mlp=Replacement(imlp=ImlpRecipe.model_validate({"ratio": 2, "kernel": 3, **block})))
    with BUILDER.variant(recipe, reading) as variant:
        yield variant.model


@cache
def of_imlp(reading: Reading = RELEASED) -> Shapes:
    with imlp(reading) as model:
        return shapes(model)


def shapes(model: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


@cache
def built(name: str, **options: object) -> nn.Module:
    with torch.device("meta"):
        model: nn.Module = timm.create_model(name, **options)
    return model


def told(found: Fit) -> list[str]:
    return [f"{problem.kind}: {', '.join((problem.reason, *problem.details[:1]))}" for problem in found.problems]


MISSING, UNEXPECTED = (
    "missing: the file lacks tensors of the model",
    "unexpected: the model has no tensors of these names",
)


def misshaped(held: str, wanted: str) -> str:
    return f"mis-shaped: other shapes, {held} in the file, {wanted} in the model"


def test_a_model_fits_itself() -> None:
    found = fit(shapes(built(DEIT)), built(DEIT))
    assert found.exact
    assert (found.notes, found.misfits) == ((), 0)
    assert found.dialect.names == {name: name for name in shapes(built(DEIT))}


@pytest.mark.daily(4)
@pytest.mark.parametrize(
    ("name", "options", "problems", "misfits"),
    [
        (DEIT, {"num_classes": 10}, [misshaped("10 x 192", "1000 x 192")], 2),
        (DEIT, {"num_classes": 0}, [MISSING], 2),
        (
            DEIT,
            {"class_token": False, "global_pool": "avg", "fc_norm": False},
            [misshaped("1 x 196 x 192", "1 x 197 x 192"), MISSING],
            2,
        ),
        ("deit_tiny_distilled_patch16_224", {}, [misshaped("1 x 198 x 192", "1 x 197 x 192"), UNEXPECTED], 4),
        (DEIT, {"img_size": 384}, [misshaped("1 x 577 x 192", "1 x 197 x 192")], 1),
        ("deit_small_patch16_224", {}, [misshaped("1 x 1 x 384", "1 x 1 x 192")], 151),
        (DEIT, {"depth": 14}, [UNEXPECTED], 24),
        (DEIT, {"depth": 9}, [MISSING], 36),
        (DEIT, {"patch_size": 32, "img_size": 448}, [misshaped("192 x 3 x 32 x 32", "192 x 3 x 16 x 16")], 1),
        (DEIT, {"init_values": 0.1}, [UNEXPECTED], 24),
    ],
)
def test_problems_of_a_vit(name: str, options: dict[str, object], problems: list[str], misfits: int) -> None:
    found = fit(shapes(built(name, **options)), built(DEIT))
    assert (told(found), found.misfits) == (problems, misfits)


def test_equal_models_of_two_names() -> None:
    assert fit(shapes(built("resnet18")), built("resnet18.a1_in1k")).exact


@pytest.mark.parametrize(
    ("reading", "block", "problems"),
    [
        (RELEASED, {"kernel": 5}, [misshaped("768 x 1 x 3 x 3", "768 x 1 x 5 x 5")]),
        (RELEASED, {"ratio": 4}, [misshaped("384 x 192", "768 x 192")]),
        (RELEASED, {"part": Part.CHANNEL}, [UNEXPECTED]),
        (replace(RELEASED, fc1_bias=Presence.NO), {}, [UNEXPECTED]),
        (replace(RELEASED, depthwise_activation=DepthwiseActivation.AGELU), {}, [MISSING]),
        (replace(RELEASED, agelu_parameters=AGeLUParameters.PER_LAYER), {}, [misshaped("384", "1")]),
        (AS_WRITTEN, {}, [misshaped("1 x 196 x 192", "1 x 197 x 192"), MISSING, UNEXPECTED]),
    ],
)
def test_problems_of_a_block(reading: Reading, block: dict[str, object], problems: list[str]) -> None:
    """The checkpoint has the block under the reading `released`."""
    held = of_imlp()
    with imlp(reading, **block) as model:
        assert told(fit(held, model)) == problems


@pytest.mark.parametrize("prefix", ["encoder.", "model.backbone."])
def test_a_prefix_that_all_names_have_is_removed(prefix: str) -> None:
    found = fit({prefix + name: shape for name, shape in shapes(built(DEIT)).items()}, built(DEIT))
    assert found.exact
    assert found.notes == (f"prefix removed from all names, because they fit without it: {prefix}",)
    assert len(found.dialect.names) == 152


def test_prefixes_that_only_some_names_have_stay() -> None:
    """Which of two models in one state is meant, and whether what is left may be left out, is the user's to say."""
    own = shapes(built(DEIT))
    both = {f"{one}{name}": shape for one in ("student.", "teacher.") for name, shape in own.items()}
    advice = "unexpected: the prefix '{0}' before the model's names; --prefix {0} reads what begins with it alone"
    assert told(fit(both, built(DEIT))) == [advice.format(one) for one in ("student.", "teacher.")]
    more = {**{f"model.{name}": shape for name, shape in own.items()}, "loss.weight": (3,)}
    assert told(fit(more, built(DEIT))) == [advice.format("model."), UNEXPECTED]


def test_the_same_shapes_by_other_names() -> None:
    found = fit({name.replace("blocks", "layer"): shape for name, shape in shapes(built(DEIT)).items()}, built(DEIT))
    assert told(found) == [MISSING, UNEXPECTED]


class Buffered(nn.Module):
    """A batch norm, and a buffer that the model computes and does not save."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("index", torch.arange(4), persistent=False)


def test_buffers_are_listed() -> None:
    own = shapes(Buffered())
    without = {name: shape for name, shape in own.items() if "tracked" not in name}
    found = fit({**without, "index": (4,)}, Buffered())
    assert found.exact
    assert found.notes == (
        "computed by the model itself, so not loaded: index",
        "not in the file, and not needed to evaluate the model: norm.num_batches_tracked",
    )
    assert told(fit({**own, "index": (5,)}, Buffered())) == [misshaped("5", "4")]
    missing = fit({name: shape for name, shape in own.items() if "running_var" not in name}, Buffered())
    assert [problem.kind for problem in missing.problems] == [MisfitKind.MISSING]


def test_a_problem_in_words() -> None:
    (problem,) = fit(shapes(built(DEIT, num_classes=10)), built(DEIT)).problems
    assert describe(problem) == (
        "mis-shaped: other shapes: 10 x 192 in the file, 1000 x 192 in the model, 10 in the file, 1000 in the model "
        "(2 tensors: head.weight, head.bias)"
    )
    (other,) = fit({"\x1b[2J": (1,), "scale": (), **shapes(built(DEIT))}, built(DEIT)).problems
    assert describe(other) == rf"{UNEXPECTED} (2 tensors: \x1b[2J, scale)"


def test_a_model_of_ones_own_keeps_its_names_whatever_code_they_remind_of() -> None:
    block = nn.ModuleDict({"conv1": nn.Linear(2, 2)})
    block["act1"] = nn.ModuleDict({"move1": nn.ParameterDict({"scale": torch.ones(2)})})
    model = nn.ModuleDict({"layer": block})
    found = fit(shapes(model), model)
    assert (found.exact, found.notes) == (True, ())
