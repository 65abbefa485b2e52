"""FLOPs on a second size of images wait for models whose windows are made for the first."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.write import DraftPaper, decisions_of, write_spec
from tests.transcribe.test_draft import recipes, table

HEAD = "Model | Params (M) | FLOPs@224 (G) | FLOPs@384 (G)"


@pytest.mark.parametrize("label", ["Swin-B", "Swin-S", "MaxViT-T", "DaViT-T"])
def test_flops_on_images_that_the_windows_are_not_made_for_wait(label: str) -> None:
    (row,) = table(HEAD, f"{label} | 87.8 | 15.4 | 47.1").rows
    assert row.model.recipe is not None
    assert row.numbers.printed == {"params": "87.8", "flops": "15.4"}
    assert row.numbers.waiting == {"flops_2": "47.1"}


@pytest.mark.parametrize("label", ["ConvNeXt-B", "DeiT-B", "ViT-B/16", "ResNet-50", "CaiT-S24", "EfficientNet-B0"])
def test_flops_of_models_without_windows_are_kept(label: str) -> None:
    (row,) = table(HEAD, f"{label} | 86.6 | 17.6 | 55.5").rows
    assert row.model.recipe is not None
    assert row.numbers.printed == {"params": "86.6", "flops": "17.6", "flops_2": "55.5"}
    assert row.numbers.waiting == {}


def test_one_column_of_the_images_that_the_windows_are_made_for_is_kept() -> None:
    (row,) = table("Model | FLOPs@384 (G)", "Swin-B | 47.1").rows
    assert row.model.recipe == "{timm: swin_base_patch4_window12_384}"
    assert row.numbers.printed == {"flops": "47.1"}


def test_a_row_of_such_flops_alone_stays_open() -> None:
    draft = table("Model | FLOPs@256 (G) | FLOPs@384 (G)", "Swin-T | 5.9 | 13.0", "ResNet-50 | 5.4 | 12.1")
    assert recipes(draft) == [None, "{timm: resnet50, image: 256}"]
    assert draft.rows[0].numbers.printed == {"flops": "5.9", "flops_2": "13.0"}


def test_the_spec_says_which_model_the_flops_may_be_of() -> None:
    draft = table(HEAD, "Swin-B | 87.8 | 15.4 | 47.1", "DeiT-B | 86.6 | 17.6 | 55.5")
    why = (
        "the windows of swin_base_patch4_window7_224 are made for images of 224, and the paper may count another model "
        "on images of 384, such as swin_base_patch4_window12_384: give that one a row of its own"
    )
    assert f"# flops_2: 47.1 waits: {why}" in write_spec(draft, DraftPaper("x", "X", "A", "v1"))
    assert f"1 row with FLOPs that wait (Swin-B): {why}" in decisions_of(draft)
