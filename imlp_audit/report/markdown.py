"""Renders a document as markdown, whole or in a short form that a comment takes. Content is escaped: it stays text."""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import assert_never
from urllib.parse import quote

from imlp_audit.numbers.words import count_of
from imlp_audit.report.document import (
    Align,
    Block,
    Code,
    Document,
    Fold,
    Heading,
    Inline,
    Item,
    List,
    MarkedTable,
    Paragraph,
    Picture,
    Span,
    Style,
    Table,
    code,
    emphasis,
    make_visible,
    one_line,
    plain_text,
    spans,
)
from imlp_audit.report.text import shorten

# an underscore inside a word is not markup, and `reproduced_under` reads better without a backslash
_MARKUP = re.compile(r"([\\`*|\[\]#~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_AT_THE_START = re.compile(r"^(?:[-+=]|\d+(?=[.)]))")  # would begin a list, a rule or a heading
_WRAPPERS = {Style.STRONG: "**", Style.EMPHASIS: "*", Style.BAD: "**", Style.BROKEN: "**"}
_RULES = {Align.LEFT: "---", Align.RIGHT: "---:"}


def render_markdown(document: Document) -> str:
    """Return a document as markdown, ending with a line break."""
    return "\n\n".join("\n".join(_block(block)) for block in document) + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {_inline(block.text)}"
        case Paragraph():
            yield _paragraph(block.text)
        case Table():
            yield from _table(block)
        case List():
            yield from _items(block.items, 0)
        case Picture():
            yield f"![{_inline(block.caption)}]({_target(block.file)})"
        case Code():
            yield from _code_block(block)
        case MarkedTable():
            yield from _table(block.summary)
            if block.listing is not None:
                yield from ("", *_table(block.listing))
        case Fold():
            yield _paragraph(block.summary)
            yield from (line for inner in block.blocks for line in ("", *_block(inner)))
        case _:
            assert_never(block)


def _paragraph(text: Inline) -> str:
    """Escape what would turn a paragraph into another block."""
    return _AT_THE_START.sub(_escape_start, _inline(text))


