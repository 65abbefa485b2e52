"""A blank label continues the one above; nothing is made up where there is none."""

from __future__ import annotations

import pytest

from tests.transcribe.test_draft import recipes, table

_HEAD = "Model | Method | Params (M) | Top-1"
_NETS = ("ResNet-50 | Baseline | 25.6 | 76.1", "ResNet-101 | Baseline | 44.5 | 77.4")


def test_a_blank_label_is_the_one_above_with_what_tells_it_apart() -> None:
    rows = table(
        _HEAD, "ResNet-50 | Baseline | 25.6 | 76.1", " | Taylor | 14.2 | 74.5", " | Ours | 12.8 | 75.4",
        "ResNet-101 | Baseline | 44.5 | 77.4", " | Ours | 22.2 | 76.9",
    ).rows  # fmt: skip
    assert [row.label.text for row in rows] == [
        "ResNet-50", "ResNet-50 (Taylor)", "ResNet-50 (Ours)", "ResNet-101", "ResNet-101 (Ours)"
    ]  # fmt: skip
    assert [row.id for row in rows] == [
        "resnet_50", "resnet_50_taylor", "resnet_50_ours", "resnet_101", "resnet_101_ours"
    ]  # fmt: skip
    assert [row.baseline for row in rows] == [None] * 5
    assert [row.model.recipe for row in rows] == [None] * 5
    assert rows[1].model.more == "'(Taylor)' may stand for another model than 'ResNet-50'"
    assert rows[1].model.nearest[0] == "{timm: resnet50}"


@pytest.mark.parametrize(
    "lines",
    [
        (*_NETS, "On CIFAR-10 |", " | Taylor | 14.2 | 74.5", " | Ours | 12.8 | 75.4"),
        ("ResNet-50 | | 25.6 | 76.1", " | | 14.2 | 74.5", " | | 12.8 | 75.4"),  # nothing tells the rows apart
    ],
)
def test_a_label_and_a_baseline_are_never_made_up(lines: tuple[str, ...]) -> None:
    rows = table(_HEAD, *lines).rows
    assert [row.label.text for row in rows[-2:]] == ["", ""]
    assert {row.baseline for row in rows} == {None}


def test_a_dash_is_no_blank() -> None:
    rows = table("Model | Method | Params (M)", "ResNet-50 | Baseline | 25.6", "- | Taylor | 14.2").rows
    assert rows[1].label.text == "-"


def test_a_blank_label_never_gets_a_model_of_its_own() -> None:
    draft = table("Model | Depth | Params (M)", "ResNet | 50-D | 25.6", "VGG | 16-bn | 138", " | 19-bn | 144")
    assert draft.rows[2].label.text == "VGG (19-bn)"
    assert recipes(draft) == [None] * 3
