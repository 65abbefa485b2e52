"""Zeros that pad a whole column of totals are no digits."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Spec, checked

COUNTS = {
    name: Count(one)
    for name, one in zip("mnopqr", (20_650_000, 25_450_000, 31_300_000, 27_010_000, 8_020_000, 9_040_000), strict=True)
}
PADDED = ("21.0", "25.0", "31.0", "27.0", "8.0", "9.0")


@pytest.mark.parametrize(
    ("unit", "printed", "verdict"),
    [
        ("M", PADDED, Verdict.REPRODUCED),
        ("M", ("20.700", "25.500", "31.300", "27.000", "8.000", "9.000"), Verdict.REPRODUCED),
        ("M", PADDED[:5], Verdict.DIFFERS),  # one in a hundred thousand ends in zeros by chance, and tables are many
        ("M", ("21.0", "25.4", *PADDED[2:]), Verdict.DIFFERS),  # the zeros are digits beside a 25.4
        ("M", ("20.0", *PADDED[1:]), Verdict.DIFFERS),  # 20.65 is no 20
        ("M", ("21.0", "25", *PADDED[2:]), Verdict.DIFFERS),
        ("", ("20700000", "25500000", "31300000", "27000000"), Verdict.REPRODUCED),
        ("", ("20,700,000", "25,500,000", "31,300,000", "27,000,000"), Verdict.REPRODUCED),
        ("", ("20700000", "25450000", "31300000", "27010000"), Verdict.DIFFERS),  # the others have four digits
        ("", ("20700000", "25450000", "31300000", "27010001", "8020001", "9040001"), Verdict.DIFFERS),
        ("", ("20700000", "25450001", "31300002", "27010003"), Verdict.DIFFERS),
    ],
)
def test_zeros_that_pad_a_column_are_no_digits(
    tmp_path: Path, unit: str, printed: tuple[str, ...], verdict: Verdict
) -> None:
    rows = tuple(
        f"{{id: {m}, label: R, model: {{timm: {m}}}, printed: {{count: '{text}'}}}}"
        for m, text in zip(COUNTS, printed, strict=False)
    )
    column = f"count: {{measure: parameters, unit: '{unit}', heading: Parameters}}"
    assert checked(tmp_path, COUNTS, Spec(rows, columns=(column,)))["p/1/m/count"].verdict is verdict
