"""What a table's columns and rows become, and above all which rows get no model."""

from __future__ import annotations

import pytest

from imlp_audit.models.names.known import Library
from imlp_audit.transcribe.cells import ReadCell, read_cell
from imlp_audit.transcribe.draft import Draft, draft_table
from imlp_audit.transcribe.grid import SourceRow, SpanningCell, make_table
from imlp_audit.transcribe.headings import ColumnRole, guess_column
from imlp_audit.transcribe.write import decisions_of


def table(*lines: str, caption: str = "Results on ImageNet-1k") -> Draft:
    """Read a table whose cells stand between bars."""
    rows = [SourceRow(n, tuple(SpanningCell(cell.strip()) for cell in line.split("|"))) for n, line in enumerate(lines)]
    return draft_table(make_table("1", caption, rows, "x.tex", 1))


def recipes(draft: Draft) -> list[str | None]:
    return [row.model.recipe for row in draft.rows]


@pytest.mark.parametrize(
    ("heading", "cells", "measure", "unit"),
    [
        ("Params (M)", ["5.0"], "parameters", "M"),
        ("#param.", ["28M"], "parameters", "M"),
        ("#Params", ["25,557,032"], "parameters", ""),
        ("Param. (×10^6)", ["5.0"], "parameters", "M"),
        ("Parameters [millions]", ["5.0"], "parameters", "M"),
        ("FLOPs (G)", ["1.1"], "flops", "G"),
        ("GFLOPs", ["1.1"], "flops", "G"),
        ("GMACs", ["1.1"], "flops", "G"),
        ("Mult-Adds", ["569M"], "flops", "M"),
        ("MFLOPs", ["300"], "flops", "M"),
        ("Top-1 Acc. (%)", ["72.2"], "score", "%"),
        ("Acc@1", ["72.2"], "score", "%"),
        ("AP^b", ["40.1"], "score", ""),
        ("Throughput (img/s)", ["940"], "throughput", "images/s"),
        ("GPU im/s", ["940"], "throughput", "images/s"),
        ("Inference speed (FPS)", ["940"], "throughput", "images/s"),
        ("#layers", ["12"], "setting", ""),
    ],
)
def test_a_heading_says_what_its_column_holds(heading: str, cells: list[str], measure: str, unit: str) -> None:
    guess = guess_column(heading, cells, "")
    assert (guess.role, guess.measure, guess.unit, guess.doubts) == (ColumnRole.NUMBERS, measure, unit, ())


@pytest.mark.parametrize(
    ("heading", "cells", "role"),
    [
        ("Model", ["DeiT-S"], ColumnRole.LABEL),
        ("model", ["model", "-"], ColumnRole.LINKS),
        ("Download", ["model | log", "model"], ColumnRole.LINKS),
        ("Input size", ["224^2", "384×384"], ColumnRole.SIZE),
        ("image size test", ["224", "384"], ColumnRole.SIZE),  # a heading over two
        ("Model size (MB)", ["22"], ColumnRole.UNKNOWN),
        ("Heads", ["3"], ColumnRole.UNKNOWN),
        ("Pretrain", ["ImageNet-22K"], ColumnRole.TRAINING),
        ("Δ", ["-12.6%", ""], ColumnRole.CHANGES),
        *(
            (heading, ["25.5", "0"], ColumnRole.UNKNOWN)
            for heading in ("Params (%)", "FLOPs ↓ (%)", "Params. ↓%", "MACs %", "Params (×)", "FLOPs (x)")
        ),
    ],
)
def test_a_column_of_another_kind_is_no_number(heading: str, cells: list[str], role: ColumnRole) -> None:
    assert guess_column(heading, cells, "").role is role


def test_powers_of_ten_are_no_ratios() -> None:
    assert [guess_column(f"FLOPs ({power})", ["4.1"], "").measure for power in ("×10⁹", "x10^9")] == ["flops"] * 2


def test_a_unit_that_nobody_printed_is_a_doubt() -> None:
    assert guess_column("Params", ["5.0"], "").doubts == ("no unit is printed for 'Params'; M is a guess",)


