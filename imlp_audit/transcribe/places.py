"""Where in a document a table, a numbered part and a quotation stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

from imlp_audit.spec.schema import PrintedTable
from imlp_audit.transcribe.document import DocumentLine
from imlp_audit.transcribe.quantities import TABLE_CAPTION

Span: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""From a place, a line and where in it, to another place."""
_FLOAT = re.compile(r"\\(begin|end)\s*\{(?:table\*?|wraptable|sidewaystable\*?|longtable)\}|\\caption")


def find_windows(table: PrintedTable, lines: Sequence[DocumentLine]) -> Iterator[tuple[range, bool]]:
    """Yield the lines in which a table may stand, nearest to its caption first, and whether no other caption is there.

    Captions of LaTeX are numbered as they come.
    """
    floats = list(_floats(lines))
    if floats:
        yield from ((inside, True) for number, inside in enumerate(floats, 1) if str(number) == _slug(table.table))
        return
    captions = [(at, _slug(found["id"])) for at, line in enumerate(lines) if (found := TABLE_CAPTION.search(line.text))]
    reach = 4 * len(table.rows) + 4 * len(table.columns) + 30
    ends = [-1, *(at for at, _ in captions), len(lines)]
    for (at, name), before, after in zip(captions, ends, ends[2:], strict=False):
        if name == _slug(table.table):
            yield range(at + 1, min(after, at + reach)), True
            yield range(max(before + 1, at - reach), at), True
            yield range(max(0, at - reach), min(len(lines), at + reach)), False


def _floats(lines: Sequence[DocumentLine]) -> Iterator[range]:
    """Yield the lines of each float of LaTeX that has a caption."""
    begun: int | None = None
    captioned = False
    for at, line in enumerate(lines):
        for one in _FLOAT.finditer(line.text) if "\\" in line.text else ():
            if one[1] == "begin":
                begun, captioned = at, False
            elif one[1] is None:
                captioned = True
            elif begun is not None:
                if captioned:
                    yield range(begun, at + 1)
                begun = None


def _slug(text: str) -> str:
    return fold(text.replace(".", ""))


# commands, tags, Greek (a command in LaTeX, a letter in a text) and signs; a point or comma between digits stays
_DROPPED = re.compile(r"\\[A-Za-z]+|</?[A-Za-z]+>|[\u0370-\u03ff]+|(?<![0-9])[.,]+|[.,]+(?![0-9])|[^\w.,\\<]+|[\\<]|_+")
_SPLITS_BEFORE, _SPLITS_AFTER = re.compile(r"[0-9][.,]?\Z"), re.compile(r"[.,]?[0-9]")


class QuoteFinder:
    """A document in which quotations are looked up."""

    def __init__(self, lines: Sequence[DocumentLine]) -> None:
        self._lines = lines
        folded = [fold(line.text) for line in lines]
        self._starts = [0, *accumulate(map(len, folded))]
        self._text = "".join(folded)

    def find(self, quote: str) -> list[Span]:
        """Return the places where a quotation stands, without those that begin or end inside a number."""
        wanted = fold(quote)
        starts = (found.start() for found in re.finditer(f"(?={re.escape(wanted)})", self._text)) if wanted else ()
        return [span for at in starts if not self._splits(span := self._span(at, at + len(wanted)))]

    def find_parts(self, quote: str) -> list[Span]:
        """Return where the parts of a quotation stand that leaves out words by [...]; none if one is not there."""
        found = [self.find(part) for part in quote.split("[...]")]
        return [span for spans in found for span in spans] if all(found) else []

    def _span(self, start: int, end: int) -> Span:
        line, last = self._place(end - 1)
        return self._place(start), (line, last + 1)

    def _place(self, at: int) -> tuple[int, int]:
        """Return the line of a place in the folded text, and the place in that line."""
        line = bisect_right(self._starts, at) - 1
        return line, _kept(self._lines[line].text)[at - self._starts[line]]

    def _splits(self, span: Span) -> bool:
        """Return whether a span has a part of a number at its beginning or its end."""
        (first, start), (last, end) = span
        before, after = self._lines[first].text[: start + 1], self._lines[last].text[end - 1 :]
        return bool(
            (before[-1].isdecimal() and _SPLITS_BEFORE.search(before[:-1]))
            or (after[0].isdecimal() and _SPLITS_AFTER.match(after[1:]))
        )


def fold(text: str) -> str:
    """Return the letters and digits of a text in lower case, and its decimal marks."""
    kept = _DROPPED.sub("", text)
    return lower if len(lower := kept.lower()) == len(kept) else kept


def _kept(text: str) -> list[int]:
    """Return the places of the characters that folding keeps."""
    dropped = {at for found in _DROPPED.finditer(text) for at in range(*found.span())}
    return [at for at in range(len(text)) if at not in dropped]


_TAG = re.compile(r"\\tag\s*\{\s*\(?([A-Z]?\.?\d+)\)?\s*\}|\(([A-Z]?\.?\d+)\)\s*(?:\\end\{[a-z]+\*?\})?\s*\$*\s*\Z")
_PARAGRAPH = re.compile(r"\A[\s*#>_]*(Theorem|Lemma|Definition|Corollary|Algorithm)\s+([A-Z]?\.?\d+)[\s*.:(]")
_DISPLAY = "$$"
_MOST_LINES = 15  # of a paragraph; more are a page without empty lines
_NUMBERED = re.compile(r"\\(begin|end)\s*\{(equation|align|gather|eqnarray|multline)\}")


def find_parts(lines: Sequence[DocumentLine]) -> dict[str, list[Span]]:
    """Return the spans of numbered parts by what coverage.yaml calls them, such as "Equation 3"."""
    parts: dict[str, list[Span]] = {}
    for name, span in (*_displays(lines), *_environments(lines), *_paragraphs(lines)):
        parts.setdefault(name, []).append(span)
    return parts


def _lines_span(lines: Sequence[DocumentLine], first: int, last: int) -> Span:
    return (first, 0), (last, len(lines[last].text))


def _displays(lines: Sequence[DocumentLine]) -> Iterator[tuple[str, Span]]:
    """Yield the displays between $$ and $$, and single lines, that end with a number in brackets."""
    begun: int | None = None
    tags: set[str] = set()
    for at, line in enumerate(lines):
        signs, tag = line.text.count("$$"), _TAG.search(line.text)
        tags |= {tag[1] or tag[2]} if tag else set()
        opens = begun is None and signs % 2
        if (begun is not None and signs % 2) or (begun is None and tag and (signs or "=" in line.text) and not opens):
            yield from (
                (f"Equation {one}", _lines_span(lines, at if begun is None else begun, at)) for one in sorted(tags)
            )
            begun = None
        elif opens:
            begun = at
        if begun is None:
            tags = set()


def _environments(lines: Sequence[DocumentLine]) -> Iterator[tuple[str, Span]]:
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


def _paragraphs(lines: Sequence[DocumentLine]) -> Iterator[tuple[str, Span]]:
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
