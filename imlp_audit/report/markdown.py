"""Renders a document as markdown, whole or in a short form that a comment takes. Content is escaped: it stays text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from imlp_audit.numbers.words import plural
from imlp_audit.report import document as doc

# an underscore inside a word is not markup, and `reproduced_under` reads better without a backslash
_MARKUP = re.compile(r"([\\`*|\[\]#~$_])(?<![A-Za-z0-9]_(?=[A-Za-z0-9]))")
_SPACES = re.compile("  +")
_AT_THE_START = re.compile(r"^(?:[-+=]|\d+(?=[.)]))")  # would begin a list, a rule or a heading
_WRAPPERS = {doc.Style.STRONG: "**", doc.Style.EMPHASIS: "*", doc.Style.BAD: "**", doc.Style.BROKEN: "**"}
_RULES = {doc.Align.LEFT: "---", doc.Align.RIGHT: "---:"}


def render_markdown(document: doc.Document) -> str:
    """Return a document as markdown, ending with a line break."""
    return _join(map(_render, document))


def _join(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _render(block: doc.Block) -> str:
    return "\n".join(_block(block))


def _block(block: doc.Block) -> Iterator[str]:
    match block:
        case doc.Heading():
            yield f"{'#' * block.level} {_inline(block.text)}"
        case doc.Paragraph():
            yield _paragraph(block.text)
        case doc.Table():
            yield from _table(block)
        case doc.List():
            yield from _items(block, 0)
        case doc.Code():
            yield from _code_block(block)
        case doc.MarkedTable():
            yield from _table(block.summary)
            if block.listing is not None:
                yield from ("", *_table(block.listing))
        case doc.Fold():
            yield _paragraph(block.summary)
            yield from (line for inner in block.blocks for line in ("", *_block(inner)))
        case _:
            assert_never(block)


def _paragraph(text: doc.Inline) -> str:
    """Escape what would turn a paragraph into another block."""
    return _AT_THE_START.sub(_escape_start, _inline(text))


def _escape_start(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdecimal() else f"\\{found[0]}"


def _inline(text: doc.Inline, *, in_table: bool = False) -> str:
    joined = "".join(_span(span, in_table=in_table) for span in doc.spans(text))
    return joined.strip(" ")


def _span(span: doc.Span, *, in_table: bool) -> str:
    text = _SPACES.sub(" ", doc.one_line(span.text))
    if span.style is doc.Style.CODE:
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


def _code_block(block: doc.Code) -> Iterator[str]:
    fence = "`" * max(3, _longest_run(block.text) + 1)
    yield f"{fence}{block.language}"
    yield from (doc.make_visible(line, keep="\t") for line in block.text.split("\n"))
    yield fence


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _table(table: doc.Table) -> Iterator[str]:
    width = len(table.alignments)
    yield _row(table.header or ("",) * width)
    yield f"| {' | '.join(_RULES[align] for align in table.alignments)} |"
    yield from map(_row, table.rows)


def _row(cells: Sequence[doc.Inline]) -> str:
    return f"| {' | '.join(_inline(cell, in_table=True) for cell in cells)} |"


def _items(block: doc.List, indent: int) -> Iterator[str]:
    for entry in block.entries:
        label = f"**{_inline(entry.label)}**: " if entry.label else ""
        yield f"{' ' * indent}- {label}{_inline(entry.text) if label else _paragraph(entry.text)}"
        yield from _items(doc.List(entry.items), indent + 2)


LIMIT = 60_000  # bytes of markdown
_SECTION = 2  # the level of a section's heading, below that of the title
_ALL = 10**9


@dataclass(frozen=True)
class _Extent:
    """How much is kept: rows of a table or items of a list, those of what a page folds, and characters of a text."""

    entries: int = _ALL
    folded: int = 0
    longest: int = 1000


_EXTENTS = (_Extent(folded=25), _Extent(), _Extent(5, longest=200), _Extent(1, longest=60), _Extent(0, longest=25))


def render_short(document: doc.Document, limit: int = LIMIT) -> str:
    """Return a report as at most so many bytes of markdown, ending with a line break."""
    shortened = document
    for extent in (None, *_EXTENTS):
        shortened = _shorten(document, extent) if extent is not None else document
        parts = tuple(_render_up_to(limit, shortened))
        if len(parts) == len(shortened):
            return _join(parts)
    note = _render(_NOTE)
    blocks = [block for block in shortened if block is not _NOTE]
    return _join((*_render_up_to(limit - len(note) - 2, blocks), note))


def _render_up_to(limit: int, blocks: Iterable[doc.Block]) -> Iterator[str]:
    """Yield the markdown of the first blocks, as many as take so many bytes with a blank line behind each."""
    for part in map(_render, blocks):
        limit -= len(part.encode()) + 2
        if limit < 0:
            return
        yield part


def _shorten(document: doc.Document, extent: _Extent) -> doc.Document:
    """Return a report with its first screen whole, which its first section ends, and a note behind that."""
    blocks: list[doc.Block] = []
    on_screen = False
    for block in document:
        if isinstance(block, doc.Heading) and block.level <= _SECTION:
            blocks += [_NOTE] if on_screen and _NOTE not in blocks else []
            on_screen = block.level < _SECTION
        blocks += (block,) if on_screen else _shorten_block(block, extent)
    return tuple(blocks)


def _shorten_block(block: doc.Block, extent: _Extent) -> Iterator[doc.Block]:
    match block:
        case doc.Heading() | doc.Paragraph():
            yield replace(block, text=_cut(block.text, 4 * extent.longest))
        case doc.Table():
            rows = tuple(tuple(_cut(cell, extent.longest) for cell in row) for row in block.rows[: extent.entries])
            yield from (replace(block, rows=rows),) if rows else ()
            yield from map(doc.Paragraph, _more(len(block.rows) - extent.entries, "row"))
        case doc.List():
            items = tuple(_shorten_item(item, extent.longest) for item in block.entries[: extent.entries])
            yield doc.List((*items, *_more(len(block.items) - extent.entries, "item")))
        case doc.MarkedTable():
            most = 30 * extent.entries + 3
            yield replace(block, rows=block.rows[:most], listing=None)
            yield from map(doc.Paragraph, _more(len(block.rows) - most, "row"))
            measured = len(block.listing.rows) if block.listing is not None else 0
            yield from map(doc.Paragraph, _more(measured, "row", " with what was measured for these numbers"))
        case doc.Fold():
            folded = extent.entries if block.kept else extent.folded
            if folded:
                inside = replace(extent, entries=folded)
                yield doc.Fold(
                    block.summary, tuple(one for each in block.blocks for one in _shorten_block(each, inside))
                )
            else:
                count = sum(map(_count_entries, block.blocks))
                yield doc.Paragraph((*doc.spans(block.summary), ": ", doc.Span(f"{count} more", doc.Style.EMPHASIS)))
        case doc.Code():
            yield block
        case _:
            assert_never(block)


def _shorten_item(item: doc.Item, longest: int) -> doc.Item:
    below = tuple(_shorten_item(one, longest) for one in doc.List(item.items).entries)
    return doc.Item(_cut(item.text, longest), below, item.label)


def _more(count: int, noun: str, what: str = "") -> Iterator[doc.Inline]:
    if count > 0:
        yield (doc.Span(f"{count} more", doc.Style.EMPHASIS), f" {noun if count == 1 else plural(noun)}{what}")


def _cut(text: doc.Inline, left: int) -> doc.Inline:
    if len(doc.plain_text(text)) <= left:
        return text
    kept: list[doc.Span] = []
    for span in doc.spans(text):
        if left > 0:  # three dots need a character before them
            kept.append(replace(span, text=doc.shorten(span.text, max(left, 4))))
        left -= len(span.text)
    return tuple(kept)


def _count_entries(block: doc.Block) -> int:
    match block:
        case doc.Table():
            return len(block.rows)
        case doc.List():
            return len(block.items)
        case _:
            return 1


_NOTE = doc.Paragraph(
    (
        "Short form: rows and items are left out (marked “more”), and long texts are cut (ending in three dots). ",
        doc.code("imlp-audit report SPEC -o page.html"),
        " writes all of it as a page; ",
        doc.code("imlp-audit explain ID"),
        " explains one check.",
    )
)
