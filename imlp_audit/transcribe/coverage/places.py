"""Where in a document a table, a numbered part and a quotation stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from imlp_audit.spec.schema import PrintedTable
from imlp_audit.transcribe.coverage.read import DocumentLine

_TABLE = ("Table", "TABLE", "Tab.", "Таблица", "Табл.")
_CAPTION = re.compile(
    rf"(?:\A|\t|\|)[\s*#>_]*(?:{'|'.join(map(re.escape, _TABLE))})\s*(?P<id>(?:[A-Z]\.?)?\d+)[*_]*\s*[:.|—–-]"
)
_FLOAT = re.compile(r"\\(?P<what>begin|end)\s*\{(?:table\*?|wraptable|sidewaystable\*?|longtable)\}")
_LATEX_CAPTION = re.compile(r"\\caption")


@dataclass(frozen=True)
class TableCaption:
    """A caption: its table's id, folded, its line, and the lines of the float that it stands in, if known."""

    table: str
    line: int
    inside: range | None = None


def is_caption(text: str) -> bool:
    """Return whether a line of text begins the caption of a table."""
    return _CAPTION.search(text) is not None


def find_captions(lines: Sequence[DocumentLine]) -> list[TableCaption]:
    """Return the captions of tables in order; those of LaTeX are numbered as they come."""
    floats = list(_floats(lines))
    if floats:
        return [TableCaption(str(number), inside.start, inside) for number, inside in enumerate(floats, start=1)]
    found = (
        (at, _CAPTION.search(line.text))
        for at, line in enumerate(lines)
        if "Ta" in line.text or "Та" in line.text or "TA" in line.text
    )
    return [TableCaption(_slug(one["id"]), at) for at, one in found if one is not None]


def _floats(lines: Sequence[DocumentLine]) -> Iterator[range]:
    begun: int | None = None
    captioned = False
    for at, line in enumerate(lines):
        if "\\" not in line.text:
            continue
        for one in _FLOAT.finditer(line.text):
            if one["what"] == "begin":
                begun, captioned = at, False
        captioned = captioned or (begun is not None and _LATEX_CAPTION.search(line.text) is not None)
        if begun is not None and any(one["what"] == "end" for one in _FLOAT.finditer(line.text)):
            if captioned:
                yield range(begun, at + 1)
            begun = None


def windows(table: PrintedTable, captions: Sequence[TableCaption], count: int) -> Iterator[tuple[range, bool]]:
    """Yield ranges of lines in which a table may stand, nearest first, and whether each is the caption's own."""
    reach = 4 * len(table.rows) + 4 * len(table.columns) + 30
    for at, caption in enumerate(captions):
        if caption.table != _slug(table.table):
            continue
        if caption.inside is not None:
            yield caption.inside, True
            continue
        before = captions[at - 1].line if at else -1
        after = captions[at + 1].line if at + 1 < len(captions) else count
        yield range(caption.line + 1, min(after, caption.line + reach)), True
        yield range(max(before + 1, caption.line - reach), caption.line), True
        yield range(max(0, caption.line - reach), min(count, caption.line + reach)), False


def _slug(text: str) -> str:
    return fold(text.replace(".", ""))


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


_TAG = re.compile(r"\\tag\s*\{\s*\(?([A-Z]?\.?\d+)\)?\s*\}|\(([A-Z]?\.?\d+)\)\s*(?:\\end\{[a-z]+\*?\})?\s*\$*\s*\Z")
_PARAGRAPH = re.compile(r"\A[\s*#>_]*(Theorem|Lemma|Definition|Corollary|Algorithm)\s+([A-Z]?\.?\d+)[\s*.:(]")
_DISPLAY = "$$"
_MOST_LINES = 15  # of a paragraph; more are a page without empty lines
_NUMBERED = re.compile(r"\\(begin|end)\s*\{(equation|align|gather|eqnarray|multline)\}")


def find_parts(lines: Sequence[DocumentLine]) -> dict[str, list[QuotedSpan]]:
    """Return the spans of numbered parts by what coverage.yaml calls them, such as "Equation 3"."""
    parts: dict[str, list[QuotedSpan]] = {}
    for name, span in (*_displays(lines), *_environments(lines), *_paragraphs(lines)):
        parts.setdefault(name, []).append(span)
    return parts


def _lines_span(lines: Sequence[DocumentLine], first: int, last: int) -> QuotedSpan:
    return QuotedSpan((first, 0), (last, len(lines[last].text)))


def _displays(lines: Sequence[DocumentLine]) -> Iterator[tuple[str, QuotedSpan]]:
    """Yield the displays between $$ and $$, and single lines, that end with a number in brackets."""
    begun: int | None = None
    for at, line in enumerate(lines):
        signs = line.text.count(_DISPLAY)
        tag = _TAG.search(line.text)
        if begun is None and signs % 2:
            begun = at
            tags = {tag[1] or tag[2]} if tag else set[str]()
        elif begun is not None:
            tags |= {tag[1] or tag[2]} if tag else set()
            if signs % 2:
                yield from ((f"Equation {one}", _lines_span(lines, begun, at)) for one in sorted(tags))
                begun = None
        elif tag is not None and (signs or "=" in line.text):
            yield f"Equation {tag[1] or tag[2]}", _lines_span(lines, at, at)


def _environments(lines: Sequence[DocumentLine]) -> Iterator[tuple[str, QuotedSpan]]:
    """Yield the numbered displays of LaTeX, counted as they come."""
    number = 0
    begun = 0
    for at, line in enumerate(lines):
        for found in _NUMBERED.finditer(line.text) if "\\" in line.text else ():
            if found[1] == "begin":
                begun = at
                continue
            text = "\n".join(one.text for one in lines[begun : at + 1])
            rows = 1 if found[2] in ("equation", "multline") else len(re.split(r"\\\\", text))
            rows -= len(re.findall(r"\\(?:nonumber|notag)\b", text))
            for one in range(number + 1, number + max(rows, 0) + 1):
                yield f"Equation {one}", _lines_span(lines, begun, at)
            number += max(rows, 0)


def _paragraphs(lines: Sequence[DocumentLine]) -> Iterator[tuple[str, QuotedSpan]]:
    """Yield the first paragraph that begins with each name; a later one speaks of it."""
    seen = set[str]()
    for at, line in enumerate(lines):
        found = _PARAGRAPH.match(line.text)
        if found is not None and (name := f"{found[1]} {found[2]}") not in seen:
            seen.add(name)
            yield name, _lines_span(lines, at, _last_line(lines, at))


def _last_line(lines: Sequence[DocumentLine], first: int) -> int:
    """Return the last line of a paragraph, which an empty line ends.

    In a document without empty lines, such as a PDF, the first line that ends a sentence ends it.
    """
    last = first
    while last + 1 < len(lines) and lines[last + 1].text.strip():
        last += 1
    if last - first < _MOST_LINES:
        return last
    near = range(first, first + _MOST_LINES)
    return next((at for at in near if lines[at].text.rstrip().endswith(".")), first)