@pytest.mark.parametrize("heading", ["Latency (ms)", "CPU latency", "Inference time (s)", "Speed", "Throughput (ms)"])
def test_a_time_is_no_throughput_and_is_named(heading: str) -> None:
    guess = guess_column(heading, ["4.2"], "")
    assert guess.role is ColumnRole.UNKNOWN
    assert guess.doubts[0].startswith(f"{heading!r} is left out")


def test_numbers_that_were_rounded_and_printed_in_full_are_read_as_rounded() -> None:
    draft = table("Model | Parameters | FLOPs", "resnet18 | 11690000 | 1820000000", "resnet50 | 25560000 | 4100000000")
    assert [row.numbers.printed for row in draft.rows] == [
        {"params": "11.69", "flops": "1.82"},
        {"params": "25.56", "flops": "4.10"},
    ]
    draft = table("Model | Parameters", "resnet18 | 11689512", "resnet50 | 25560000")
    assert draft.rows[1].numbers.printed == {"params": "25560000"}


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("5.00", ReadCell("5.00")),
        ("5.00 (-12.6%)", ReadCell("5.00", change="-12.6%")),
        ("5.00 (↓12.6%)", ReadCell("5.00", change="-12.6%")),
        ("5.00*", ReadCell("5.00", mark="*")),
        ("5.00^¹", ReadCell("5.00", mark="¹")),  # as \tnote{1} is written
        ("5.00^2", ReadCell(None, left_out=("5.00^2",))),  # a power or a note
        ("18.4±n/a", ReadCell("18.4", left_out=("±n/a",))),
        ("4.1 GFLOPs", ReadCell("4.1", "G")),
        ("-", ReadCell(None)),
        ("５.７", ReadCell(None, left_out=("５.７",))),
        ("best", ReadCell(None, left_out=("best",))),
    ],
)
def test_a_cell_is_taken_apart(text: str, cell: ReadCell) -> None:
    assert read_cell(text, "M") == cell


def test_a_plus_minus_stays_in_a_score_and_is_left_out_of_a_count() -> None:
    (row,) = table("Model | Params (M) | Top-1", "DeiT-S | 22.1 ± 0.1 | 79.8 ± 0.1").rows
    assert row.numbers.printed == {"params": "22.1", "top1": "79.8 ± 0.1"}
    assert row.numbers.left_out == ("params '22.1 ± 0.1': without '± 0.1'",)


def test_a_row_has_a_model_where_its_label_is_the_name_of_one() -> None:
    draft = table("Model | Params (M)", "DeiT-S | 22.1", "ResNet-50 | 25.6", "ViT-B | 86", "OurNet | 5")
    assert recipes(draft) == ["{timm: deit_small_patch16_224}", "{timm: resnet50}", None, None]


def test_a_bullet_before_a_label_is_no_part_of_the_name() -> None:
    draft = table("Model | Params (M)", "∘ DeiT-S | 22.1", "• ResNet-50 | 25.6", "•Swin-T | 28.3", "• | 5")
    assert recipes(draft)[:3] == [
        "{timm: deit_small_patch16_224}",
        "{timm: resnet50}",
        "{timm: swin_tiny_patch4_window7_224}",
    ]
    assert [row.label.text for row in draft.rows][:3] == ["DeiT-S", "ResNet-50", "Swin-T"]


@pytest.mark.parametrize(
    ("lines", "caption"),
    [
        (("Model | Params (M)", "DeiT-S† | 22.1"), ""),  # the mark may be distillation
        (("Model | Params (M)", "DeiT-S + SE | 22.1"), ""),
        (("Model | Params (M)", "DeiT-S w/ SE | 22.1"), ""),
        (("Model | Block | Params (M)", "DeiT-S | SE | 22.1"), ""),
        (("Model | Params (M)", "ResNet-50 | 23.5"), "Results on CIFAR-100"),
        (("Backbone | AP | Params (M)", "ResNet-50 | 36.3 | 37.7"), "Object detection with RetinaNet on COCO"),
        (("Model | Params (M)", "DeiT-S | 22.1", "DeiT-S | 44.1"), ""),  # one of them is another model
    ],
)
def test_a_label_that_may_not_be_the_whole_model_gets_none(lines: tuple[str, ...], caption: str) -> None:
    draft = table(*lines, caption=caption)
    assert recipes(draft) == [None] * (len(lines) - 1)
    assert all(row.model.reason for row in draft.rows)


