"""The tables of a web page as a browser shows them, and of a markdown file as GitHub does: it becomes a page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html.parser import HTMLParser
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from imlp_audit.errors import UsageError
from imlp_audit.numbers.words import count_of
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
    split_number,
)
from imlp_audit.transcribe.latex.scan import to_text

LONGEST_TABLES = 800_000  # characters of the text of all tables
_LONGEST_CAPTION = 300
_SILENT = frozenset({"script", "style", "annotation", "template", "noscript", "math"})
_PARTS = frozenset({"thead", "tbody", "tfoot", "tr", "td", "th"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TITLES = _HEADINGS | {"caption", "figcaption", "title"}


def read_web(text: str, shown_as: str) -> SourceDocument:
    """Return the tables of a page in order, and its title."""
    parser = _PageParser(shown_as)
    parser.feed(text)
    parser.close()
    parser.end_table()
    return SourceDocument(tuple(number_tables(parser.tables)), parser.title or None)


def plain_text(markup: str) -> str:
    """Return the text of a piece of HTML, without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^<>]*>", " ", markup)).split())


@dataclass
class _OpenTable:
    """A table while it is read. `hanging` is for how many more rows a cell above fills a column."""

    line: int
    label: str | None
    caption: str
    around: str
    rows: list[SourceRow] = field(default_factory=list)
    row: list[SpanningCell] | None = None
    row_line: int = 0
    span: tuple[int, int] | None = None  # of the cell that is open
    depth: int = 1
    in_head: bool = False
    all_heads: bool = True
    hanging: dict[int, int] = field(default_factory=dict)

    def width(self) -> int:
        """Return how many columns of the open row are filled, those included that cells above fill next."""
        row = [] if self.row is None else self.row
        while self.hanging.get(sum(cell.columns for cell in row), 0) > 0 and len(row) < MOST_COLUMNS:
            row.append(SpanningCell(""))
        return sum(cell.columns for cell in row)


