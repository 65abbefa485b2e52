"""Numbers in a result that somebody edited: shown as they are, at once."""

from __future__ import annotations

import pytest

from imlp_audit.report.verdicts import write_measured


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("5717416", "5 717 416"),
        ("-12.6057", "-12.6057"),
        ("1e40000000", "1e40000000"),  # as a fraction it would have forty million digits
        ("1/0", "1/0"),
        ("9" * 5000, "9" * 5000),
        ("１２", "１２"),
        ("1.26 to 1.10", "1.26 to 1.10"),
        ("", ""),
        (None, ""),
    ],
)
def test_only_plain_numbers_are_grouped(text: str | None, written: str) -> None:
    assert write_measured(text) == written
