"""Finding a quotation in a document, whatever the spaces, line ends, quotation marks and markup in between."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from imlp_audit.transcribe.coverage.lines import DocumentLine

# commands, tags, Greek (a command in LaTeX, a letter in a text) and signs; a point or comma between digits stays
_DROPPED = re.compile(r"\\[A-Za-z]+|</?[A-Za-z]+>|[\u0370-\u03ff]+|(?<![0-9])[.,]+|[.,]+(?![0-9])|[^\w.,\\<]+|[\\<]|_+")
_SPLITS_BEFORE, _SPLITS_AFTER = re.compile(r"[0-9][.,]?\Z"), re.compile(r"[.,]?[0-9]")


@dataclass(frozen=True, slots=True)
class QuotedSpan:
    """Where a quotation stands: from a place in one line to a place in the same or a later one."""

    first: tuple[int, int]
    last: tuple[int, int]

    def holds(self, line: int, start: int, end: int) -> bool:
        """Return whether what stands between two places of a line is part of it."""
        return self.first <= (line, start) and (line, end) <= self.last


class QuoteFinder:
    """A document in which quotations are looked up."""

    def __init__(self, lines: Sequence[DocumentLine]) -> None:
        self._lines = lines
        folded = [fold(line.text) for line in lines]
        self._starts = [0, *accumulate(map(len, folded))]
        self._text = "".join(folded)

    def find(self, quote: str) -> list[QuotedSpan]:
        """Return the places where a quotation stands, without those that begin or end inside a number."""
        wanted = fold(quote)
        if not wanted:
            return []
        spans = (self._span(at, at + len(wanted)) for at in _find_all(self._text, wanted))
        return [span for span in spans if not self._splits(span)]

    def find_parts(self, quote: str) -> list[QuotedSpan]:
        """Return where the parts of a quotation stand that leaves out words by [...]; none if one is not there."""
        found = [self.find(part) for part in quote.split("[...]")]
        return [span for spans in found for span in spans] if all(found) else []

    def _span(self, start: int, end: int) -> QuotedSpan:
        line, last = self._place(end - 1)
        return QuotedSpan(self._place(start), (line, last + 1))

    def _place(self, at: int) -> tuple[int, int]:
        """Return the line of a place in the folded text, and the place in that line."""
        line = bisect_right(self._starts, at) - 1
        return line, _kept(self._lines[line].text)[at - self._starts[line]]

    def _splits(self, span: QuotedSpan) -> bool:
        """Return whether a span has a part of a number at its beginning or its end."""
        (first, start), (last, end) = span.first, span.last
        before, after = self._lines[first].text[: start + 1], self._lines[last].text[end - 1 :]
        return bool(
            (before[-1].isdecimal() and _SPLITS_BEFORE.search(before[:-1]))
            or (after[0].isdecimal() and _SPLITS_AFTER.match(after[1:]))
        )


def fold(text: str) -> str:
    """Return the letters and digits of a text in lower case, and its decimal marks."""
    return _lower(_DROPPED.sub("", text))


def _lower(text: str) -> str:
    lower = text.lower()
    return lower if len(lower) == len(text) else text


def _kept(text: str) -> list[int]:
    """Return the places of the characters that folding keeps."""
    kept: list[int] = []
    at = 0
    for found in _DROPPED.finditer(text):
        kept += range(at, found.start())
        at = found.end()
    return [*kept, *range(at, len(text))]


def _find_all(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)
