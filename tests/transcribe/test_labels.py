"""Labels that name more than a model, less than one, or one of another library."""

from __future__ import annotations

import pytest

from imlp_audit.models.names.data_sets import text_class
from tests.transcribe.test_draft import recipes, table

ADDED = "the label names something that is added to a model"
LEFT_OUT = "the label names something that is left out of a model"


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("DeiT-S w/o BN", LEFT_OUT),
        ("DeiT-S without BN", LEFT_OUT),
        ("DeiT-S (w/o BN)", LEFT_OUT),
        ("DeiT-S, no BN", LEFT_OUT),
        ("DeiT-S w/ BN", ADDED),
        ("DeiT-S with BN", ADDED),
        ("DeiT-S + BN", ADDED),
    ],
)
def test_a_part_that_is_left_out_is_not_called_added(label: str, reason: str) -> None:
    (row,) = table("Model | Params (M)", f"{label} | 22.1").rows
    assert (row.model.recipe, row.model.reason) == (None, reason)


def test_what_is_left_out_is_left_out_of_the_row_above() -> None:
    lines = (
        "Swin-T | 28.3",
        "w/o shift | 28.2",
        "- w/o bias | 28.1",
        "without norms | 28.0",
        "no MLPs | 9",
        "+ SE | 29",
    )
    draft = table("Model | Params (M)", *lines)
    assert [row.baseline for row in draft.rows] == [None, *["swin_t"] * 5]
    assert [row.model.reason for row in draft.rows[1:]] == [*[LEFT_OUT] * 4, ADDED]


def test_a_row_has_no_baseline_where_two_rows_have_the_label_that_it_names() -> None:
    head = "Model | Size | Params (M)"
    lines = ("DeiT-S | 224 | 22.1", "DeiT-S | 224 | 23.0", "DeiT-S + SE | 224 | 22.4", "+ SE | 224 | 22.5")
    assert [row.baseline for row in table(head, *lines).rows] == [None, None, None, "deit_s_se"]
    lines = ("DeiT-S | 224 | 22.1", "DeiT-S | 384 | 22.2", "DeiT-S + SE | 224 | 22.4", "DeiT-S + SE | 384 | 22.5")
    assert [row.baseline for row in table(head, *lines).rows] == [None, None, "deit_s", "deit_s_384"]
    grouped = ("One | ", "DeiT-S | 224 | 22.1", "Two | ", "DeiT-S | 224 | 22.1", "DeiT-S + SE | 224 | 22.4")
    assert [row.baseline for row in table(head, *grouped).rows] == [None, None, "deit_s_2"]


def test_a_number_of_something_leaves_nothing_out() -> None:
    (row,) = table("Model | Params (M)", "No. 5 | 22.1").rows
    assert row.model.reason == "no name in timm or torchvision matches this label"


@pytest.mark.parametrize(
    ("heading", "changed"), [("No shifted windows", True), ("No pre-training", False), ("No extra data", False)]
)
def test_a_heading_between_rows_may_leave_something_out(heading: str, changed: bool) -> None:
    assert (recipes(table("Model | Params (M)", f"{heading} |", "Swin-T | 28")) == [None]) == changed


@pytest.mark.parametrize(
    ("label", "architecture"),
    [
        ("BERT", "BertModel"),
        ("BERT-Large", "BertModel"),
        ("GPT-2 medium", "GPT2Model"),
        ("RoBERTa_large", "RobertaModel"),
        ("XLM-R", "XLMRobertaModel"),
        ("DeBERTa-v3-small", "DebertaV2Model"),
        ("OPT-350M", "OPTModel"),
    ],
)
def test_a_label_of_a_text_model_names_its_class(label: str, architecture: str) -> None:
    (row,) = table("Model | Params (M)", f"{label} | 110").rows
    assert row.model.recipe is None
    assert row.model.more == f"the class is {architecture}"
    assert row.model.nearest == row.model.candidates == ()  # whose defaults are another size
    assert row.model.reason.endswith("give its sizes as `config`")


