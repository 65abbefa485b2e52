"""A column that sorts the rows beside a kind that the authors changed: only the rows of this kind stay open."""

from __future__ import annotations

import pytest

from tests.transcribe.test_draft import recipes, table

_NETS = "{timm: resnet50}", "{timm: resnet101}"


@pytest.mark.parametrize("heading", ["", "Arch.", "Group"])
@pytest.mark.parametrize("kind", ["ConvNets & Hybrid", "Vision Transformers", "CNN"])
@pytest.mark.parametrize("changed", ["ConvNets (ours)", "Pruned", "ConvNets + SE"])
def test_a_changed_kind_leaves_its_own_rows_open(heading: str, kind: str, changed: str) -> None:
    draft = table(
        f"{heading} | Model | Params (M)",
        f"{kind} | ResNet-50 | 25.6",
        f"{kind} | ResNet-101 | 44.5",
        f"{changed} | VGG-16 | 138.4",
        f"{changed} | VGG-19 | 143.7",
    )
    assert recipes(draft) == [*_NETS, None, None]
    assert f"says {changed!r}, which may change the model" in draft.rows[2].model.reason


@pytest.mark.parametrize("other", ["Magnitude", "ConvNets (21k)", "ImageNet-21k"])
def test_a_text_that_is_no_kind_beside_a_change_leaves_all_rows_open(other: str) -> None:
    draft = table(
        " | Model | Params (M)",
        f"{other} | ResNet-50 | 25.6",
        f"{other} | ResNet-101 | 44.5",
        "Ours | VGG-16 | 138.4",
        "Ours | VGG-19 | 143.7",
    )
    assert recipes(draft) == [None] * 4


def test_one_label_of_a_kind_and_of_a_change_leaves_all_rows_open() -> None:
    draft = table(
        " | Model | Params (M)",
        "CNN | ResNet-50 | 25.6",
        "CNN | ResNet-101 | 44.5",
        "CNN (ours) | ResNet-50 | 25.6",
        "CNN (ours) | ResNet-101 | 44.5",
    )
    assert recipes(draft) == [None] * 4
