"""Where the numbered parts of a document end."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.coverage.places import find_parts
from imlp_audit.transcribe.coverage.read import DocumentLine

LONG = [f"line {number} of a page whose lines all follow" for number in range(40)]


def span_of(part: str, lines: list[str], page: int | None = None) -> tuple[int, int]:
    """Return the first and the last line of a part, from 0."""
    (span,) = find_parts([DocumentLine("a", at, text, page) for at, text in enumerate(lines)])[part]
    return span.first[0], span.last[0]


@pytest.mark.parametrize("page", [None, 1])
def test_a_theorem_does_not_run_on_to_the_end_of_a_document_without_empty_lines(page: int | None) -> None:
    lines = ["Theorem 1 (Lee) Let n be", "at least 2. Then", "it is 3.", *LONG]
    assert span_of("Theorem 1", lines, page) == (0, 2)
    assert span_of("Algorithm 2", ["Algorithm 2: Steps", *LONG], page) == (0, 0)


def test_an_empty_line_ends_a_theorem() -> None:
    lines = ["Theorem 1 Let n be 2.", "Then it is 3.", "", "Theorem 1 has 4."]
    assert span_of("Theorem 1", lines) == (0, 1)
    assert span_of("Theorem 1", [*lines[:2], "", "Theorem 1. It has 4."]) == (0, 1)