def test_a_text_model_is_proposed_where_the_label_has_the_size_of_its_class() -> None:
    (row,) = table("Model | Params (M)", "BERT-base | 110").rows
    assert row.model.recipe is None
    assert row.model.candidates == ("{transformers: {architecture: BertModel, tokens: 512}}",)


@pytest.mark.parametrize("label", ["BEiT-B", "OurBERT", "A-BERT", "Foo", "optimal", ""])
def test_another_label_is_no_text_model(label: str) -> None:
    assert text_class(label) is None


@pytest.mark.parametrize("headings", ["Backbone | Method", "Method | Scheme", "Network | Encoder"])
def test_a_column_of_ways_to_train_changes_no_model(headings: str) -> None:
    """As in ConvNeXt V2's Table 3, where one model is trained in two ways."""
    lines = ("ConvNeXt V2-A | Supervised | 3.7", "ConvNeXt V2-A | FCMAE | 3.7", "ResNet-50 | from scratch | 25.6")
    draft = table(f"{headings} | Params (M)", *lines)
    assert recipes(draft) == ["{timm: convnextv2_atto}", "{timm: convnextv2_atto}", "{timm: resnet50}"]
    second = headings.partition("|")[2].strip()
    assert [row.training for row in draft.rows] == [f"{second} Supervised", f"{second} FCMAE", None]
    assert recipes(table(f"{headings} | Params (M)", *lines, "DeiT-S | with a new block | 22.1")) == [None] * 4


@pytest.mark.parametrize(
    "heading", ["Method", "Backbone", "Network", "Arch.", "Encoder", "Algorithm", "Net", "Approach"]
)
def test_labels_may_stand_below_any_heading(heading: str) -> None:
    assert recipes(table(f"{heading} | Params (M)", "ResNet-50 | 25.6", "DeiT-S | 22.1")) == [
        "{timm: resnet50}", "{timm: deit_small_patch16_224}"
    ]  # fmt: skip


@pytest.mark.parametrize("bullet", "▼▽▲◀")
def test_a_triangle_before_a_label_is_no_part_of_it(bullet: str) -> None:
    (row,) = table("Model | Params (M)", f"{bullet} RSB-ResNet-18 | 12").rows
    assert (row.label.text, row.model.recipe) == ("RSB-ResNet-18", "{timm: resnet18}")


def test_a_model_that_is_only_like_the_papers_comes_last() -> None:
    (row,) = table("Model | Params (M)", "MobileNetV3 | 5.4").rows
    assert row.model.candidates[0] == "{timm: mobilenetv3_large_100}"
    assert row.model.reason == "the label does not say which of these it is"


def test_a_kind_that_is_set_over_too_few_rows_changes_no_model() -> None:
    """As where \\multirow counts one row less than there are."""
    sizes = ("Hybrid | EdgeNeXt-XS | 256 | 1", "Hybrid | EdgeNeXt-S | 256 | 1.3", " | EdgeNeXt-S | 320 | 2")
    draft = table("Kind | Model | Size | FLOPs (G)", *sizes)
    assert recipes(draft) == [
        "{timm: edgenext_x_small, image: 256}", "{timm: edgenext_small, image: 256}",
        "{timm: edgenext_small, image: 320}",
    ]  # fmt: skip
    added = ("Conv | DeiT-S | 22.1", " | DeiT-S | 22.1")
    assert recipes(table("Kind | Model | Params (M)", *added)) == [None, "{timm: deit_small_patch16_224}"]


def test_a_width_that_a_label_leaves_out_is_first_of_all_the_full_one() -> None:
    labels = ("MobileNetV3-Small", "MobileNet-V2", "MobileNet V3 Large")
    draft = table("Model | Params (M)", *(f"{label} | 2.5" for label in labels))
    timm = [next(one for one in row.model.candidates if "timm" in one) for row in draft.rows]
    assert recipes(draft) == [None] * 3
    assert timm == [
        "{timm: mobilenetv3_small_100}", "{timm: mobilenetv2_100}", "{timm: mobilenetv3_large_100}"
    ]  # fmt: skip


