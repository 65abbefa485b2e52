"""Rows whose label names a model, but not surely the one that the paper means: sizes of images, variants, kinds."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.decisions import decisions_of
from imlp_audit.transcribe.draft import draft_table
from imlp_audit.transcribe.image_sizes import Given, OwnSize

from .test_draft import recipes, table

SIZELESS = ("Model | Params (M) | FLOPs (G)", "ResNet-50 | 25.6 | 4.1", "ViT-B/16 | 86.9 | 55.5", "Swin-B | 88 | 15.4")


def test_flops_without_a_size_of_images_wait_for_one_decision_at_the_top() -> None:
    """Where the paper means 384, the models of 224 would differ."""
    draft = table(*SIZELESS)
    assert recipes(draft) == ["{timm: resnet50}", None, None]
    assert draft.unsized == {"flops"}
    assert "`--image 224`" in decisions_of(draft)[0]
    assert set(draft.rows[1].model.candidates) == {
        "{timm: vit_base_patch16_224}", "{timm: vit_base_patch16_384}", "{torchvision: vit_b_16, image: 224}"
    }  # fmt: skip
    assert "published for 224 and 384" in draft.rows[2].model.reason
    assert recipes(table("Model | Params (M)", "ViT-B/16 | 86.9")) == [None]  # its positions are parameters
    assert table("Model | FLOPs (G)", "deit_base_patch16_384 | 55.5", "Swin-B↑384 | 47").unsized == frozenset()


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (224, ["{timm: resnet50, image: 224}", "{timm: vit_base_patch16_224}", "{timm: swin_base_patch4_window7_224}"]),
        (
            384,
            ["{timm: resnet50, image: 384}", "{timm: vit_base_patch16_384}", "{timm: swin_base_patch4_window12_384}"],
        ),
        (OwnSize.OWN, ["{timm: resnet50}", None, None]),
    ],
)
def test_a_size_that_is_given_for_all_rows_decides(given: Given, found: list[str | None]) -> None:
    draft = draft_table(table(*SIZELESS).table, given=given)
    assert recipes(draft) == found
    assert draft.unsized == frozenset()


def test_a_size_for_all_rows_is_not_that_of_a_model_with_another_own_size() -> None:
    lines = ("Model | FLOPs (G)", "CrossViT-S | 5.6", "EfficientNet-B3 | 1.8", "DeiT-S | 4.6")
    for draft in (table(*lines, caption="ImageNet at 224^2"), draft_table(table(*lines).table, given=224)):
        assert recipes(draft) == [None, None, "{timm: deit_small_patch16_224}"]
        assert draft.rows[0].model.candidates == ("{timm: crossvit_small_240}",)
        assert "published for 288 and 300" in draft.rows[1].model.reason
    assert recipes(draft_table(table(*lines).table, given=OwnSize.OWN)) == [
        "{timm: crossvit_small_240}", None, "{timm: deit_small_patch16_224}"
    ]  # fmt: skip


def test_a_label_of_two_rows_with_other_flops_stands_for_two_models() -> None:
    draft = table("Model | Params (M) | FLOPs (G)", "ConvNeXt-B | 89 | 45.0", "ConvNeXt-B | 89 | 15.4")
    assert recipes(draft) == [None, None]
    assert "several sizes for 'ConvNeXt-B' (15, 45)" in draft.rows[0].model.reason


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("CoAtNet-0", "timm says that its coatnet_0_224 is only like the paper's"),
        ("SK-ResNet-50", "timm says that its skresnet50 is only like the paper's"),
        ("SwinV2-T", "timm has several models of this name: swinv2_tiny_window16_256, swinv2_tiny_window8_256"),
    ],
)
def test_a_model_that_may_not_be_the_papers_is_a_candidate(label: str, reason: str) -> None:
    (row,) = table("Model | Size | Params (M)", f"{label} | 256^2 | 28").rows
    assert (row.model.recipe, row.model.reason) == (None, reason)
    assert row.model.candidates
    assert recipes(table("Model | Params (M)", "coatnet_0_224 | 27.4")) == ["{timm: coatnet_0_224}"]


def test_the_variants_of_a_model_are_named() -> None:
    first, second = table("Model | Params (M)", "DeiT-Ti | 5.9", "PVTv2-B2 | 25.4").rows
    assert first.model.variants == ("deit_tiny_distilled_patch16_224",)
    assert second.model.variants == ("pvt_v2_b2_li",)
    (row,) = table("Model | Params (M)", "CrossViT-15† | 28.2").rows
    assert "{timm: crossvit_15_dagger_240}" in row.model.candidates


def test_the_model_that_a_label_adds_to_is_named() -> None:
    (row,) = table("Model | Params (M)", "Swin-T + SE | 28.3").rows
    assert row.model.nearest == ("{timm: swin_tiny_patch4_window7_224}", "{torchvision: swin_t}")


@pytest.mark.parametrize("kind", ["ConvNets & Hybrid", "Conv Only", "ViT-Stem TFM", "Multi-stage TFM", "Conv + TFM"])
def test_a_kind_of_network_changes_no_model(kind: str) -> None:
    draft = table("Kind | Model | Params (M)", f"{kind} | DeiT-S | 22.1", "ViTs | DeiT-Ti | 5.7")
    assert all(recipes(draft))
    assert all(recipes(table("Model | Params (M)", f"{kind} |", "DeiT-S | 22.1")))


@pytest.mark.parametrize("added", ["ViT + conv stem", "Transformers + pooling", "ours + DeiT", "MLP + local attention"])
def test_a_heading_that_adds_a_part_to_a_network_leaves_its_rows_open(added: str) -> None:
    (row,) = table("Model | Params (M)", f"{added} |", "DeiT-S | 22.1").rows
    assert row.model.reason == f"the heading {added!r} above the row may stand for a change of the model"
    assert recipes(table("Kind | Model | Params (M)", f"{added} | DeiT-S | 22.1", "ViTs | DeiT-Ti | 5.7"))[0] is None


def test_of_two_columns_of_one_score_that_of_the_authors_is_left_out() -> None:
    draft = table("Model | Params (M) | Top-1 Original | Top-1 Ours", "DeiT-S | 22.1 | 79.8 | 80.4")
    assert list(draft.columns.slugs.values()) == ["params", "top1"]
    assert any("'Top-1 Ours' is left out" in one for one in decisions_of(draft))


def test_a_change_in_points_says_so() -> None:
    (row,) = table("Model | Top-1 (%)", "DeiT-S | 80.1 (+0.3)").rows
    assert row.numbers.left_out[0].endswith("the change +0.3 is in points, and a spec holds changes in percent of the "
                                            "baseline's number")  # fmt: skip


def test_a_column_without_a_heading_is_called_by_its_place() -> None:
    (row,) = table("Model | | Params (M)", "DeiT-S | large kernel | 22.1").rows
    assert row.model.reason == "column 2, which has no heading, says 'large kernel', which may change the model"


def test_a_longer_name_for_the_size_of_the_row_leaves_it_open() -> None:
    (row,) = table("Model | Size | FLOPs (G)", "MaxViT-T | 384^2 | 17.7").rows
    assert row.model.reason == "timm has a model for images of 384 under a longer name: maxvit_tiny_tf_384"
    assert recipes(table("Model | Size | FLOPs (G)", "MaxViT-T | 224^2 | 5.6")) == [
        "{torchvision: maxvit_t, image: 224}"
    ]
    (row,) = table("Model | Size | FLOPs (G)", "Swin-B | 384^2 | 47.1").rows
    assert row.model.candidates == ()  # torchvision's has the window of 224


def test_a_remark_is_compared_within_a_version_of_a_family() -> None:
    draft = table("Model | Params (M)", "PVTv1-Tiny | 13.2", "PVTv2-B1 (ours) | 14.0", "PVT v2-B2 (ours) | 25.4")
    assert recipes(draft) == [None, "{timm: pvt_v2_b1}", "{timm: pvt_v2_b2}"]


@pytest.mark.parametrize("words", ["without labeled data", "without extra data", "with additional data", "with labels"])
def test_a_heading_about_data_changes_no_model(words: str) -> None:
    assert recipes(table("Model | Params (M)", f"Pre-trained on ImageNet-1K ({words}) |", "Swin-T | 28")) == [
        "{timm: swin_tiny_patch4_window7_224}"
    ]