def test_another_table_that_prints_another_size_for_a_label_leaves_it_without_a_model() -> None:
    one = table("Model | Params (M)", "ConvNeXt-S | 50").table
    other = table("Model | Params (M)", "ConvNeXt-S | 22", caption="Isotropic").table
    assert recipes(draft_table(one)) == ["{timm: convnext_small}"]
    assert recipes(draft_table(one, [other])) == recipes(draft_table(other, [one])) == [None]


@pytest.mark.parametrize(
    ("heading", "changed"),
    [
        ("with our block", True),
        ("w/o attention", True),
        ("Without attention", True),
        ("Pruned models", True),
        ("Distilled", True),
        ("+ SE", True),
        ("8-bit", True),
        ("Ours", True),
        ("Convolutional networks", False),
        ("ImageNet-22K pre-trained models", False),
        ("Trained with ImageNet-1K alone", False),
        ("Trained without extra data", False),
    ],
)
def test_a_heading_between_rows_that_may_change_their_models_leaves_them_without_one(
    heading: str, changed: bool
) -> None:
    first, second = table("Model | Params (M)", "DeiT-S | 22.1", f"{heading} |", "Swin-T | 28").rows
    assert first.model.recipe == "{timm: deit_small_patch16_224}"
    assert (second.model.recipe is None) == changed
    if changed:
        assert second.model.reason == f"the heading {heading!r} above the row may stand for a change of the model"


def test_a_column_of_another_model_than_the_labels_is_left_out() -> None:
    head = (
        "Model | Params (M) | Params w/ SE (M) | FLOPs (G) Original | FLOPs (G)_ours | Backbone params (M) | +SE Top-1"
    )
    draft = table(head, "DeiT-S | 22.1 | 23 | 4.6 | 4.1 | 21.7 | 80", "DeiT-Ti | 86.6 | 90 | 17.6 | 15.1 | 85.8 | 82")
    assert list(draft.columns.slugs.values()) == ["params", "flops", "top1"]
    assert [guess.heading for guess in draft.columns.guesses if guess.doubts] == [
        "Params w/ SE (M)", "FLOPs (G)_ours", "Backbone params (M)"
    ]  # fmt: skip


def test_sizes_of_images_come_from_the_column_the_label_the_heading_between_rows_or_the_caption() -> None:
    lines = ("Model | Size | FLOPs (G)", "Swin-B | 384^2 | 47.1", "ResNet-50 | 224x224 | 4.1")
    assert recipes(table(*lines)) == ["{timm: swin_base_patch4_window12_384}", "{timm: resnet50, image: 224}"]
    assert recipes(table("Model | FLOPs (G)", "DeiT-B↑384 | 55.5")) == ["{timm: deit_base_patch16_384}"]
    assert recipes(table("Model | FLOPs (G)", "At 384×384 |", "Swin-B | 47.1")) == [
        "{timm: swin_base_patch4_window12_384}"
    ]
    assert recipes(table("Model | FLOPs (G)", "ResNet-50 | 4.1", caption="ImageNet at 224^2")) == [
        "{timm: resnet50, image: 224}"
    ]


@pytest.mark.parametrize(
    ("label", "size"), [("ResNet-50 (256)", 256), ("ResNet-50 (299)", 299), ("ResNet-50 @300", 300)]
)
def test_a_label_gives_the_size_of_images(label: str, size: int) -> None:
    assert recipes(table("Model | Params (M)", f"{label} | 25.6")) == [f"{{timm: resnet50, image: {size}}}"]


