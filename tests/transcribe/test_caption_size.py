"""A caption that excepts rows from its size of images does not give it to them."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.draft import draft_table
from imlp_audit.transcribe.image_sizes import read_caption_size
from tests.transcribe.test_draft import recipes, table

LABELS = ("DeiT-Small/16", "ViT-Base/16", "Swin-Base", "T2T-ViT-14", "PVTv2-B1")


@pytest.mark.parametrize(
    ("caption", "side", "excepted"),
    [
        ("Except for ViT-Base/16, all other models are at 224x224", 224, ["ViT-Base/16", "T2T-ViT-14"]),
        ("All models use 224x224 images except for DeiTs and PVTs", 224, ["DeiT-Small/16", "PVTv2-B1"]),
        ("Swin uses 384x384 and all others 224x224", None, ["Swin-Base"]),
        ("Swin follows its paper. Others use 224x224 images", 224, ["Swin-Base"]),
        ("Images are 224x224. Except for Swin, whose resolution is its own", 224, ["Swin-Base"]),
        ("Swin is ours. Models at 224x224", 224, []),
        ("All models but for larger ones use 224x224 images", None, []),
        ("CNNs have their own resolution and the rest 224x224", None, []),
        ("At 224x224 unless in bold", None, []),
        ("At 224x224 unless marked in bold", None, []),
        ("At 224x224 unless otherwise noted", 224, []),
        ("All models use 224x224 images unless marked with ↑", 224, []),
        ("at 224, except where noted", 224, []),
        ("At 224x224; all other training settings are of DeiT", 224, []),
        ("Trained on ImageNet-1K except ViT. At 224x224", 224, []),
        ("Swin, DeiT and ViT at 224x224", 224, []),
    ],
)
def test_a_caption_gives_its_size_to_the_rows_that_it_does_not_except(
    caption: str, side: int | None, excepted: list[str]
) -> None:
    found = read_caption_size(f"Results. {caption}.", LABELS)
    assert found.side == side
    assert sorted(found.excepted) == sorted(excepted)


LINES = ("Model | Params (M) | FLOPs (G)", "DeiT-Small/16 | 22.1 | 4.6", "ViT-Base/16 | 86.9 | 55.5")
BOTH = ["{timm: deit_small_patch16_224}", "{timm: vit_base_patch16_224}"]


@pytest.mark.parametrize("given", [None, 224])
def test_a_row_that_the_caption_excepts_waits(given: int | None) -> None:
    caption = "Except for ViT-Base/16, all other models are trained on 224x224 resolution."
    draft = draft_table(table(*LINES, caption=caption).table, given=given)
    assert recipes(draft) == [BOTH[0], None]
    assert draft.unsized == frozenset()
    assert (
        draft.rows[1].model.reason
        == f"the caption says {caption[:-1]!r}, so the row's images may be of another size: give the row its own"
    )
    assert {BOTH[1], "{timm: vit_base_patch16_384}"} <= set(draft.rows[1].model.candidates)


def test_parameters_that_all_sizes_share_are_kept_and_a_model_of_any_size_waits() -> None:
    caption = "ResNets and EfficientNets are evaluated at their own resolutions, all others at 224x224."
    rows = ("EfficientNet-B3 | 12 | 1.8", "ResNet-50 | 25.6 | 8", "DeiT-Small/16 | 22.1 | 4.6")
    draft = table(LINES[0], *rows, caption=caption)
    assert recipes(draft) == ["{timm: efficientnet_b3, image: 288}", None, BOTH[0]]
    assert draft.rows[0].numbers.waiting == {"flops": "1.8"}
    assert draft.unsized == frozenset()


def test_a_row_whose_size_the_table_gives_does_not_wait() -> None:
    assert recipes(table(*LINES, caption="All models are trained on 224x224 resolution.")) == BOTH
    rows = ("Model | Size | FLOPs (G)", "DeiT-Small/16 | 224 | 4.6", "ViT-Base/16 | 384 | 55.5")
    found = recipes(table(*rows, caption="Except for ViT-Base/16, all other models are on 224x224 resolution."))
    assert found == [BOTH[0], "{timm: vit_base_patch16_384}"]
