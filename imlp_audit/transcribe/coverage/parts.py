"""Where the numbered parts of a document stand: its equations, and paragraphs such as Theorem 1."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from imlp_audit.transcribe.coverage.lines import DocumentLine
from imlp_audit.transcribe.coverage.quotes import QuotedSpan

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