@pytest.mark.parametrize("label", ["ResNet-50 (2016)", "ResNet-50 (300)", "ResNet-50 (800)", "ResNet-50 (1000)"])
def test_a_number_that_may_be_a_year_or_epochs_is_no_size_of_images(label: str) -> None:
    assert recipes(table("Model | Params (M)", f"{label} | 25.6")) == [None]


def test_models_are_counted_on_the_images_of_testing() -> None:
    head = "Model | Train size | Test size | Params (M) | FLOPs (G)"
    assert recipes(table(head, "NFNet-F0 | 192 | 256 | 71.5 | 12.38")) == ["{timm: nfnet_f0, image: 256}"]


def test_two_rows_of_one_model_say_how_they_were_trained_or_the_second_has_none() -> None:
    head = "Model | Epochs | Params (M) | Top-1"
    draft = table(head, "DeiT-S | 300 | 22.1 | 79.8", "DeiT-S | 1000 | 22.1 | 81.0")
    assert [row.training for row in draft.rows] == ["Epochs 300", "Epochs 1000"]
    draft = table("Model | Params (M) | Top-1", "DeiT-S | 22.1 | 79.8", "DeiT-S | 22.1 | 81.0")
    assert recipes(draft) == ["{timm: deit_small_patch16_224}", None]


def test_baselines_are_the_rows_that_labels_name() -> None:
    lines = ("DeiT-S | 22.1", "DeiT-S + SE | 22.4", "Swin-T | 28", "+ SE | 29", "+ CBAM | 30", "Mine + SE | 5")
    draft = table("Model | Params (M)", *lines)
    assert [row.baseline for row in draft.rows] == [None, "deit_s", None, "swin_t", "swin_t", None]
    assert [row.id for row in draft.rows][3] == "swin_t_se"


def test_the_name_of_a_configuration_says_the_model_its_training_and_the_size_of_the_images() -> None:
    lines = (
        "resnet50_8xb32_in1k | 25.56", "resnet50_8xb256-rsb-a1-600e_in1k | 25.56", "regnetx-4.0gf_8xb64_in1k | 22.12",
        "deit-base_224px-pre_3rdparty_in1k-384px | 86.86", "convnext-base_3rdparty_in21k | 88.59",
    )  # fmt: skip
    draft = table("Model | Params (M)", *lines)
    assert [row.training for row in draft.rows] == ["8xb32", "8xb256-rsb-a1-600e", None, None, None]
    assert recipes(draft) == [
        "{timm: resnet50}", "{timm: resnet50}", "{timm: regnetx_040}", "{timm: deit_base_patch16_384}",
        None,  # its head has other classes
    ]  # fmt: skip


def test_of_two_libraries_the_preferred_one_is_taken() -> None:
    one = table("Model | Params (M)", "ResNet-50 | 25.6", "Swin-T | 28", "DeiT-S | 22").table
    assert recipes(draft_table(one, prefer=Library.TORCHVISION)) == [
        "{torchvision: resnet50}", "{torchvision: swin_t}", "{timm: deit_small_patch16_224}"
    ]  # fmt: skip


def test_a_model_of_torchvision_is_counted_at_the_size_that_it_was_published_for() -> None:
    one = table(
        "Model | Params (M) | FLOPs (G)", "EfficientNet-B3 | 12.2 | 1.83", "EfficientNetV2-S | 21.5 | 8.37"
    ).table
    assert recipes(draft_table(one, prefer=Library.TORCHVISION)) == [
        "{torchvision: efficientnet_b3, image: 300}", "{torchvision: efficientnet_v2_s, image: 384}"
    ]  # fmt: skip


