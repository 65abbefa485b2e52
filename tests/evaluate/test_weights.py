"""A row's model with a checkpoint's weights: what fits, what does not, and what classifies no images."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from imlp_audit.errors import CheckpointError, UsageError
from imlp_audit.evaluate.weights import _count_classes, choose_reading, with_weights
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import Presence
from imlp_audit.spec.library import load
from imlp_audit.spec.references import RowRef, find_row
from tests.evaluate.digits import write_spec


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
    from safetensors.torch import load_file

    with with_weights(row, "released", checkpoint, None, None) as found:
        assert (found.size, found.classes, found.notes) == ((48, 48), 10, ())
        assert not any(parameter.requires_grad for parameter in found.model.parameters())
        assert not any(module.training for module in found.model.modules())
        held = load_file(checkpoint)
        assert held.keys() == found.model.state_dict().keys()
        assert all(torch.equal(tensor, held[name]) for name, tensor in found.model.state_dict().items())


def test_a_reading_that_fits_is_named(row: RowRef, checkpoint: Path) -> None:
    words = r"does not fit digits/1/deit_imlp under the reading lean, but it fits with --reading released$"
    with pytest.raises(CheckpointError, match=words), with_weights(row, "lean", checkpoint, None, None):
        pass


def test_a_checkpoint_of_another_row_is_reported_by_cause(spec: Path, checkpoint: Path) -> None:
    row = _row("digits/1/deit", spec)
    words = r"does not fit digits/1/deit under the reading lean, nor under released(.|\n)*unexpected: the coefficients"
    with pytest.raises(CheckpointError, match=words), with_weights(row, None, checkpoint, None, None):
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
        with_weights(both, None, checkpoint, None, None),
    ):
        pass
    with with_weights(both, "released", checkpoint, None, None) as found:
        assert "also fit --reading without" in found.notes[0]


def test_images_of_another_size(spec: Path, row: RowRef, checkpoint: Path) -> None:
    words = "its model does not accept images of 48 x 49: Input width"
    with pytest.raises(UsageError, match=words), with_weights(row, "released", checkpoint, None, (48, 49)):
        pass


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
    with pytest.raises(UsageError, match=words), with_weights(row, reading, checkpoint, None, None):
        pass


def test_a_model_whose_outputs_are_no_scores(row: RowRef) -> None:
    with pytest.raises(UsageError, match="its model does not classify"):
        _count_classes(row, nn.Conv2d(3, 4, 3), (8, 8))


def test_a_row_without_a_model(spec: Path, checkpoint: Path) -> None:
    row = _row("digits/1/unknown", spec)
    with (
        pytest.raises(UsageError, match="has no model in its spec"),
        with_weights(row, None, checkpoint, None, None),
    ):
        pass


def test_the_default_reading_is_the_papers_first(row: RowRef) -> None:
    assert choose_reading(row, None) == "lean"
    assert choose_reading(row, "released") == "released"
    with pytest.raises(UsageError, match="--reading relased: did you mean 'released'"):
        choose_reading(row, "relased")
