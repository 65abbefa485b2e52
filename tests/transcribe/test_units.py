"""Columns of counts and scores whose cells are not plain numbers: read with their power, or left out; no variants."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.headings import ColumnRole, guess_column
from imlp_audit.transcribe.units import find_unit
from imlp_audit.transcribe.write import decisions_of
from tests.transcribe.test_draft import recipes, table

_NETS = ["{timm: resnet50}", "{timm: resnet18}"]


@pytest.mark.parametrize(
    ("heading", "cells", "unit"),
    [
        ("FLOPs", ["4.1×10^9", "1.8×10^9"], "G"),
        ("FLOPs", ["4.1 x 10⁹", "1.8·10^9"], "G"),
        ("Params", ["2.56×10^7", "1.2×10^7"], "M"),
        ("Params", ["2.56×10^7", "1.2×10^6"], "M"),
        ("Params", ["2.5×10^3", "1.2×10^4"], "k"),
        ("# FLOPs", ["4.1×10^9", "1,800M"], "G"),
    ],
)
def test_a_count_with_a_power_of_ten_is_a_number(heading: str, cells: list[str], unit: str) -> None:
    draft = table(f"Model | {heading}", f"ResNet-50 | {cells[0]}", f"ResNet-18 | {cells[1]}", caption="At 224^2")
    assert [next(iter(row.numbers.printed.values())) for row in draft.rows] == cells
    assert [guess.unit for _, guess in draft.columns.numbers] == [unit]
    assert None not in recipes(draft)


@pytest.mark.parametrize(
    ("heading", "cell"),
    [
        ("GFLOPs × views", "33 × 30"),
        ("top-1 error ours±std [orig]", "[23.9]"),
        ("Params (M)", "25.6 [24.1]; 3"),
        ("Acc. (%)", "<76"),
    ],
)
def test_cells_of_a_count_or_a_score_that_are_no_numbers_are_left_out_in_one_line(heading: str, cell: str) -> None:
    draft = table(f"Model | {heading} | Params", f"ResNet-50 | {cell} | 25.6M", f"ResNet-18 | {cell} | 11.7M")
    assert recipes(draft) == _NETS
    doubt = f"{heading!r} is left out: its cells, such as {cell!r}, are no plain numbers"
    assert [one for one in decisions_of(draft) if heading in one] == [doubt]


@pytest.mark.parametrize(
    ("heading", "cell"),
    [
        ("Views", "33 × 30"),
        ("Width", "1x"),
        ("Params", "shared"),
        ("Params", "2 SE blocks"),
        ("FLOPs", "✓"),
        ("ImageNet", "21k classes"),
    ],
)
def test_other_texts_may_still_change_the_model(heading: str, cell: str) -> None:
    draft = table(f"Model | {heading} | Params (M)", f"ResNet-50 | {cell} | 25.6", f"ResNet-18 | {cell} | 11.7")
    assert recipes(draft) == [None, None]


def test_a_number_before_another_in_brackets_is_read() -> None:
    (row,) = table("Model | Params (M) | top-1 error ours±std [orig]", "ResNet-50 | 25.6 | 23.2±0.09 [23.9]").rows
    assert row.numbers.printed == {"params": "25.6", "top_1_error_ours_std_orig": "23.2±0.09"}
    assert row.numbers.left_out == ("top_1_error_ours_std_orig '23.2±0.09 [23.9]': without '[23.9]'",)
    assert row.model.recipe == "{timm: resnet50}"


def test_one_cell_that_is_no_number_does_not_lose_its_column() -> None:
    draft = table(
        "Model | FLOPs (G) | Params", "ResNet-50 | 33 × 30 | 25.6M", "ResNet-18 | 1.8 | 11.7M", caption="224^2"
    )
    assert [row.numbers.printed.get("flops") for row in draft.rows] == [None, "1.8"]
    assert draft.rows[0].numbers.left_out[0].startswith("flops '33 × 30': ")


def test_numbers_in_full_among_others_are_not_read_in_their_unit() -> None:
    lines = ("ResNet-50 | 25,557,032", "ResNet-101 | 4.45×10^7", "ResNet-152 | 60,192,808", "ResNet-18 | 11.69")
    draft = table("Model | Params", *lines)
    assert [guess.unit for _, guess in draft.columns.numbers] == [""]
    assert [row.numbers.printed["params"] for row in draft.rows] == ["25,557,032", "4.45×10^7", "60,192,808"]
    assert draft.skipped == ("line 4, ResNet-18: params '11.69': other cells are printed in full",)
    draft = table("Model | Params", "ResNet-50 | 25.6", "ResNet-101 | 44.5", "ResNet-18 | 11,689,512")
    assert draft.skipped == (
        "line 3, ResNet-18: params '11,689,512': it may be printed in full, and other cells are in M",
    )
    headed = table("Model | Params (M)", "ResNet-50 | 25.6", "ResNet-18 | 11,689,512")
    assert len(headed.rows) == 2  # as the heading says: `verify` finds it


def test_the_unit_of_a_heading_is_no_guess() -> None:
    assert find_unit("Params (10^6)", ["4.1×10^9"], "G").headed
    assert not find_unit("FLOPs", ["4.1×10^9"], "M").headed
    assert guess_column("FLOPs", ["4.1×10"], "").role is ColumnRole.UNKNOWN


@pytest.mark.parametrize(
    ("heading", "cells", "unit"),
    [
        ("FLOPs", ["4089", "1814"], "M"),
        ("FLOPs", ["15484", "19632"], "M"),
        ("FLOPs", ["4089", "0.6"], "G"),
        ("FLOPs", ["260", "745"], "G"),  # of detectors, or of small models in M
        ("Mult-Adds", ["569", "300"], "M"),
        ("Params", ["7000", "1300"], "M"),
        ("FLOPs", ["4089184256", "1814073344"], ""),
        ("FLOPs (G)", ["1661", "1778"], "G"),
    ],
)
def test_flops_without_a_unit_are_guessed_by_their_size(heading: str, cells: list[str], unit: str) -> None:
    guess = guess_column(heading, cells, "")
    assert guess.unit == unit
    assert all(f"{unit} is a guess" in doubt for doubt in guess.doubts)
    assert bool(guess.doubts) == (unit != "" and "(" not in heading)


@pytest.mark.parametrize(
    ("heading", "cell", "caption", "unit"),
    [
        ("TFLOPS", "8.9", "Achieved throughput on an A100.", None),
        ("TFLOPS", "8.9", "Models at 224x224. Peak rates on an A100.", None),
        ("TFLOPs", "8.9", "Results on ImageNet-1K", None),
        ("FLOPs (T)", "0.37", "Mask R-CNN on COCO", None),
        ("FLOPs", "8.9T", "Results on ImageNet-1K", None),
        ("TFLOPs", "0.37", "Models at 576x576", "T"),
        ("TFLOPs@576", "0.37", "Results on ImageNet-1K", "T"),
        ("FLOPs (T)", "0.37", "FLOPs at 800x1280", "T"),
        ("GFLOPS", "8.9", "Achieved throughput on an A100.", "G"),
        ("FLOPs", "8.9G", "Throughput on an A100.", "G"),
    ],
)
def test_a_column_in_t_is_one_of_flops_only_where_the_source_gives_their_images(
    heading: str, cell: str, caption: str, unit: str | None
) -> None:
    guess = guess_column(heading, [cell, cell], caption)
    doubt = f"{heading!r} is left out: nothing says that its numbers in T are of one image"
    assert guess.role is (ColumnRole.UNKNOWN if unit is None else ColumnRole.NUMBERS)
    assert guess.unit == (unit or "")
    assert any(one.startswith(doubt) for one in guess.doubts) is (unit is None)