def test_a_table_with_flops_and_without_sizes_leaves_the_choice_where_the_libraries_have_several() -> None:
    lines = ("EfficientNet-B3 | 12.2 | 1.8", "CaiT-XS24 | 26.6 | 5.4", "cait_xs24_384 | 26.7 | 19.3")
    first, second, third = table("Model | Params (M) | FLOPs (G)", *lines).rows
    assert first.model.recipe == "{timm: efficientnet_b3, image: 288}"  # its parameters are those of all sizes
    assert first.model.candidates == ("{torchvision: efficientnet_b3, image: 300}",)
    assert (first.numbers.printed, first.numbers.waiting) == ({"params": "12.2"}, {"flops": "1.8"})
    assert second.model.recipe is None
    assert second.model.candidates == ("{timm: cait_xs24_384, image: 224}", "{timm: cait_xs24_384}")
    assert third.model.recipe == "{timm: cait_xs24_384}"  # the label gives the size
    assert recipes(table("Model | Params (M)", "EfficientNet-B3 | 12.2")) == ["{timm: efficientnet_b3, image: 288}"]
    (row,) = table("Model | Params (M) | FLOPs (G)", "NFNet-F0 | 71.5 | 12.38").rows  # on 256; timm trained on 192
    assert (row.model.recipe, *row.model.candidates) == ("{timm: nfnet_f0, image: 256}", "{timm: nfnet_f0, image: 192}")
    assert (row.numbers.printed, row.numbers.waiting) == ({"params": "71.5"}, {"flops": "12.38"})


def test_a_label_without_its_width_is_no_model() -> None:
    one = table("Model | Params (M)", "MobileNetV2 | 6.9", "MobileNet-V3-Large | 5.4", "mobilenet_v2 | 3.5").table
    assert recipes(draft_table(one)) == [None, None, "{torchvision: mobilenet_v2}"]
    reason = draft_table(one).rows[0].model.reason
    assert reason == "the label gives no width, and timm has this model in several"
    assert recipes(draft_table(one, prefer=Library.TORCHVISION))[:2] == [
        "{torchvision: mobilenet_v2}", "{torchvision: mobilenet_v3_large}"
    ]  # fmt: skip


def test_a_label_and_a_table_that_give_two_sizes_leave_the_row_without_a_model() -> None:
    head = "Model | Size | FLOPs (G)"
    draft = table(head, "Swin-B-384 | 384^2 | 47.1", "Swin-B-384 | 224^2 | 15.4", "ViT-B/16 | 384^2 | 55.5")
    assert recipes(draft) == ["{timm: swin_base_patch4_window12_384}", None, "{timm: vit_base_patch16_384}"]
    assert draft.rows[1].model.reason == "the label gives images of 384, and the table of 224"
    assert recipes(table(head, "LeViT-256 | 256^2 | 1.5")) == ["{timm: levit_256, image: 256}"]  # a width


@pytest.mark.parametrize(
    ("labels", "matched"),
    [
        (("ResNet-50", "Swin-T (ours)"), [True, True]),
        (("Swin-T (Ours)", "Swin-B↑384 (this work)"), [True, True]),
        (("DeiT-S", "DeiT-S (ours)", "DeiT-B (ours)"), [True, False, False]),
        (("Swin-T (ours)*",), [False]),
        (("Swin-T* (ours)",), [False]),
        (("Swin-T + SE (ours)",), [False]),
        (("Swin-T (large)",), [False]),
        (("(ours)",), [False]),
    ],
)
def test_a_remark_of_the_authors_changes_no_model_where_all_rows_of_the_family_have_it(
    labels: tuple[str, ...], matched: list[bool]
) -> None:
    draft = table("Model | Params (M)", *(f"{label} | 28" for label in labels))
    assert [recipe is not None for recipe in recipes(draft)] == matched


def test_a_remark_that_is_taken_to_change_no_model_is_to_be_confirmed() -> None:
    draft = table("Model | Params (M)", "Swin-T (ours) | 28")
    assert decisions_of(draft) == ["taken to change no model: the remark (ours) behind labels"]


@pytest.mark.parametrize(("label", "mark"), [("DeiT-S^¹", "¹"), ("DeiT-S^1", "¹"), ("DeiT-S^¹,²", "¹,²"),
                                             ("DeiT-S^a", "^a"), ("DeiT-S⋄", "⋄")])  # fmt: skip
