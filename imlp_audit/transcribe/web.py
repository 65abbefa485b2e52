"""The tables of a web page as a browser shows them, and of a markdown file as GitHub does: it becomes a page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from itertools import takewhile
from xml.etree.ElementTree import Element, TreeBuilder

from markdown_it import MarkdownIt
from markdown_it.token import Token

from imlp_audit.errors import UsageError
from imlp_audit.transcribe.cells import MARKS
from imlp_audit.transcribe.grid import (
    MOST_COLUMNS,
    MOST_ROWS,
    SourceDocument,
    SourceRow,
    SourceTable,
    SpanningCell,
    make_table,
    number_tables,
    split_number,
)
from imlp_audit.transcribe.latex.scan import to_text

_LONGEST_CAPTION = 300
_SILENT = frozenset({"script", "style", "annotation", "template", "noscript"})
_BREAKS = frozenset({"br", "p", "div", "li", "td", "th"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CELLS, _GROUPS = frozenset({"td", "th"}), frozenset({"thead", "tbody", "tfoot"})
_ENDED = {**dict.fromkeys(_CELLS, _CELLS), "tr": _CELLS | {"tr"}, **dict.fromkeys(_GROUPS, _CELLS | _GROUPS | {"tr"})}
"""The parts of a table that a tag ends: their own end may be left out."""
_VOID = frozenset({"br", "img", "hr", "input", "link", "meta", "col", "wbr", "source"})
_DEEPEST = 100  # elements in each other; one in more of them is not kept
_MATH = re.compile(r"\$([^$\n|]+)\$")
_FOOTNOTE = re.compile(r"\[\^([^\]]+)\]")
_TABLE = re.compile(r"<(table|tr|td|th)\b", re.IGNORECASE)
_MOST_LINES = 200_000
_NEAR = 3  # lines between a table and the line above it that may be its caption
_LONGEST_SECTION = 2_000
_ADVICE = "a table in markdown has a line such as | --- | --- | under its headings, and one in HTML is a <table>"


def read_web(text: str, shown_as: str) -> SourceDocument:
    """Return the tables of a page in order, and its title."""
    parser = _PageParser()
    parser.feed(text)
    parser.close()
    page = parser.finish()
    figures = {table: figure for figure in page.iter("figure") for table in figure.iter("table")}
    inner: set[Element] = set()  # what stands in a table is no table, and no heading of others
    tables: list[SourceTable] = []
    heading = ""
    for one in page.iter():
        if one in inner:
            continue
        if one.tag in _HEADINGS:
            heading = _text(one)[:_LONGEST_CAPTION]
        elif one.tag == "table":
            inner.update(one.iter())
            tables.append(_read_table(one, figures.get(one), heading, shown_as))
    title = next((_text(one)[:_LONGEST_CAPTION] for one in page.iter("title")), None)
    return SourceDocument(tuple(number_tables(tables)), title or None)


def plain_text(markup: str) -> str:
    """Return the text of a piece of HTML, without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^<>]*>", " ", markup)).split())


class _PageParser(HTMLParser):
    """Makes a tree of a page in which every part of a table ends where a browser ends it; each element has its line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._builder = TreeBuilder()
        self._open = [self._builder.start("page", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element, after the end of what it ends."""
        inner = takewhile(lambda at: self._open[at].tag != "table", range(len(self._open) - 1, 0, -1))
        self._end(min((at for at in inner if self._open[at].tag in _ENDED.get(tag, ())), default=len(self._open)))
        if len(self._open) < _DEEPEST:
            given = {name: value or "" for name, value in attrs}
            self._open.append(self._builder.start(tag, {"data-line": str(self.getpos()[0]), **given}))
            self._end(len(self._open) - (tag in _VOID))

    def handle_endtag(self, tag: str) -> None:
        """End the innermost element of a tag, with what is open in it; what is in a table ends nothing around it."""
        inner = range(len(self._open) - 1, 0, -1)
        at = next((at for at in inner if self._open[at].tag in (tag, "table")), 0)
        if self._open[at].tag == tag:
            self._open[at].set("data-ended", "")
            self._end(at)

    def _end(self, at: int) -> None:
        for one in self._open[at:][::-1]:
            self._builder.end(one.tag)
        del self._open[at:]

    def handle_data(self, data: str) -> None:
        """Take text."""
        self._builder.data(data)

    def finish(self) -> Element:
        """Return the tree."""
        self._end(0)
        return self._builder.close()


