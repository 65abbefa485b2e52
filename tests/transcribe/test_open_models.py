"""Rows whose label names a model, but not surely the one that the paper means: sizes of images, variants, kinds."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.draft import draft_table
from imlp_audit.transcribe.image_sizes import Given, OwnSize
from imlp_audit.transcribe.write import decisions_of

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
    assert "several FLOPs for 'ConvNeXt-B' (45.0, 15.4)" in draft.rows[0].model.reason


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


@pytest.mark.parametrize(
    ("label", "first"),
    [
        ("ResNet50 + SE", "{timm: seresnet50}"),
        ("ResNeXt50 (32x4d) w/ SE blocks", "{timm: seresnext50_32x4d}"),
        ("+ SE", "{timm: seresnet50}"),
        ("ResNet50 w/o SE", "{timm: resnet50}"),
        ("ResNet50 + SE + CBAM", "{timm: resnet50}"),
    ],
)
def test_the_model_with_se_comes_first_where_se_is_all_that_is_added(label: str, first: str) -> None:
    """As in Table 4 of arXiv 1807.06521."""
    row = table("Model | Params (M)", "ResNet50 | 25.56", f"{label} | 28.09").rows[-1]
    assert (row.model.recipe, row.model.nearest[0]) == (None, first)


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


def test_a_model_that_is_merged_for_inference_is_proposed_in_both_forms() -> None:
    first, second = table("Model | Params (M)", "RepVGG-A0 | 8.3", "repvgg_a1 | 14.1").rows
    assert first.model.candidates == ("{timm: repvgg_a0, form: deployed}", "{timm: repvgg_a0}")
    assert "the paper may count either form" in first.model.reason
    assert second.model.recipe == "{timm: repvgg_a1}"


def test_a_name_that_once_stood_for_another_model_is_proposed_as_both() -> None:
    """timm's first ViT-S/16 was 768 wide with 8 layers: 48.8 M in PVT's Table 2 (arXiv 2102.12122)."""
    draft = table("Model | Params (M)", "ViT-Small/16 | 48.8", caption="ImageNet at 224^2")
    assert draft.rows[0].model.recipe is None
    now, former = draft.rows[0].model.candidates
    assert now == "{timm: vit_small_patch16_224}"
    assert "{depth: 8, num_heads: 8, mlp_ratio: 3, qkv_bias: false}" in former


@pytest.mark.parametrize("given", [224, OwnSize.OWN])
def test_a_model_that_is_tested_on_larger_images_than_it_is_trained_on_needs_its_size(given: Given) -> None:
    """FLOPs of NFNet-F0 to F6 are printed at their test sizes (arXiv 2102.06171, Table 4)."""
    draft = draft_table(table("Model | FLOPs (B)", "NFNet-F0 | 12.38", "NFNet-F1 | 35.54").table, given=given)
    assert [row.model.candidates for row in draft.rows] == [
        ("{timm: nfnet_f0, image: 256}", "{timm: nfnet_f0, image: 192}"),
        ("{timm: nfnet_f1, image: 320}", "{timm: nfnet_f1, image: 224}"),
    ]
    assert draft.rows[1].model.reason.startswith("timm has this model trained on images of 224 and tested on 320")
    (row,) = table("Model | Size | FLOPs (B)", "NFNet-F1 | 320^2 | 35.54").rows
    assert row.model.recipe == "{timm: nfnet_f1, image: 320}"


@pytest.mark.parametrize(
    ("label", "recipe"),
    [
        ("Swin-B-384", "{timm: swin_base_patch4_window12_384}"),
        ("ViT-B/16-384", "{timm: vit_base_patch16_384}"),
        ("ConvNeXt-B 384", "{timm: convnext_base, image: 384}"),
        ("EfficientNetV2-M-480", "{timm: efficientnetv2_m, image: 480}"),
        ("Swin-B↑384", "{timm: swin_base_patch4_window12_384}"),
        ("RegNetX-320", "{timm: regnetx_320, image: 224}"),
        ("ResNet-152", "{timm: resnet152, image: 224}"),
        ("MobileNetV3-Large-100", "{timm: mobilenetv3_large_100, image: 224}"),  # a width of 100 %
    ],
)
def test_a_size_for_all_rows_does_not_overrule_the_label(label: str, recipe: str) -> None:
    draft = draft_table(table("Model | FLOPs (G)", f"{label} | 1.0").table, given=224)
    assert recipes(draft) == [recipe]
    assert draft.unsized == frozenset()


def test_a_model_that_cannot_be_built_for_the_images_is_not_proposed_for_them() -> None:
    crossvit, maxvit = table("Model | Size | FLOPs (G)", "CrossViT-15 | 384^2 | 21", "MaxViT-T | 384^2 | 17.7").rows
    assert (crossvit.model.recipe, crossvit.model.candidates) == (None, ("{timm: crossvit_15_240}",))
    assert crossvit.model.reason == "timm cannot build its crossvit_15_240 for images of 384"
    assert all("torchvision" not in one for one in maxvit.model.candidates)
    (dagger,) = table("Model | Size | FLOPs (G)", "CrossViT-15-X | 384^2 | 21").rows
    assert "image: 384" not in " ".join((*dagger.model.candidates, *dagger.model.nearest))
    assert maxvit.model.candidates[0] == "{timm: maxvit_tiny_tf_384}"


def test_a_hint_is_for_the_images_of_the_row() -> None:
    draft = draft_table(table("Model | FLOPs (G)", "Swin-Base-X | 15", "MaxViT-B-512 | 90").table, given=224)
    assert draft.rows[0].model.nearest[0] == "{timm: swin_base_patch4_window7_224}  # without 'X' of the label"
    assert draft.rows[1].model.candidates == ("{timm: maxvit_base_tf_512}",)


def test_one_doubt_does_not_hide_that_a_model_is_only_like_the_papers() -> None:
    (row,) = table("Model | Params (M)", "Ours + X |", "CoAtNet-0 | 25").rows
    assert "may stand for a change of the model; and timm says that its coatnet_0_224 is only like" in row.model.reason


@pytest.mark.parametrize("text", ["41.6ms", "1,200 img/s", "3.2 GB", "12 hours", "0.5 J", "300 GPU days"])
def test_what_was_measured_on_hardware_changes_no_model(text: str) -> None:
    draft = table("Model | Cost | Params (M)", f"DeiT-S | {text} | 22.1", f"DeiT-Ti | {text} | 5.7")
    assert all(recipes(draft))
    assert recipes(table("Model | Cost | Params (M)", "DeiT-S | 4 heads | 22.1")) == [None]


def test_a_column_without_any_text_is_not_said_to_sort_the_rows() -> None:
    draft = table("Model | Remark | Params (M)", "DeiT-S | | 22.1", "DeiT-Ti | - | 5.7")
    assert all(recipes(draft))
    assert not any("taken to say only" in one for one in decisions_of(draft))


def test_a_distilled_model_without_a_name_of_its_own_has_the_plain_one_as_a_hint() -> None:
    (row,) = table("Model | Size | Params (M)", "TinyViT-21M⚗ | 224^2 | 21").rows
    assert row.model.recipe is None
    assert row.model.nearest == ("{timm: tiny_vit_21m_224}  # without 'distilled' of the label",)


def test_of_a_marked_row_the_variant_comes_first_where_the_plain_model_has_its_own_row() -> None:
    plain, marked = table("Model | Params (M)", "DeiT-S | 22.1", "DeiT-S† | 22.4").rows
    assert plain.model.recipe == "{timm: deit_small_patch16_224}"
    assert marked.model.candidates == ("{timm: deit_small_distilled_patch16_224}", "{timm: deit_small_patch16_224}")


def test_a_column_that_describes_each_family_changes_no_model() -> None:
    draft = table(
        "Model | Token Mixer | Params (M)", "PoolFormer-S12 (Yu et al., 2022) | Pooling | 12",
        "PoolFormer-S24 | Pooling | 21",
        "Swin-T | Shifted window attention | 28", "DeiT-S | Attention | 22", "OurNet | Gating | 20",
    )  # fmt: skip
    assert [recipe is not None for recipe in recipes(draft)] == [True, True, True, True, False]
    assert "taken to describe the models, and to change none: the text under Token Mixer" in decisions_of(draft)


@pytest.mark.parametrize(
    "lines",
    [
        ("PoolFormer-S12 | Pooling", "PoolFormer-S12 | Identity", "Swin-T | Shifted windows"),  # an ablation
        ("PoolFormer-S12 [1] | pooling", "PoolFormer-S12 [2] | attention"),
        ("PoolFormer-S12 | Pooling", "PoolFormer-S24 | Identity", "Swin-T | Shifted windows"),
        ("PoolFormer-S12 | Fourier", "PoolFormer-S24 | Fourier"),  # nothing to compare with
        ("DeiT-S | SE", "Swin-T | CBAM"),
        ("DeiT-S | Squeeze-and-excitation", "Swin-T | Deformable attention"),
        ("DeiT-S | 3x3 conv", "Swin-T | 7x7 conv"),
        ("DeiT-S | with windows", "Swin-T | without windows"),
    ],
)
def test_a_column_that_may_change_the_models_of_the_table_leaves_them_open(lines: tuple[str, ...]) -> None:
    rows = [f"{line} | 12" for line in lines]
    assert not any(recipes(table("Model | Token Mixer | Params (M)", *rows)))
    assert not any(recipes(table("Model | Plugged in | Params (M)", *rows)))


@pytest.mark.parametrize(
    ("heading", "more"), [("Plugged in", ()), ("Token Mixer", ("Mine | Gating | 9", "Mine | Fourier | 9"))]
)
def test_a_column_of_parts_or_of_an_ablation_describes_no_models(heading: str, more: tuple[str, ...]) -> None:
    rows = ("PoolFormer-S12 | Averages | 12", "Swin-T | Shifted windows | 28", "DeiT-S | Softmax | 22")
    assert all(recipes(table("Model | Token Mixer | Params (M)", *rows)))
    assert not any(recipes(table(f"Model | {heading} | Params (M)", *rows, *more)))


def test_an_empty_cell_of_a_family_is_a_text_of_its_own() -> None:
    rows = ("PoolFormer-S12 | - | 12", "PoolFormer-S24 | Fourier | 21", "Swin-T | Shifted windows | 28")
    assert recipes(table("Model | Token Mixer | Params (M)", *rows)) == ["{timm: poolformer_s12}", None, None]


def test_of_a_column_that_describes_the_models_one_text_may_still_add_something() -> None:
    rows = ("PoolFormer-S12 | Pooling | 12", "Swin-T | Shifted windows | 28", "CAFormer-S18 | SepConv + Attention | 26")
    first, second, third = recipes(table("Model | Operator | Params (M)", *rows))
    assert (first is None, second is None, third is None) == (False, False, True)


def test_a_model_with_auxiliary_classifiers_is_proposed_without_them_and_with_them() -> None:
    lines = ("Model | Params (M)", "GoogLeNet | 6.6", "googlenet | 6.6", "Inception-v3 | 27.2", "Inception v1 | 6.6")
    first, second, third, fourth = table(*lines).rows
    without = "{torchvision: {architecture: googlenet, arguments: {aux_logits: false}}}"
    assert (
        first.model.candidates
        == second.model.candidates
        == fourth.model.candidates
        == (without, "{torchvision: googlenet}")
    )
    assert "auxiliary classifiers" in first.model.reason
    both = "{torchvision: inception_v3, image: 299}"
    assert third.model.candidates == ("{timm: inception_v3, image: 299}", both)
    assert recipes(table(*lines)) == [None] * 4


def test_a_name_that_two_papers_gave_to_models_leaves_the_row_open() -> None:
    """The iFormer of 20 M is Inception Transformer's; timm has the one for mobile devices, of 6.6 M."""
    rows = ("iFormer-S | 20", "iFormer-L | 87", "iFormer-M | 8.9", "DeiT-S | 22")
    first, second, third, fourth = table("Model | Params (M)", *rows).rows
    assert (first.model.recipe, second.model.recipe) == (None, None)
    assert first.model.candidates == ("{timm: iformer_s}",)
    assert "Inception Transformer (arXiv 2205.12956)" in first.model.reason
    assert None not in (third.model.recipe, fourth.model.recipe)
    assert recipes(table("Model | Params (M)", "iformer_s | 6.6")) == ["{timm: iformer_s}"]