def test_an_efficientnet_is_proposed_for_the_images_of_its_paper_too() -> None:
    """Arxiv 1905.11946 has B2 for images of 260, as the weights of its authors."""
    first, other = table("Model | FLOPs (G)", "EfficientNet-B2 | 1.0", "EfficientNet-B3 | 1.8").rows
    assert first.model.candidates == (
        "{timm: efficientnet_b2, image: 256}", "{timm: tf_efficientnet_b2, image: 260}",
        "{torchvision: efficientnet_b2, image: 288}",
    )  # fmt: skip
    assert "256 in timm, 288 in torchvision and 260 as tf_efficientnet_b2" in first.model.reason
    assert other.model.candidates == (
        "{timm: efficientnet_b3, image: 288}", "{torchvision: efficientnet_b3, image: 300}"
    )  # fmt: skip


@pytest.mark.parametrize("flops", ["3.8", "3.9", "3.86", "3858M"])
def test_a_resnet_with_the_flops_of_its_first_form_is_proposed_in_both(flops: str) -> None:
    """ResNet-50 has 3 857 973 248 multiply-accumulates with strides in 1x1 convolutions, else 4 089 184 256."""
    (row,) = table("Model | FLOPs (G)", f"ResNet-50 | {flops}", caption="At 224^2").rows
    assert row.model.candidates == (
        "{timm: resnet50, image: 224, stride_in_1x1: true}", "{timm: resnet50, image: 224}"
    )  # fmt: skip
    assert row.model.reason.startswith("the printed FLOPs are those of its first form, with strides")


@pytest.mark.parametrize("line", ["ResNet-50 | 3.82", "ResNet-50 | 3.90", "ResNet-101 | 7.45", "SE-ResNet-50 | 3.87"])
def test_flops_that_are_only_near_those_of_the_first_form_are_not_called_them(line: str) -> None:
    """Of 3.858 G and, by fvcore, 3.879 G neither prints as 3.82 or 3.90, rounded or cut off."""
    (row,) = table("Model | FLOPs (G)", line, caption="At 224^2").rows
    assert row.model.recipe is None
    assert row.model.reason.startswith("the printed FLOPs are less than this model has, and may be those of its first")


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("ResNet-101 | 7.6", True),
        ("ResNet-152 | 11.3", True),
        ("ResNeXt-50 (32x4d) | 3.77", True),
        ("SE-ResNet-50 | 3.87", True),
        ("ResNet-50 | 4.1", False),
        ("ResNet-50 | 4.0", False),
        ("ResNet-50 | 2.0", False),
        ("ResNet-101 | 7.8", False),
        ("ResNet-152 | 11.5", False),
        ("ResNet-18 | 1.8", False),
        ("resnet50 | 3.8", False),
        ("ResNet-50↑256 | 3.8", False),
    ],
)
def test_other_flops_of_resnets_say_nothing_of_their_form(line: str, first: bool) -> None:
    assert (recipes(table("Model | FLOPs (G)", line)) == [None]) == first
    assert recipes(table("Model | FLOPs (G) @384", line)) != [None]


def test_models_of_older_code_are_candidates_of_their_families() -> None:
    exact, close = table("Model | Params (M)", "SE-ResNet-50 | 28", "SE-ResNeXt-50 | 27.6").rows
    assert (exact.model.recipe, exact.model.variants) == ("{timm: seresnet50}", ("legacy_seresnet50",))
    assert close.model.candidates == ("{timm: seresnext50_32x4d}", "{timm: legacy_seresnext50_32x4d}")


def test_a_mark_before_the_size_of_the_images_offers_the_variant_first() -> None:
    draft = table("Model | Params (M)", "DeiT-B↑384 | 86", "DeiT-B⋄↑384 | 87", "DeiT-B† ↑384 | 87")
    assert draft.rows[0].model.recipe == "{timm: deit_base_patch16_384}"
    for row, mark in zip(draft.rows[1:], "⋄†", strict=True):
        assert row.model.recipe is None
        assert row.model.reason == f"the mark {mark!r} may stand for a change of the model"
        assert row.model.candidates[0] == "{timm: deit_base_distilled_patch16_384}"
        assert mark in row.label.text
