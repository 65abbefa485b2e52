"""The tables of a web page."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from html.parser import HTMLParser

from imlp_audit.transcribe.cells import MARKS
from imlp_audit.transcribe.grid import (
    MOST_COLUMNS,
    MOST_ROWS,
    MOST_TABLES,
    SourceDocument,
    SourceRow,
    SourceTable,
    SpanningCell,
    make_table,
    number_tables,
)
from imlp_audit.transcribe.latex.text import to_text

_EDGE = re.compile(r"<(/?)table\b[^>]*>", re.IGNORECASE)
LONGEST_TABLE = 400_000  # characters
LONGEST_TABLES = 800_000  # characters of all of them
_CAPTION = re.compile(r"<((?:fig)?caption)\b[^>]*>", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^>]*>(.{0,500}?)</title>", re.IGNORECASE | re.DOTALL)
_ID = re.compile(r"\bid\s*=\s*[\"']([^\"']{1,80})[\"']", re.IGNORECASE)
_SILENT = frozenset({"script", "style", "annotation", "template", "noscript"})


def read_web(text: str, shown_as: str) -> SourceDocument:
    """Return the tables of a page in order."""
    title = _TITLE.search(text)
    return SourceDocument(
        tuple(number_tables(list(read_web_tables(text, shown_as)))), plain_text(title[1]) or None if title else None
    )


def read_web_tables(text: str, shown_as: str) -> Iterator[SourceTable]:
    """Yield the outermost tables of a page, without their numbers."""
    lines = [0, *(found.end() for found in re.finditer("\n", text))]
    read = 0
    for number, (start, end) in enumerate(_outermost(text), 1):
        read += end - start
        if number > MOST_TABLES or (read > LONGEST_TABLES and number > 1):
            return
        line = _line(lines, start)
        parser = _TableParser(line)
        parser.feed(text[start : min(end, start + LONGEST_TABLE)])
        parser.close()
        caption, label = _describe(text, start, end)
        yield make_table(
            "", plain_text(caption or _heading_above(text, start))[:300], parser.rows, shown_as, line, label
        )


def _line(ends: list[int], offset: int) -> int:
    return bisect_right(ends, offset)


def _outermost(text: str) -> Iterator[tuple[int, int]]:
    depth = start = 0
    for found in _EDGE.finditer(text):
        if found[1]:
            depth = max(0, depth - 1)
            if depth == 0:
                yield start, found.end()
        else:
            start = found.start() if depth == 0 else start
            depth += 1


def _describe(text: str, start: int, end: int) -> tuple[str, str | None]:
    """Return the caption of a table, its own or that of the figure it is in, and the id of either."""
    own = _read_caption(text, start, end)
    identity = _ID.search(text, start, text.find(">", start))
    opened = text.rfind("<figure", 0, start)
    closed = text.find("</figure>", end)
    if own is None and opened >= 0 and closed >= 0 and text.find("</figure>", opened, start) < 0:
        own = _read_caption(text, opened, closed)
        identity = _ID.search(text, opened, text.find(">", opened)) or identity
    return own or "", identity[1] if identity else None


def _read_caption(text: str, start: int, end: int) -> str | None:
    found = _CAPTION.search(text, start, end)
    close = text.find(f"</{found[1]}", found.end(), found.end() + _LONGEST_CAPTION) if found else -1
    return text[found.end() : close] if found is not None and close >= 0 else None


def _heading_above(text: str, start: int) -> str:
    """Return the last heading before a place, if one is near."""
    close = text.rfind("</h", max(0, start - _NEAR), start)
    begin = text.rfind("<h", max(0, close - _LONGEST_CAPTION), close) if close >= 0 else -1
    return text[begin:close] if begin >= 0 and text[begin + 2 : begin + 3].isdigit() else ""


_LONGEST_CAPTION = 5_000
_NEAR = 20_000


def plain_text(markup: str) -> str:
    """Return the text of a piece of HTML, without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^<>]*>", " ", markup)).split())


