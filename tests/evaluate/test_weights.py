"""A row's model with a checkpoint's weights: what fits, what does not, and what classifies no images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from imlp_audit.errors import CheckpointError, UsageError
from imlp_audit.evaluate.weights import Weights, _count_classes, choose_reading, with_weights
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import Presence
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import RowRef, find_row
from tests.evaluate.digits import write_spec

Wrap: TypeAlias = Callable[[dict[str, torch.Tensor]], Mapping[str, object]]


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_spec(tmp_path_factory.mktemp("spec"))


@pytest.fixture
def row(spec: Path) -> RowRef:
    return _row("digits/1/deit_imlp", spec)


def _row(name: str, *specs: Path) -> RowRef:
    found = find_row(load([str(one) for one in specs] or [name.partition("/")[0]]).papers, name)
    assert found is not None
    return found


@pytest.fixture
def checkpoint(row: RowRef, tmp_path: Path) -> Path:
    recipe = row.row.model
    assert recipe is not None
    torch.manual_seed(0)
    reading = row.paper.about.value.readings["released"].reading()
    with Builder("cpu").variant(recipe, recipe.part_of(reading)) as variant:
        save_file(variant.model.state_dict(), tmp_path / "weights.safetensors")
    return tmp_path / "weights.safetensors"


def test_the_model_has_the_weights_and_only_evaluates(row: RowRef, checkpoint: Path) -> None:
    with with_weights(Weights(row, checkpoint, "released")) as found:
        assert (found.size, found.classes, found.notes) == ((48, 48), 10, ())
        assert not any(parameter.requires_grad for parameter in found.model.parameters())
        assert not any(module.training for module in found.model.modules())
        held = load_file(checkpoint)
        assert held.keys() == found.model.state_dict().keys()
        assert all(torch.equal(tensor, held[name]) for name, tensor in found.model.state_dict().items())


def test_the_only_reading_that_fits_is_used_and_named(row: RowRef, checkpoint: Path) -> None:
    assert choose_reading(row, None) == "lean"
    with with_weights(Weights(row, checkpoint)) as found:
        assert found.reading == "released"
        assert found.notes == (
            "its shapes fit the reading released alone, so that is used, not the paper's default lean",
        )


def test_a_checkpoint_of_another_row_is_reported_by_cause(spec: Path, checkpoint: Path) -> None:
    row = _row("digits/1/deit", spec)
    words = r"does not fit digits/1/deit under the reading lean, nor under released(.|\n)*unexpected: the model has no"
    with pytest.raises(CheckpointError, match=words), with_weights(Weights(row, checkpoint)):
        pass


def test_the_reading_must_be_stated_if_another_fits_as_well(spec: Path, checkpoint: Path) -> None:
    """A skip around the depthwise block has no weights: shapes do not tell whether it is there."""
    row = _row("digits/1/deit_imlp", spec)
    about = row.paper.about.value
    skip = about.readings["released"].choices["depthwise_skip"]
    other = about.readings["released"].model_copy(
        update={"depthwise_skip": skip.model_copy(update={"value": Presence.NO if skip.value else Presence.YES})}
    )
    readings = {"released": about.readings["released"], "without": other}
    both = replace(
        row,
        paper=replace(row.paper, about=replace(row.paper.about, value=about.model_copy(update={"readings": readings}))),
    )
    with (
        pytest.raises(CheckpointError, match=r"also fit --reading without.*pass --reading"),
        with_weights(Weights(both, checkpoint)),
    ):
        pass
    with with_weights(Weights(both, checkpoint, "released")) as found:
        assert "also fit --reading without" in found.notes[0]


def weights_of(checkpoint: Path) -> dict[str, torch.Tensor]:
    return load_file(checkpoint)


@pytest.mark.parametrize(
    ("wrap", "settings"),
    [
        (lambda state: {"a": {"b": {"c": state}}}, {}),
        (lambda state: {"state": {"x": torch.ones(1)}, "net": state}, {"state": "net"}),
        (lambda state: {"model": {"x": torch.ones(1)}, "other": state}, {"state": "other"}),
        (lambda state: {"state_dict": {f"model.{k}": v for k, v in state.items()}}, {"prefix": "model."}),
    ],
)
def test_the_state_that_fits_is_used_whatever_its_name(
    row: RowRef, checkpoint: Path, tmp_path: Path, wrap: Wrap, settings: dict[str, str]
) -> None:
    state = weights_of(checkpoint)
    torch.save(wrap(state), tmp_path / "c.pth")
    with with_weights(Weights(row, tmp_path / "c.pth", "released")) as found:
        assert found.settings == settings
        assert all(torch.equal(tensor, state[name]) for name, tensor in found.model.state_dict().items())


def test_of_two_states_that_fit_the_user_chooses(row: RowRef, checkpoint: Path, tmp_path: Path) -> None:
    state = weights_of(checkpoint)
    average = {f"module.{name}": value + 1 for name, value in state.items()}
    torch.save({"state_dict": state, "state_dict_ema": average}, tmp_path / "c.pth")
    words = r"several states that fit; pass --state state_dict or --state state_dict_ema$"
    with pytest.raises(CheckpointError, match=words), with_weights(Weights(row, tmp_path / "c.pth", "released")):
        pass
    with with_weights(Weights(row, tmp_path / "c.pth", "released", "state_dict_ema")) as found:
        assert found.settings == {"state": "state_dict_ema"}
        assert torch.equal(found.model.state_dict()["norm.bias"], state["norm.bias"] + 1)


def test_a_prefix_that_the_user_names(row: RowRef, checkpoint: Path, tmp_path: Path) -> None:
    state = weights_of(checkpoint)
    both = {
        f"{who}.{name}": value + add for add, who in enumerate(("student", "teacher")) for name, value in state.items()
    }
    torch.save(both, tmp_path / "c.pth")
    with pytest.raises(CheckpointError, match=r"prefix 'student\.'(.|\n)*prefix 'teacher\.'"):  # noqa: SIM117
        with with_weights(Weights(row, tmp_path / "c.pth", "released")):
            pass
    with with_weights(Weights(row, tmp_path / "c.pth", "released", None, "teacher.")) as found:
        assert found.settings == {"prefix": "teacher."}
        assert torch.equal(found.model.state_dict()["norm.bias"], state["norm.bias"] + 1)


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("resmlp/5/resmlp_6", "its model does not read images"),  # a translator
        ("imlp/6/swin_ti", "its model does not read images"),  # a detector, which takes boxes too
    ],
)
def test_a_model_that_classifies_no_images(name: str, words: str, checkpoint: Path) -> None:
    row = _row(name)
    reading = choose_reading(row, None)
    with pytest.raises(UsageError, match=words), with_weights(Weights(row, checkpoint, reading)):
        pass


class Noisy(nn.Module):
    """Scores that are never the same twice."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(images.mean((2, 3)) + 1)


class Training(nn.Sequential):
    """Never leaves training mode."""

    def eval(self) -> Training:
        return self


class OneRow(nn.Module):
    """One row of scores, however many images there are."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return images.mean((0, 2, 3))[None]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (Noisy(), "gives other outputs each time"),
        (Training(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.BatchNorm1d(3)), "stays in training mode"),
        (OneRow(), "does not classify"),
    ],
)
def test_outputs_that_say_nothing_about_an_image_are_refused(row: RowRef, model: nn.Module, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        _count_classes(row, model.eval(), (8, 8))


def test_a_state_of_a_common_name_that_does_not_fit_is_named(row: RowRef, checkpoint: Path, tmp_path: Path) -> None:
    state = load_file(checkpoint)
    torch.save({"model": {"w": torch.ones(2)}, "init": state}, tmp_path / "c.pth")
    with with_weights(Weights(row, tmp_path / "c.pth", "released")) as found:
        assert "init is used; the file also holds model (choose with --state)" in found.notes
        assert found.settings == {"state": "init"}