def test_a_mark_of_a_footnote_leaves_the_row_without_a_model(label: str, mark: str) -> None:
    (row,) = table("Model | Params (M)", f"{label} | 22.1").rows
    assert (row.label.text, row.label.mark) == ("DeiT-S", mark)
    assert row.model.reason == f"the mark {mark!r} may stand for a change of the model"
    assert row.model.candidates == ("{timm: deit_small_patch16_224}", "{timm: deit_small_distilled_patch16_224}")


CNN_AND_DEIT = ("CNN | ResNet-50 | 25.6", "CNN | ResNet-101 | 44.5", "Transformer | DeiT-S | 22.1",
                "Transformer | DeiT-Ti | 5.7")  # fmt: skip


@pytest.mark.parametrize("heading", ["Type", "Family", "Backbone", "Arch.", "General Arch.", "", "Block"])
def test_the_labels_are_the_column_with_the_names_of_models(heading: str) -> None:
    draft = table(f"{heading} | Outcome Model | Params (M)", *CNN_AND_DEIT)
    assert draft.columns.label == 1
    assert recipes(draft) == [
        "{timm: resnet50}", "{timm: resnet101}", "{timm: deit_small_patch16_224}", "{timm: deit_tiny_patch16_224}"
    ]  # fmt: skip


def test_without_names_of_models_the_labels_are_the_column_with_most_texts() -> None:
    lines = ("CNN | A-1 | 1", "CNN | A-2 | 2", "CNN | A-3 | 3", "MLP | B-1 | 4", "MLP | B-2 | 5")
    assert table("Backbone | Outcome | Params (M)", *lines).columns.label == 1
    assert table("Model | Notes | Params (M)", "A | fast | 1", "A | slow | 2", "B | big | 3").columns.label == 0


@pytest.mark.parametrize(
    "lines",
    [
        ("Model | Mixer | FLOPs (G)", "DeiT-S | attention | 4.6", "DeiT-S | pooling | 4"),  # one label, two kinds
        ("Model | Depth | Params (M)", "DeiT-S | 12+0 | 22.1", "DeiT-S | 24+0 | 43"),
        ("Model | SE | Params (M)", "DeiT-S | ✓ | 22.1"),
        (" | Model | Params (M)", "Isotropic | ConvNeXt-S | 22.3", "Isotropic | ConvNeXt-B | 87.3"),
        (" | Model | Params (M)", "Ours | DeiT-S | 22.1", "Ours | DeiT-B | 86"),
    ],
)
def test_a_column_that_may_change_the_model_leaves_the_rows_without_one(lines: tuple[str, ...]) -> None:
    assert not any(recipes(table(*lines)))


def test_a_column_of_depths_and_one_that_sorts_the_rows_change_no_model() -> None:
    draft = table(" | Model | depth | Params (M)", "A | DeiT-S | 12+0 | 22.1", "A | DeiT-Ti | 12+0 | 5.7")
    assert all(recipes(draft))


def test_a_column_of_ratios_is_no_text_that_changes_the_model() -> None:
    draft = table("Model|Params|Ratio-to-Ours", "ResNet-50|26M|4.9x", "ResNet-152|60M|7.6x")
    assert recipes(draft) == ["{timm: resnet50}", "{timm: resnet152}"]
    assert "columns that were not understood: Ratio-to-Ours" in decisions_of(draft)
    assert recipes(table("Model|Params|Width", "ResNet-50|26M|1x", "ResNet-101|60M|2x")) == [None, None]


def test_a_column_of_several_numbers_in_each_cell_changes_no_model() -> None:
    head = "Model | Params (M) | Top-1 / Top-5 | Params/FLOPs"
    draft = table(head, "DeiT-S | 22.1 | 79.8 / 95.0 | 22.1M/4.6G", "DeiT-Ti | 6 | 81.8/95.6% | - ")
    assert all(recipes(draft))
    assert "'Top-1 / Top-5' is left out: its cells hold several numbers; give each a column" in decisions_of(draft)
    assert recipes(table("Model | Params (M) | Widths", "DeiT-S | 22.1 | 0.5/1.5", "DeiT-B | 86 | 1.5/2.5")) == [
        None,
        None,
    ]


