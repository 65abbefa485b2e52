"""Integers that are printed with a zero behind them differ, with a hint where a row or a column of them fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Spec, checked

COUNTS = {
    "m": Count(20_650_000, macs=4_030_000_000),
    "n": Count(25_450_000, macs=7_640_000_000),
    "o": Count(31_300_000, macs=9_020_000_000),
    "p": Count(27_010_000, macs=7_640_000_000),
}
ROW = "20 650 000 would be printed as 21: the 2 numbers of the row that end in .0 all fit as integers, "
COLUMN = "20 650 000 would be printed as 21: the {} numbers of the column that end in .0 all fit as integers, "
END = "so the zeros may be no digits"


@pytest.mark.parametrize(
    ("rows", "hints"),
    [
        ({"m": "21.0, flops: 4.0", "n": "25.4, flops: 7.6"}, [ROW]),  # FLOPs of 4.03 print as 4.0 either way
        ({"m": "21.00, flops: 4.00", "n": "25.4, flops: 7.6"}, [ROW]),
        ({"m": "21.0, flops: 4.3", "n": "25.0, flops: 7.6", "o": "31.0, flops: 9.0"}, [COLUMN.format(3)]),
        ({"m": "21.0, flops: 4.0", "n": "25.0, flops: 7.6", "o": "31.0, flops: 9.0"}, [ROW]),  # the row comes first
        ({"m": "21.0, flops: 4.3", "n": "25.0, flops: 7.6", "o": "31.3, flops: 9.0"}, [COLUMN.format(2)]),
        (
            {"m": "21.0, flops: 4.3", "n": "25.0, flops: 7.6", "o": "31.0, flops: 9.0", "p": "27.01, flops: 7.6"},
            [COLUMN.format(3)],
        ),
        ({"m": "21.0, flops: 4.3", "p": "27.0, flops: 7.6", "o": "31.3, flops: 9.0"}, []),  # 27.0 is right to a digit
        ({"m": "21.0, flops: 4.3", "n": "25.4, flops: 7.6"}, []),  # one alone says nothing
        ({"m": "21.0, flops: 4", "n": "25, flops: 8"}, []),  # nor do integers without a zero behind them
        ({"m": "21.0, flops: 5.0", "n": "26.0, flops: 7.6"}, []),  # 4.03 is not 5, and 25.45 not 26
        ({"m": "20.0, flops: 4.0", "n": "25.0, flops: 7.6"}, []),  # nor is 20.65 about 20
        ({"m": "20.6, flops: 4.0", "n": "25.0, flops: 8.0"}, []),  # 20.65 is 20.7, and no integer is printed
    ],
)
def test_numbers_that_fit_as_integers_are_hinted_at_and_still_differ(
    tmp_path: Path, rows: dict[str, str], hints: list[str]
) -> None:
    specs = tuple(f"{{id: {m}, label: R, model: {{timm: {m}}}, printed: {{params: {it}}}}}" for m, it in rows.items())
    check = checked(tmp_path, COUNTS, Spec(specs, about="flops: [macs]"))["p/1/m/params"]
    assert check.verdict is Verdict.DIFFERS
    assert [hint for hint in check.hint_texts if "zeros" in hint] == [f"{one}{END}" for one in hints]