class _PageParser(HTMLParser):
    """Collects the outermost tables of a page; a table inside a cell is text of that cell."""

    def __init__(self, shown_as: str) -> None:
        super().__init__(convert_charrefs=True)
        self.shown_as = shown_as
        self.tables: list[SourceTable] = []
        self.title = ""
        self._read = self._silent = 0
        self._heading = ""
        self._figure: tuple[int, str | None] | None = None  # how many tables stand before it, and its label
        self._table: _OpenTable | None = None
        self._text: list[str] = []
        self._raised: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row, a cell, or another text."""
        given, table = dict(attrs), self._table
        if tag == "math":
            self.handle_data(to_text(given.get("alttext") or ""))
        if tag in _SILENT:
            self._silent += 1
        elif tag == "table" and table is None:
            label = (self._figure[1] if self._figure is not None else None) or given.get("id")
            caption, around = given.get("data-caption") or self._heading, given.get("data-around") or ""
            self._table = _OpenTable(self._line(given), label, caption, around)
        elif tag == "table" and table is not None:
            table.depth += 1
        elif table is not None and table.depth == 1 and tag in _PARTS:
            self._begin_part(table, tag, given)
        elif tag == "sup":
            self._raised.append(len(self._text))
        elif tag == "figure":
            self._figure = (len(self.tables), given.get("id"))
        elif tag in _TITLES and (table is None or table.span is None):
            self._text = []
        elif tag in ("br", "p", "div", "li", "td", "th"):
            self._text.append(" ")

    def _line(self, given: Mapping[str, str | None]) -> int:
        return int(given.get("data-line") or self.getpos()[0])

    def _begin_part(self, table: _OpenTable, tag: str, given: Mapping[str, str | None]) -> None:
        if tag not in ("td", "th"):
            self._end_row(table)
            table.in_head = tag == "thead" or (tag == "tr" and table.in_head)
        if tag in ("tr", "td", "th") and table.row is None:
            table.row, table.row_line, table.all_heads = [], self._line(given), True
        if tag in ("td", "th"):
            self._end_cell(table)
            table.span = (_number(given.get("colspan"), MOST_COLUMNS), _number(given.get("rowspan"), MOST_ROWS))
            table.all_heads = table.all_heads and (tag == "th" or table.in_head)
            self._text, self._raised = [], []

    def handle_endtag(self, tag: str) -> None:
        """End what began with the same tag."""
        table = self._table
        outermost = table if table is not None and table.depth == 1 else None
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "sup" and self._raised:
            start = self._raised.pop()
            text = "".join(self._text[start:]).strip()
            self._text[start:] = [text if text[:1] in MARKS else f"^{text}" if text else ""]
        elif tag == "table" and outermost is not None:
            self.end_table()
        elif tag == "table" and table is not None:
            table.depth -= 1
        elif tag in ("thead", "tr") and outermost is not None:
            self._end_row(outermost)
            outermost.in_head = outermost.in_head and tag == "tr"
        elif tag in ("td", "th") and outermost is not None:
            self._end_cell(outermost)
        elif tag == "caption" and table is not None:
            table.caption = self._taken()
        elif tag == "figcaption":
            self._caption_figure(self._taken())
        elif tag in _HEADINGS and (table is None or table.span is None):
            self._heading = self._taken()
        elif tag == "title" and not self.title:
            self.title = self._taken()

    def _caption_figure(self, caption: str) -> None:
        """Give the tables of a figure its caption, whether it stands above or below them."""
        start = self._figure[0] if self._figure is not None else len(self.tables)
        self.tables[start:] = [replace(one, caption=caption) for one in self.tables[start:]]
        self._heading = caption if start == len(self.tables) else self._heading

    def handle_data(self, data: str) -> None:
        """Take text."""
        if not self._silent:
            self._text.append(data)

    def _taken(self, longest: int | None = _LONGEST_CAPTION) -> str:
        text, self._text = " ".join("".join(self._text).split()), []
        return text[:longest]

    def _end_cell(self, table: _OpenTable) -> None:
        if table.span is None or table.row is None:
            return
        (columns, rows), table.span = table.span, None
        text, at = self._taken(None), table.width()
        self._read += len(text)
        if at < MOST_COLUMNS:
            table.hanging |= dict.fromkeys(range(at, at + columns), rows) if rows > 1 else {}
            table.row.append(SpanningCell(text, columns, rows))

    def _end_row(self, table: _OpenTable) -> None:
        self._end_cell(table)
        if table.row is None:
            return
        table.width()
        if any(cell.text for cell in table.row) and len(table.rows) <= MOST_ROWS:
            table.rows.append(SourceRow(table.row_line, tuple(table.row), head=table.all_heads))
        table.hanging = {column: left - 1 for column, left in table.hanging.items() if left > 1}
        table.row = None

    def end_table(self) -> None:
        """End the table that is open, if one is."""
        table, self._table = self._table, None
        if table is None:
            return
        self._end_row(table)
        if len(self.tables) < MOST_TABLES and (self._read <= LONGEST_TABLES or not self.tables):
            made = make_table("", table.caption, table.rows, self.shown_as, table.line, table.label)
            self.tables.append(replace(made, around=table.around))


def _number(text: str | None, most: int) -> int:
    digits = re.fullmatch(r"\s*(\d{1,6})\s*", text or "", re.ASCII)
    return max(1, min(most, int(digits[1]))) if digits else 1


_MATH = re.compile(r"\$([^$\n|]+)\$")
_FOOTNOTE = re.compile(r"\[\^([^\]]+)\]")
_TABLE = re.compile(r"<(table|tr|td|th)\b", re.IGNORECASE)
_MOST_LINES = 200_000
_NEAR = 3  # lines between a table and the line above it that may be its caption
_LONGEST_SECTION = 2_000
_ADVICE = "a table in markdown has a line such as | --- | --- | under its headings, and one in HTML is a <table>"


def read_markdown(text: str, shown_as: str) -> SourceDocument:
    """Return the tables of a file in order, each with the heading and the line above it as its caption.

    Raises UsageError for a file that is too long.
    """
    if text.count("\n") > _MOST_LINES:
        raise UsageError(f"{shown_as} has more than {_MOST_LINES} lines; give a file with the table alone")
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    text = _FOOTNOTE.sub(r"^\1", _MATH.sub(lambda found: _escape(to_text(found[1])), text))
    tokens = parser.parse(text)
    title = _place_tables(tokens, parser)
    page = parser.renderer.render(tokens, parser.options, {})
    notes = tuple(_find_broken(tokens, shown_as))
    return replace(read_web(page, shown_as), title=title[:200] or None, advice=_ADVICE, notes=notes)


def _find_broken(tokens: Sequence[Token], shown_as: str) -> Iterator[str]:
    """Yield a note on each line under headings that are more or fewer: GitHub shows no table there."""
    for token in tokens:
        lines = token.content.split("\n") if token.type == "inline" and token.map else []
        for at, (above, below) in enumerate(pairwise(lines), token.map[0] + 1 if token.map else 0):
            heads, marks = _count_cells(above), _count_cells(below)
            if "|" in above and _UNDER.fullmatch(below.strip()) and heads != marks:
                yield (
                    f"{shown_as}, line {at}: not read, because GitHub does not show it as a table either: "
                    f"{count_of(heads, 'heading')} above {count_of(marks, 'column')}"
                )


_UNDER = re.compile(r"\|?(\s*:?-+:?\s*\|)+(\s*:?-+:?)?")


def _count_cells(line: str) -> int:
    return len(re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|")))


def _escape(text: str) -> str:
    return re.sub(r"([\\|*_<>&`\[\]~])", r"\\\1", text)


def _place_tables(tokens: Sequence[Token], parser: MarkdownIt) -> str:
    """Give each table its line, its caption and the text of its section, as attributes; return the first heading."""
    title = heading = above = ""
    end = 0  # of the paragraph or heading above
    section: list[str] = []
    tables: list[tuple[Token, int, str, list[str]]] = []
    for token, after in zip(tokens, [*tokens[1:], *tokens[-1:]], strict=False):
        first = token.map[0] + 1 if token.map else 0
        if token.type == "heading_open":
            heading, above, end, section = plain_text(parser.renderInline(after.content)), "", first, []
            title = title or heading
        elif token.type == "paragraph_open":
            above, end = after.content, token.map[1] if token.map else first
            section.append(after.content)
        elif token.type == "tr_open":
            token.attrSet("data-line", str(first))
        elif token.type in ("table_open", "html_block"):
            tables.append((token, first, _caption(heading, above if first - end <= _NEAR else "", parser), section))
    for token, first, caption, paragraphs in tables:
        given = {"data-caption": caption, "data-around": " ".join(paragraphs)[:_LONGEST_SECTION]}
        if token.type == "table_open":
            token.attrs |= {"data-line": str(first), **given}
        token.content = _TABLE.sub(partial(_placed, first=first, given=given), token.content)
    return title


def _placed(found: re.Match[str], first: int, given: Mapping[str, str]) -> str:
    line = first + found.string.count("\n", 0, found.start())
    titled = "".join(f' {name}="{html.escape(text)}"' for name, text in given.items())
    return f'{found[0]} data-line="{line}"{titled if found[1].lower() == "table" else ""}'


def _caption(heading: str, paragraph: str, parser: MarkdownIt) -> str:
    """Return the line above a table, after the heading that both are under.

    Of a paragraph that begins with the number of the table, as "Table 7." does, all is taken, the number first.
    """
    number, text = split_number(plain_text(parser.renderInline(" ".join(paragraph.split("\n")))))
    if not number:
        text = plain_text(parser.renderInline(paragraph.rpartition("\n")[2]))
    return f"{number}{f'{heading}. {text}' if heading and text else heading or text}"[:300]
