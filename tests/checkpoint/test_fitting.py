"""Checkpoints that do not fit a model: what is told of them, by cause."""

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
from imlp_audit.models.readings import AGeLUParameters, ConcatNorm, DepthwiseActivation, Presence, Reading
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
    return [f"{problem.kind}: {': '.join((problem.reason, *problem.details[:1]))}" for problem in found.problems]


def test_a_model_fits_itself() -> None:
    found = fit(shapes(built(DEIT)), built(DEIT))
    assert found.exact
    assert (found.notes, found.misfits) == ((), 0)
    assert found.dialect.names == {name: name for name in shapes(built(DEIT))}


@pytest.mark.daily(4)
@pytest.mark.parametrize(
    ("name", "options", "causes", "misfits"),
    [
        (DEIT, {"num_classes": 10}, ["mis-shaped: another number of classes: 10 in the file, 1000 in the model"], 2),
        (DEIT, {"num_classes": 0}, ["missing: the classifier's head"], 2),
        (
            DEIT,
            {"class_token": False, "global_pool": "avg", "fc_norm": False},
            [
                "mis-shaped: a table of positions of another length: 196 in the file, 197 in the model",
                "missing: a class token",
            ],
            2,
        ),
        (
            "deit_tiny_distilled_patch16_224",
            {},
            [
                "mis-shaped: a table of positions of another length: 198 in the file, 197 in the model",
                "unexpected: a distillation token and its head",
            ],
            4,
        ),
        (
            DEIT,
            {"img_size": 384},
            [
                "mis-shaped: a table of positions of another length: 577 in the file, 197 in the model"
            ],
            1,
        ),
        ("deit_small_patch16_224", {}, ["mis-shaped: other widths (the file's for the model's): 384 for 192"], 151),
        (DEIT, {"depth": 14}, ["unexpected: another depth: 14 in the file's blocks, 12 in the model's"], 24),
        (DEIT, {"depth": 9}, ["missing: another depth: 9 in the file's blocks, 12 in the model's"], 36),
        (
            DEIT,
            {"patch_size": 32, "img_size": 448},
            ["mis-shaped: patches of another size: 32 x 32 in the file, 16 x 16 in the model"],
            1,
        ),
        (DEIT, {"init_values": 0.1}, ["unexpected: the scales of the residual branches"], 24),
    ],
)  # fmt: skip
def test_causes_of_a_vit(name: str, options: dict[str, object], causes: list[str], misfits: int) -> None:
    found = fit(shapes(built(name, **options)), built(DEIT))
    assert (told(found), found.misfits) == (causes, misfits)


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("name", "other", "causes"),
    [
        (
            "mixer_s32_224",
            "mixer_s16_224",
            [
                "mis-shaped: patches of another size: 32 x 32 in the file, 16 x 16 in the model",
                "mis-shaped: other widths (the file's for the model's): 49 for 196",
            ],
        ),
        (
            "swin_small_patch4_window7_224",
            "swin_tiny_patch4_window7_224",
            ["unexpected: another depth: 18 in the file's layers.2.blocks, 6 in the model's"],
        ),
        ("resnet18", "resnet18.a1_in1k", []),
    ],
)
def test_causes_elsewhere(name: str, other: str, causes: list[str]) -> None:
    assert told(fit(shapes(built(name)), built(other))) == causes


@pytest.mark.parametrize(
    ("reading", "block", "causes"),
    [
        (RELEASED, {"kernel": 5}, ["mis-shaped: a kernel of another size: 3 x 3 in the file, 5 x 5 in the model"]),
        (RELEASED, {"ratio": 4}, ["mis-shaped: other widths (the file's for the model's): 384 for 768"]),
        (RELEASED, {"part": Part.CHANNEL}, [
            "unexpected: the depthwise convolution",
            "unexpected: the bias of the depthwise convolution",
            "unexpected: the batch norm of the depthwise block",
        ]),
        (replace(RELEASED, concat_norm=ConcatNorm.NONE), {}, ["unexpected: the norm after the concatenation"]),
        (replace(RELEASED, fc1_bias=Presence.NO), {}, ["unexpected: the bias of the first FC layer"]),
        (replace(RELEASED, fc2_bias=Presence.NO), {}, ["unexpected: the bias of the second FC layer"]),
        (replace(RELEASED, depthwise_bias=Presence.NO), {}, ["unexpected: the bias of the depthwise convolution"]),
        (replace(RELEASED, depthwise_activation=DepthwiseActivation.AGELU), {}, [
            "missing: the AGeLU of the depthwise block"
        ]),
        (replace(RELEASED, agelu_parameters=AGeLUParameters.PER_LAYER), {}, [
            "mis-shaped: AGeLU's coefficients, one for each channel or one for all: 384 in the file, 1 in the model"
        ]),
        (AS_WRITTEN, {}, [
            "mis-shaped: a table of positions of another length: 196 in the file, 197 in the model",
            "missing: a class token",
            "unexpected: the norm after the concatenation",
            "unexpected: the norm after the second FC layer",
        ]),
    ],
)  # fmt: skip
def test_causes_of_a_block(reading: Reading, block: dict[str, object], causes: list[str]) -> None:
    """The checkpoint has the block under the reading `released`."""
    held = of_imlp()
    with imlp(reading, **block) as model:
        assert told(fit(held, model)) == causes


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
    assert told(fit(more, built(DEIT))) == [
        advice.format("model."),
        "unexpected: tensors of other names",
    ]


def test_the_same_shapes_by_other_names() -> None:
    found = fit({name.replace("blocks", "layer"): shape for name, shape in shapes(built(DEIT)).items()}, built(DEIT))
    assert told(found) == [
        "unexpected: tensors of the missing shapes under other names",
        "missing: tensors of the same shapes under these names",
    ]


def test_layers_as_convolutions() -> None:
    held = {
        name: (*shape, 1, 1) if name.endswith("fc1.weight") else shape for name, shape in shapes(built(DEIT)).items()
    }
    (only,) = told(fit(held, built(DEIT)))
    assert only == "mis-shaped: the same numbers in another layout, such as a linear layer and a 1 x 1 convolution"


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
    assert told(fit({**own, "index": (5,)}, Buffered())) == [
        "mis-shaped: other widths (the file's for the model's): 5 for 4"
    ]
    missing = fit({name: shape for name, shape in own.items() if "running_var" not in name}, Buffered())
    assert [problem.kind for problem in missing.problems] == [MisfitKind.MISSING]


def test_a_problem_in_words() -> None:
    (problem,) = fit(shapes(built(DEIT, num_classes=10)), built(DEIT)).problems
    assert describe(problem) == (
        "mis-shaped: another number of classes: 10 in the file, 1000 in the model (2 tensors: head.weight, head.bias)"
    )
    names = {"\x1b[2J": (1,), "n_averaged": (), **shapes(built(DEIT))}
    assert [describe(problem) for problem in fit(names, built(DEIT)).problems] == [
        r"unexpected: tensors of other names (1 tensor: \x1b[2J)",
        "unexpected: the count of an average of weights (torch.optim.swa_utils) (1 tensor: n_averaged)",
    ]


def test_a_model_of_ones_own_keeps_its_names_whatever_code_they_remind_of() -> None:
    block = nn.ModuleDict({"conv1": nn.Linear(2, 2)})
    block["act1"] = nn.ModuleDict({"move1": nn.ParameterDict({"scale": torch.ones(2)})})
    model = nn.ModuleDict({"layer": block})
    found = fit(shapes(model), model)
    assert (found.exact, found.notes) == (True, ())