def test_multiply_additions_of_mobile_models_are_millions() -> None:
    assert guess_column("MAdds", ["219", "155", "66"], "").unit == "M"
    assert guess_column("MAdds", ["219", "15.5", "6.6"], "").unit == "G"


def test_headings_give_the_size_of_images_and_the_family_of_the_models() -> None:
    draft = table("CaiT model | Params (M) | FLOPs (G) @224 | FLOPs (G) ↑384", "xxs-24 | 12.0 | 2.5 | 9.6",
                  "s-36 | 68.2 | 13.9 | 48.0", "s-48 | 89.5 | 18.6 | 63.8")  # fmt: skip
    assert list(draft.columns.sizes.values()) == [224, 384]
    assert recipes(draft) == ["{timm: cait_xxs24_224}", "{timm: cait_s36_384, image: 224}", None]
    assert draft.rows[2].model.nearest[0] == "{timm: cait_s24_224}  # without '48' of the label"
    assert table("Model | FLOPs (384^2)", "DeiT-B | 55.5").columns.sizes == {"flops": 384}
    assert table("Model | Params (1000)", "DeiT-B | 86").columns.sizes == {}


def test_a_family_in_the_caption_is_only_a_hint() -> None:
    (row,) = table("Model | Params (M)", "S24 | 46.9", caption="Our models after CaiT").rows
    assert row.model.recipe is None
    assert row.model.candidates == ("{timm: cait_s24_224}",)


def test_the_size_of_a_row_stands_in_its_hints() -> None:
    (row,) = table("Model | Size | Params (M) | FLOPs (G)", "gMLP-S | 384^2 | 20 | 13").rows
    assert row.model.candidates == ("{timm: gmlp_s16_224, image: 384}",)
    (row,) = table("Model | Size | Params (M) | Block", "RegNetY-8G | 384^2 | 39 | SE").rows
    assert row.model.candidates[0] == "{timm: regnety_080, image: 384}"


def test_a_table_without_any_model_says_so_first_with_the_next_step() -> None:
    first, *rest = decisions_of(table("Model | Params (M) | FLOPs (G)", "OurNet-S | 5 | 1.1", "OurNet-B | 9 | 2.1"))
    assert "no row has a model" in first
    assert "model:" in first
    assert any("the table gives no size of images" in one for one in rest)
    assert "no row has a model" not in decisions_of(table("Model | Params (M)", "DeiT-S | 22.1", "OurNet | 9"))[0]


@pytest.mark.parametrize(
    ("caption", "changed"),
    [
        ("On ImageNet-1K. * denotes results of ViT trained with extra regularization from [3].", False),
        ("On ImageNet-1K. ^* denotes models trained for 1000 epochs", False),
        ("On ImageNet-1K. * denotes models trained for 1000 epochs with distillation", True),
        ("On ImageNet-1K. * denotes models trained for 30 epochs at a resolution of 384^2", True),
        ("On ImageNet-1K. * denotes our block", True),
        ("On ImageNet-1K. * denotes our block; * denotes models trained for 1000 epochs", True),
        ("On ImageNet-1K. † denotes results of ViT trained with extra regularization", True),
        ("On ImageNet-1K", True),
    ],
)
def test_a_mark_that_the_caption_explains_by_the_training_changes_no_model(caption: str, changed: bool) -> None:
    draft = table("Model | Params (M)", "DeiT-S* | 22.1", caption=caption)
    assert recipes(draft) == [None if changed else "{timm: deit_small_patch16_224}"]


def test_ids_of_one_label_differ_by_the_size_of_the_images_or_else_by_a_number() -> None:
    rows = [f"Swin-B | {size}^2 | 88" for size in (224, 384, 224, 384, 384)]
    ids = [row.id for row in table("Model | Size | Params (M)", *rows).rows]
    assert ids == ["swin_b", "swin_b_384", "swin_b_2", "swin_b_384_2", "swin_b_384_3"]
    ids = [row.id for row in table("Model | Params (M)", "Swin-B | 88", "Swin-B | 88", "Swin-B | 8").rows]
    assert ids == ["swin_b", "swin_b_2", "swin_b_3"]