def _escape_start(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdecimal() else f"\\{found[0]}"


def _inline(text: Inline, *, in_table: bool = False) -> str:
    joined = "".join(_span(span, in_table=in_table) for span in spans(text))
    return joined.strip(" ")


def _span(span: Span, *, in_table: bool) -> str:
    text = re.sub(" +", " ", one_line(span.text))
    if span.style is Style.CODE:
        return _code_span(text, in_table=in_table)
    escaped = html.escape(_MARKUP.sub(r"\\\1", text), quote=False)
    inner = escaped.strip()
    if not inner or span.style not in _WRAPPERS:
        return escaped
    wrapper = _WRAPPERS[span.style]  # spaces inside of the stars would undo them
    return escaped.replace(inner, f"{wrapper}{inner}{wrapper}", 1)


def _code_span(text: str, *, in_table: bool) -> str:
    """Return code between more backticks than it holds in a row; within a table its bars are escaped."""
    if not text.strip():
        return text
    fence = "`" * (_longest_run(text) + 1)
    padding = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{padding}{text.replace('|', chr(92) + '|') if in_table else text}{padding}{fence}"


def _code_block(block: Code) -> Iterator[str]:
    fence = "`" * max(3, _longest_run(block.text) + 1)
    yield f"{fence}{block.language}"
    yield from (make_visible(line, keep="\t") for line in block.text.split("\n"))
    yield fence


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _table(table: Table) -> Iterator[str]:
    if table.caption is not None:
        yield from (_paragraph(table.caption), "")
    width = len(table.alignments)
    yield _row(table.header or ("",) * width)
    yield f"| {' | '.join(_RULES[align] for align in table.alignments)} |"
    yield from map(_row, table.rows)


def _row(cells: Sequence[Inline]) -> str:
    return f"| {' | '.join(_inline(cell, in_table=True) for cell in cells)} |"


def _items(items: Sequence[Inline | Item], indent: int) -> Iterator[str]:
    for item in items:
        entry = item if isinstance(item, Item) else Item(item)
        label = f"**{_inline(entry.label)}**: " if entry.label else ""
        yield f"{' ' * indent}- {label}{_inline(entry.text) if label else _paragraph(entry.text)}"
        yield from _items(entry.items, indent + 2)


def _target(file: str) -> str:
    """Return a file's name as the target of a link."""
    return quote(file, safe="/._-", errors="replace")


LIMIT = 60_000  # bytes of markdown
_ALL = 10**9


@dataclass(frozen=True)
class Extent:
    """How much of a report is kept.

    `listings` are the measurements below a paper's table, `entries` the rows of a table or the items of a list,
    `folds` those of what a page shows when it is opened, `evidence` those of a finding, `rows` those of a paper's
    table, `longest` the characters of a text in them, and `why` those of a paragraph.
    """

    listings: bool = False
    folds: int = 0
    entries: int = _ALL
    evidence: int = _ALL
    rows: int = _ALL
    longest: int = _ALL
    why: int = _ALL


_EXTENTS = (
    Extent(listings=True, folds=_ALL),
    Extent(folds=_ALL, longest=1000),
    Extent(folds=25, longest=1000),
    Extent(folds=6, longest=1000),
    Extent(longest=1000),
    Extent(entries=40, evidence=40, longest=700),
    Extent(entries=25, evidence=25, longest=500),
    Extent(entries=15, evidence=15, longest=400),
    Extent(entries=10, evidence=12, longest=300),
    Extent(entries=7, evidence=10, longest=250),
    Extent(entries=5, evidence=8, longest=200),
    Extent(entries=3, evidence=6, longest=160),
    Extent(entries=3, evidence=4, rows=60, longest=160, why=1000),
    Extent(entries=2, evidence=2, rows=30, longest=120, why=500),
    Extent(entries=1, evidence=1, rows=10, longest=120, why=200),
    Extent(entries=0, evidence=0, rows=3, longest=100, why=100),
)


class Role(StrEnum):
    """What a part of a report is: the first screen is never shortened, and findings keep more than the rest."""

    SCREEN = "screen"
    FINDINGS = "findings"
    REST = "rest"


@dataclass(frozen=True)
class ReportPart:
    """A part of a report."""

    role: Role
    blocks: Document


def shorten_report(parts: Sequence[ReportPart], limit: int = LIMIT) -> Document:
    """Return the parts of a report as one document that takes at most so many bytes of markdown."""

    def shorten_to(extent: Extent) -> Document:
        return _Shortener(extent).shorten(parts)

    fitting = bisect_left(_EXTENTS, True, key=lambda extent: _size(shorten_to(extent)) <= limit)
    if fitting < len(_EXTENTS):
        return shorten_to(_EXTENTS[fitting])
    return _keep_first(shorten_to(_EXTENTS[-1]), limit)


def _size(document: Document) -> int:
    return len(render_markdown(document).encode())


def _keep_first(document: Document, limit: int) -> Document:
    """Return the first blocks of a document that fit, and a line that counts the others."""
    room = limit - _size((_note(10**6, 10**6),))
    sizes = accumulate(_size((block,)) + 1 for block in document)  # blocks are apart by a blank line
    kept = [block for block, end in zip(document, sizes, strict=True) if end <= room]
    return (*kept, _note(sum(map(_entries, document[len(kept) :])), 0))


class _Shortener:
    """Shortens blocks, and counts what it leaves out and the texts that it cuts."""

    def __init__(self, extent: Extent) -> None:
        self.extent = extent
        self.left_out = self.cut = 0

    def shorten(self, parts: Sequence[ReportPart]) -> Document:
        """Return the parts as one document, with a note after the first screen if something is missing."""
        blocks: list[Block] = []
        screen = 0
        for part in parts:
            if part.role is Role.SCREEN:
                blocks += part.blocks
                screen = screen or len(blocks)
            else:
                blocks += (one for block in part.blocks for one in self._block(block, part.role))
        note = (_note(self.left_out, self.cut),) if self.left_out or self.cut else ()
        return (*blocks[:screen], *note, *blocks[screen:])

    def _block(self, block: Block, role: Role, most: int | None = None) -> Iterator[Block]:
        """Yield a block with at most so many entries."""
        evidence = role is Role.FINDINGS
        entries = most if most is not None else self.extent.evidence if evidence else self.extent.entries
        match block:
            case Heading():
                yield replace(block, text=self._text(block.text, self.extent.why))
            case Paragraph():
                yield Paragraph(self._text(block.text, self.extent.why))
            case Table():
                yield from self._table(block, entries)
            case List():
                yield self._list(block, entries)
            case MarkedTable():
                yield from self._printed_table(block)
            case Fold():
                yield from self._fold(block, role, entries if evidence else self.extent.folds)
            case Picture() | Code():
                yield block
            case _:
                assert_never(block)

    def _table(self, table: Table, most: int) -> Iterator[Block]:
        rows = tuple(tuple(map(self._text, row)) for row in table.rows[:most])
        if rows:
            yield replace(table, rows=rows)
        yield from self._more(len(table.rows) - most, "row")

    def _list(self, block: List, most: int) -> Block:
        kept = tuple(map(self._item, block.items[:most]))
        return List((*kept, *(_text_of(one) for one in self._more(len(block.items) - most, "item"))))

    def _item(self, item: Inline | Item) -> Inline | Item:
        if not isinstance(item, Item):
            return self._text(item)
        return Item(self._text(item.text), tuple(map(self._item, item.items)), item.label)

    def _printed_table(self, block: MarkedTable) -> Iterator[Block]:
        listing = block.listing
        yield replace(block, rows=block.rows[: self.extent.rows], listing=listing if self.extent.listings else None)
        yield from self._more(len(block.rows) - self.extent.rows, "row")
        if listing is not None and not self.extent.listings:
            yield from self._more(len(listing.rows), "row", " with what was measured for these numbers")

    def _fold(self, block: Fold, role: Role, most: int) -> Iterator[Block]:
        if most:
            yield Fold(block.summary, tuple(one for inner in block.blocks for one in self._block(inner, role, most)))
        else:
            count = sum(map(_entries, block.blocks))
            self.left_out += count
            yield Paragraph((*spans(block.summary), ": ", emphasis(f"{count} more")))

    def _more(self, count: int, noun: str, what: str = "") -> Iterator[Paragraph]:
        """Yield a line that counts what is left out here, if anything is."""
        if count > 0:
            self.left_out += count
            plural = count_of(count, noun).removeprefix(f"{count} ")
            yield Paragraph((emphasis(f"{count} more"), f" {plural}{what}"))

    def _text(self, text: Inline, most: int | None = None) -> Inline:
        left = self.extent.longest if most is None else most
        if len(plain_text(text)) <= left:
            return text
        self.cut += 1
        kept: list[Span] = []
        for span in spans(text):
            if left > 0:
                kept.append(replace(span, text=shorten(span.text, max(left, _DOTS))))
            left -= len(span.text)
        return tuple(kept)


_DOTS = 4  # characters that a text of three dots needs at least


def _text_of(paragraph: Paragraph) -> Inline:
    return paragraph.text


def _entries(block: Block) -> int:
    """Count the rows and items of a block; a block without any is one."""
    match block:
        case Table():
            return len(block.rows)
        case List():
            return len(block.items)
        case MarkedTable():
            return len(block.rows) + (len(block.listing.rows) if block.listing else 0)
        case Fold():
            return sum(map(_entries, block.blocks))
        case Heading() | Paragraph() | Picture() | Code():
            return 1
        case _:
            assert_never(block)


def _note(left_out: int, cut: int) -> Paragraph:
    """Say how much is missing, and where it is."""
    missing = [
        *([f"{count_of(left_out, 'row')} and items left out (marked “more”)"] if left_out else []),
        *([f"{count_of(cut, 'long text')} cut (ending in three dots)"] if cut else []),
    ]
    return Paragraph(
        (
            f"Short form, with {' and '.join(missing)}. ",
            code("imlp-audit report SPEC -o page.html"),
            " writes all of it as a page; ",
            code("imlp-audit explain ID"),
            " explains one check.",
        )
    )