class _TableParser(HTMLParser):
    """Collects the rows of one table; a table inside a cell is text of that cell."""

    def __init__(self, line: int) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[SourceRow] = []
        self._first_line = self._line = line
        self._depth = self._silent = 0
        self._row: list[SpanningCell] | None = None
        self._cell: list[str] | None = None
        self._span = (1, 1)
        self._raised: list[int] = []
        self._all_heads = self._in_head = False
        self._hanging: dict[int, int] = {}  # for how many more rows a cell above fills a column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a row, a cell or a part of a cell."""
        given = dict(attrs)
        if tag == "math":
            self._add(to_text(given.get("alttext") or ""))
        if tag in _SILENT or tag == "math":
            self._silent += 1
        elif tag == "table":
            self._depth += 1
        elif self._depth > 1:
            self._add(" ")
        elif tag == "thead":
            self._in_head = True
        elif tag == "tr":
            self._end_row()
            self._row, self._all_heads = [], True
            self._line = self._first_line + self.getpos()[0] - 1
        elif tag in ("td", "th") and self._row is not None:
            self._end_cell()
            self._cell = []
            self._span = (_number(given.get("colspan"), MOST_COLUMNS), _number(given.get("rowspan"), MOST_ROWS))
            self._all_heads = self._all_heads and (tag == "th" or self._in_head)
        elif tag == "sup" and self._cell is not None:
            self._raised.append(len(self._cell))
        elif tag in ("br", "p", "div", "li"):
            self._add(" ")

    def handle_endtag(self, tag: str) -> None:
        """End what began with the same tag."""
        if tag in _SILENT or tag == "math":
            self._silent = max(0, self._silent - 1)
        elif tag == "table":
            self._depth -= 1
            if self._depth <= 0:
                self._end_row()
        elif self._depth > 1:
            return
        elif tag == "thead":
            self._end_row()
            self._in_head = False
        elif tag == "tr":
            self._end_row()
        elif tag in ("td", "th"):
            self._end_cell()
        elif tag == "sup" and self._raised and self._cell is not None:
            self._raise(self._raised.pop())

    def handle_data(self, data: str) -> None:
        """Take text of a cell."""
        self._add(data)

    def _add(self, text: str) -> None:
        if self._cell is not None and not self._silent:
            self._cell.append(text)

    def _raise(self, start: int) -> None:
        assert self._cell is not None
        text = "".join(self._cell[start:]).strip()
        self._cell[start:] = [text if text[:1] in MARKS else f"^{text}" if text else ""]

    def _end_cell(self) -> None:
        if self._cell is None or self._row is None:
            return
        self._fill()
        columns, rows = self._span
        text, before = " ".join("".join(self._cell).split()), len_of(self._row)
        self._cell, self._raised = None, []
        if before >= MOST_COLUMNS:
            return
        if rows > 1:
            self._hanging |= dict.fromkeys(range(before, before + columns), rows)
        self._row.append(SpanningCell(text, columns, rows))

    def _fill(self) -> None:
        """Add an empty cell wherever one above fills the place."""
        assert self._row is not None
        while self._hanging.get(len_of(self._row), 0) > 0 and len(self._row) < MOST_COLUMNS:
            self._row.append(SpanningCell(""))

    def _end_row(self) -> None:
        self._end_cell()
        if self._row is None:
            return
        self._fill()
        if any(cell.text for cell in self._row) and len(self.rows) <= MOST_ROWS:
            self.rows.append(SourceRow(self._line, tuple(self._row), head=self._all_heads))
        self._hanging = {column: left - 1 for column, left in self._hanging.items() if left > 1}
        self._row = None


def len_of(row: list[SpanningCell]) -> int:
    """Return how many columns the cells of a row fill."""
    return sum(cell.columns for cell in row)


def _number(text: str | None, most: int) -> int:
    digits = re.fullmatch(r"\s*(\d{1,6})\s*", text or "", re.ASCII)
    return max(1, min(most, int(digits[1]))) if digits else 1
