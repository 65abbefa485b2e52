"""Renders a document as markdown. Content is escaped: whatever a paper or a file says stays text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import assert_never
from urllib.parse import quote

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
    Plot,
    Span,
    Style,
    Table,
    VerdictGrid,
    make_visible,
    one_line,
    spans,
)

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
        case Picture() | Plot():
            yield f"![{_inline(block.caption)}]({_target(block.file)})"
        case Code():
            yield from _code_block(block)
        case MarkedTable():
            yield from _table(block.summary)
            if block.listing is not None:
                yield from ("", *_table(block.listing))
        case VerdictGrid():
            yield from _table(block.summary)
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