def _read_table(table: Element, figure: Element | None, heading: str, shown_as: str) -> SourceTable:
    """Return a table with its own caption, or its figure's, or the heading that it is under."""
    titles = [table.find("caption"), figure.find(".//figcaption") if figure is not None else None]
    said = next((_text(one)[:_LONGEST_CAPTION] for one in titles if one is not None), None)
    label = (figure.get("id") if figure is not None else None) or table.get("id")
    caption = said if said is not None else table.get("data-caption") or heading
    made = make_table("", caption, list(_read_rows(table)), shown_as, _line(table), label)
    return replace(made, around=table.get("data-around") or "")


def _line(one: Element) -> int:
    return int(one.get("data-line") or 0)


def _read_rows(table: Element) -> Iterator[SourceRow]:
    hanging: dict[int, int] = {}  # by column, for how many more rows a cell above fills it
    for line, cells in _split_rows(table):
        row: list[SpanningCell] = []
        at = 0
        for cell in (*cells, None):
            while hanging.get(at, 0) > 0 and at < MOST_COLUMNS:
                row.append(SpanningCell(""))
                at += 1
            if cell is not None and at < MOST_COLUMNS:
                columns, rows = _span(cell[0], "colspan", MOST_COLUMNS), _span(cell[0], "rowspan", MOST_ROWS)
                row.append(SpanningCell(_text(cell[0]), columns, rows))
                hanging |= dict.fromkeys(range(at, at + columns), rows) if rows > 1 else {}
                at += columns
        hanging = {column: left - 1 for column, left in hanging.items() if left > 1}
        if any(one.text for one in row):
            yield SourceRow(line, tuple(row), head=all(cell.tag == "th" or in_head for cell, in_head in cells))


def _split_rows(table: Element) -> list[tuple[int, list[tuple[Element, bool]]]]:
    """Return each row's line and cells, with whether they are in the head; cells outside any row make one."""
    rows: list[tuple[int, list[tuple[Element, bool]]]] = []
    is_open = False  # whether a cell is of the last row
    for part, in_head in _parts(table, in_head=False):
        if part.tag == "tr" or (part.tag in _CELLS and not is_open):
            rows.append((_line(part), []))
        if part.tag in _CELLS:
            rows[-1][1].append((part, in_head))
        is_open = part.tag not in _GROUPS
    return rows


def _parts(one: Element, *, in_head: bool) -> Iterator[tuple[Element, bool]]:
    for child in one:
        if child.tag in _CELLS | _GROUPS | {"tr"}:
            yield child, in_head or child.tag == "thead"
        if child.tag not in _CELLS | {"table"}:
            yield from _parts(child, in_head=in_head or child.tag == "thead")


def _span(cell: Element, name: str, most: int) -> int:
    digits = re.fullmatch(r"\s*(\d{1,6})\s*", cell.get(name) or "", re.ASCII)
    return max(1, min(most, int(digits[1]))) if digits else 1


def _text(one: Element) -> str:
    return " ".join("".join(_pieces(one)).split())


def _pieces(one: Element) -> Iterator[str]:
    """Yield what an element prints; what is raised stands behind ^."""
    text = "".join([one.text or "", *(piece for child in one for piece in (*_pieces(child), child.tail or ""))])
    if one.tag == "math":
        yield to_text(one.get("alttext") or "")
    elif one.tag == "sup" and one.get("data-ended") is not None:
        yield text.strip() if text.strip()[:1] in MARKS else f"^{text.strip()}"
    elif one.tag not in _SILENT:
        yield f" {text}" if one.tag in _BREAKS else text


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
    return replace(read_web(page, shown_as), title=title[:200] or None, advice=_ADVICE)


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
    """Return the line above a table, after their heading; all of a paragraph that begins with the table's number."""
    number, text = split_number(plain_text(parser.renderInline(" ".join(paragraph.split("\n")))))
    if not number:
        text = plain_text(parser.renderInline(paragraph.rpartition("\n")[2]))
    return f"{number}{f'{heading}. {text}' if heading and text else heading or text}"[:300]
