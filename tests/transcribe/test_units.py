"""Columns of counts and scores whose cells are not plain numbers: read with their power, or left out."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.columns import guess_column
from tests.transcribe.drafting import table


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
    assert draft.columns.guesses[1].note == f"no plain numbers, such as {cell!r}"
    assert "params" in draft.rows[0].numbers.printed


def test_a_number_before_another_in_brackets_is_read() -> None:
    (row,) = table("Model | Params (M) | top-1 error ours±std [orig]", "ResNet-50 | 25.6 | 23.2±0.09 [23.9]").rows
    assert row.numbers.printed == {"params": "25.6", "top_1_error_ours_std_orig": "23.2±0.09"}
    assert row.numbers.left_out == ("top_1_error_ours_std_orig '23.2±0.09 [23.9]': without '[23.9]'",)


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


@pytest.mark.parametrize(
    ("heading", "cells", "unit"),
    [
        ("FLOPs", ["4089", "1814"], "M"),
        ("FLOPs", ["15484", "19632"], "M"),
        ("FLOPs", ["4089", "0.6"], "G"),
        ("FLOPs", ["260", "745"], "G"),  # of detectors, or of small models in M
        ("Mult-Adds", ["569", "300"], "M"),
        ("MAdds", ["219", "15.5", "6.6"], "G"),
        ("Params", ["7000", "1300"], "M"),
        ("FLOPs", ["4089184256", "1814073344"], ""),
        ("FLOPs (G)", ["1661", "1778"], "G"),
    ],
)
def test_flops_without_a_unit_are_guessed_by_their_size(heading: str, cells: list[str], unit: str) -> None:
    guess = guess_column(heading, cells, "")
    assert (guess.unit, guess.note) == (
        unit,
        f"no unit is printed; {unit} is a guess" if unit and "(" not in heading else "",
    )
