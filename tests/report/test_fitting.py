"""Texts that are cut to a width."""

import pytest

from imlp_audit.report.document import shorten


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two..."),
        ("one (two three) four", 17, "one (two...)"),
        ("one (two three) four", 19, "one (two three)..."),
        ("9 is outside [1, 2) by far", 24, "9 is outside [1, 2)..."),
        ("9 is outside (1, 2] by far", 24, "9 is outside (1, 2]..."),
        ("one (two) three", 11, "one..."),  # with its last bracket "one (two...)" would have 12 columns
    ],
)
def test_a_text_ends_at_a_word_with_its_brackets_closed(text: str, most: int, short: str) -> None:
    assert shorten(text, most) == short
    assert len(short) <= most
