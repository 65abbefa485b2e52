"""What a table's columns, cells and rows become."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.cells import ReadCell, read_cell
from imlp_audit.transcribe.columns import ColumnRole, guess_column
from tests.transcribe.drafting import table


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
    ],
)
def test_a_heading_says_what_its_column_holds(heading: str, cells: list[str], measure: str, unit: str) -> None:
    guess = guess_column(heading, cells, "")
    assert (guess.role, guess.measure, guess.unit, guess.note) == (ColumnRole.NUMBERS, measure, unit, "")


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
        ("Δ", ["-12.6%", ""], ColumnRole.UNKNOWN),
        ("ΔFLOPs", ["-12.6%", ""], ColumnRole.UNKNOWN),
        *(
            (heading, ["25.5", "0"], ColumnRole.UNKNOWN)
            for heading in ("Params (%)", "FLOPs ↓ (%)", "Params. ↓%", "MACs %", "Params (×)", "FLOPs (x)")
        ),
    ],
)
def test_a_column_of_another_kind_is_no_number(heading: str, cells: list[str], role: ColumnRole) -> None:
    assert guess_column(heading, cells, "").role is role


def test_a_heading_with_words_before_another_is_of_a_part() -> None:
    draft = table("model | mparams | image_mparams | FLOPs | Train FLOPs", "ViT-B-32 | 151.28 | 87.85 | 14.8 | 9.0")
    assert draft.rows[0].numbers.printed == {"params": "151.28", "flops": "14.8"}
    assert draft.columns.guesses[2].note == "of a part of the model, or counted otherwise than 'mparams'"


def test_powers_of_ten_are_no_ratios() -> None:
    assert [guess_column(f"FLOPs ({power})", ["4.1"], "").measure for power in ("×10⁹", "x10^9")] == ["flops"] * 2


def test_a_unit_that_nobody_printed_is_noted() -> None:
    assert guess_column("Params", ["5.0"], "").note == "no unit is printed; M is a guess"


@pytest.mark.parametrize("heading", ["Latency (ms)", "CPU latency", "Inference time (s)", "Speed", "Throughput (ms)"])
def test_a_time_is_no_throughput(heading: str) -> None:
    guess = guess_column(heading, ["4.2"], "")
    assert (guess.role, guess.note) == (ColumnRole.UNKNOWN, "a spec holds images per second, and no times")


def test_numbers_that_are_printed_in_full_stay_as_they_are() -> None:
    draft = table("Model | Parameters | FLOPs", "resnet18 | 11690000 | 1820000000", "resnet50 | 25560000 | 4100000000")
    assert [row.numbers.printed for row in draft.rows] == [
        {"params": "11690000", "flops": "1820000000"},
        {"params": "25560000", "flops": "4100000000"},
    ]


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


def test_baselines_are_the_rows_that_labels_name() -> None:
    lines = ("DeiT-S | 22.1", "DeiT-S + SE | 22.4", "Swin-T | 28", "+ SE | 29", "+ CBAM | 30", "Mine + SE | 5")
    draft = table("Model | Params (M)", *lines)
    assert [row.baseline for row in draft.rows] == [None, "deit_s", None, "swin_t", "swin_t", None]
    assert [row.id for row in draft.rows][3] == "swin_t_se"


@pytest.mark.parametrize("heading", ["Type", "Backbone", "General Arch.", "", "Block"])
def test_the_labels_are_the_column_with_the_names_of_models(heading: str) -> None:
    lines = ("CNN | ResNet-50 | 25.6", "CNN | ResNet-101 | 44.5", "Transformer | DeiT-S | 22.1")
    assert table(f"{heading} | Outcome Model | Params (M)", *lines).columns.label == 1


def test_without_names_of_models_the_labels_are_the_column_with_most_texts() -> None:
    lines = ("CNN | A-1 | 1", "CNN | A-2 | 2", "CNN | A-3 | 3", "MLP | B-1 | 4", "MLP | B-2 | 5")
    assert table("Backbone | Outcome | Params (M)", *lines).columns.label == 1
    assert table("Model | Notes | Params (M)", "A | fast | 1", "A | slow | 2", "B | big | 3").columns.label == 0


def test_ids_of_one_label_differ_by_the_size_of_the_images_or_else_by_a_number() -> None:
    rows = [f"Swin-B | {size}^2 | 88" for size in (224, 384, 224, 384, 384)]
    ids = [row.id for row in table("Model | Size | Params (M)", *rows).rows]
    assert ids == ["swin_b", "swin_b_384", "swin_b_2", "swin_b_384_2", "swin_b_384_3"]
    ids = [row.id for row in table("Model | Params (M)", "Swin-B | 88", "Swin-B | 88", "Swin-B | 8").rows]
    assert ids == ["swin_b", "swin_b_2", "swin_b_3"]


def test_a_row_has_no_baseline_where_two_rows_have_the_label_that_it_names() -> None:
    head = "Model | Size | Params (M)"
    lines = ("DeiT-S | 224 | 22.1", "DeiT-S | 224 | 23.0", "DeiT-S + SE | 224 | 22.4", "+ SE | 224 | 22.5")
    assert [row.baseline for row in table(head, *lines).rows] == [None, None, None, "deit_s_se"]
    lines = ("DeiT-S | 224 | 22.1", "DeiT-S | 384 | 22.2", "DeiT-S + SE | 224 | 22.4", "DeiT-S + SE | 384 | 22.5")
    assert [row.baseline for row in table(head, *lines).rows] == [None, None, "deit_s", "deit_s_384"]
    grouped = ("One | ", "DeiT-S | 224 | 22.1", "Two | ", "DeiT-S | 224 | 22.1", "DeiT-S + SE | 224 | 22.4")
    assert [row.baseline for row in table(head, *grouped).rows] == [None, None, "deit_s_2"]


def test_rows_with_scores_say_all_else_that_is_printed_of_them() -> None:
    """Whatever the heading: rows of one model disagree only where nothing that is printed tells them apart."""
    head = "Model | Method | Seed | Params (M) | Score on it | Top-1"
    lines = ("DeiT-S | MoCo | 0 | 22.1 | x 4.5 | 79.8", "DeiT-S | DINO | 0 | 22.1 | x 4.7 | 81.0")
    rows = table(head, *lines, "DeiT-S | DINO | 0 | 22.1 | x 4.9 | 81.1", "DeiT-Ti +x | | 1 | 5.7 | - | 72").rows
    assert [row.training for row in rows] == [
        "Method MoCo; Seed 0; Score on it x 4.5",
        "Method DINO; Seed 0; Score on it x 4.7",
        "Method DINO; Seed 0; Score on it x 4.9",
        "DeiT-Ti +x; Seed 1",
    ]
    same = table("Model | Params (M) | Top-1", "DeiT-S | 22.1 | 79.8", "DeiT-S | 22.1 | 79.9").rows
    assert [row.training for row in same] == [None, "row 2 of this label"]
    assert {row.training for row in table("Model | Method | Params (M)", "DeiT-S | MoCo | 22.1").rows} == {None}


@pytest.mark.parametrize(
    ("heading", "is_top"),
    [("ImageNet top-1 (%)", True), ("IN-1k Acc@1", True), ("ImageNet k-NN", False), ("ImageNet linear (%)", False)],
)
def test_only_plain_accuracies_are_top_1(heading: str, is_top: bool) -> None:
    (fields,) = (dict(guess.fields) for _, guess in table(f"Model | {heading}", "DeiT-S | 79.8").columns.numbers)
    assert ("metric" in fields) == is_top


_HEAD = "Model | Method | Params (M) | Top-1"


def test_a_blank_label_is_the_one_above_with_what_tells_it_apart() -> None:
    rows = table(
        _HEAD, "ResNet-50 | Baseline | 25.6 | 76.1", " | Taylor | 14.2 | 74.5", " | Ours | 12.8 | 75.4",
        "ResNet-101 | Baseline | 44.5 | 77.4", " | Ours | 22.2 | 76.9",
    ).rows  # fmt: skip
    assert [row.id for row in rows] == [
        "resnet_50", "resnet_50_taylor", "resnet_50_ours", "resnet_101", "resnet_101_ours"
    ]  # fmt: skip
    assert [row.proposal.named for row in rows] == [True, False, False, True, False]
    assert {row.baseline for row in rows} == {None}


@pytest.mark.parametrize(
    "lines",
    [
        ("ResNet-50 | Baseline | 25.6 | 76.1", "On CIFAR-10 |", " | Taylor | 14.2 | 74.5", " | Ours | 12.8 | 75.4"),
        ("ResNet-50 | | 25.6 | 76.1", " | | 14.2 | 74.5", " | | 12.8 | 75.4"),  # nothing tells the rows apart
    ],
)
def test_a_label_and_a_baseline_are_never_made_up(lines: tuple[str, ...]) -> None:
    rows = table(_HEAD, *lines).rows
    assert [row.label.text for row in rows[-2:]] == ["", ""]
    assert {row.baseline for row in rows} == {None}


def test_a_change_without_a_percent_sign_says_how_to_add_it() -> None:
    rows = table("Model | Params (M)", "ResNet-50 | 25.6", "+ X | 6.7 (-73)").rows
    assert rows[1].numbers.changes == {}
    assert "the change -73 is not in percent (if it is, add `delta: {...: -73%}`)" in rows[1].numbers.left_out[0]


@pytest.mark.parametrize(("change", "kind"), [("+0.3", "in points"), ("+0.3%", "in points or not")])
def test_a_change_of_a_score_is_left_to_a_person(change: str, kind: str) -> None:
    """An accuracy of 80.0 that grows by 0.3 points grows by 0.375 %, and both are printed as +0.3%."""
    (_, row) = table("Model | Top-1 (%)", "DeiT-S | 80.0", f"+ X | 80.3 ({change})").rows
    assert row.numbers.changes == {}
    assert f"the change {change} is {kind}, and a spec holds changes in percent" in row.numbers.left_out[0]
