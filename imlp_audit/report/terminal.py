"""Renders a document for a terminal: nothing is wider than the terminal, and no word is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from typing import assert_never

from imlp_audit.report.characters import to_encoding
from imlp_audit.report.columns import align, indent, lay_out
from imlp_audit.report.document import (
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
    Style,
    Table,
    VerdictGrid,
    faint,
    make_visible,
    one_line,
    spans,
)
from imlp_audit.report.formats import Surface
from imlp_audit.report.lines import Line, plain, restyle, styled, width_of
from imlp_audit.report.wrapping import wrap

STYLES = {
    Style.PLAIN: "",
    Style.STRONG: "bold",
    Style.EMPHASIS: "italic",
    Style.CODE: "",
    Style.FAINT: "dim",
    Style.GOOD: "green",
    Style.DEPARTING: "cyan",
    Style.KNOWN: "magenta",
    Style.BAD: "bold red",
    Style.BROKEN: "bold red reverse",
}
_STEP = 2  # columns that a nested list is indented by
_SPACED = 2  # headings below this level stand close to what they head


def render_terminal(document: Document, surface: Surface) -> str:
    """Return a document as text for a terminal; prose is wrapped to its width."""
    close, lines = True, list[Line]()
    for block in document:
        lines += [] if close else [()]
        lines += _Renderer(surface).lines(block)
        close = isinstance(block, Heading) and block.level > _SPACED
    return "".join(f"{line.rstrip()}\n" for line in (_coloured(lines) if surface.colour else map(plain, lines)))


def _coloured(lines: Sequence[Line]) -> list[str]:
    """Return lines with the codes of their colours."""
    from rich.console import Console
    from rich.text import Text

    out = StringIO()
    console = Console(file=out, force_terminal=True, highlight=False, legacy_windows=False)
    for line in lines:
        console.print(Text.assemble(*line), soft_wrap=True)
    return out.getvalue().split("\n")[:-1]


class _Renderer:
    """Turns blocks into lines for one surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._width = surface.width

    def lines(self, block: Block) -> Iterator[Line]:
        """Yield the lines of a block."""
        match block:
            case Heading():
                yield from self._wrap(block.text, style="bold" if block.level <= _SPACED else "italic")
            case Paragraph():
                yield from self._wrap(block.text)
            case Table():
                yield from self._table(block)
            case List():
                yield from self._items(block.items, 0)
            case Picture():
                yield from self._wrap((*spans(block.caption), faint(f" (picture: {block.file})")))
            case Plot():
                note = faint(" (plot: drawn by `imlp-audit report --dir DIR`)")
                yield from self._wrap((*spans(block.caption), note))
            case Code():
                yield from (styled(self._encode(make_visible(line))) for line in block.text.split("\n"))
            case MarkedTable():
                yield from self._table(block.summary)
                if block.listing is not None:
                    yield ()
                    yield from self._table(block.listing)
            case VerdictGrid():
                yield from self._table(block.summary)
            case Fold():
                yield from self._wrap(block.summary, style="italic")
                for inner in block.blocks:
                    yield ()
                    yield from self.lines(inner)
            case _:
                assert_never(block)

    def _encode(self, text: str) -> str:
        return to_encoding(text, self._surface.encoding)

    def _line(self, text: Inline) -> Line:
        if isinstance(text, str):
            return styled(self._encode(one_line(text)))
        return tuple((self._encode(one_line(span.text)), STYLES[span.style]) for span in spans(text))

    def _wrap(self, text: Inline, style: str = "") -> Iterator[Line]:
        yield from (restyle(line, style) for line in wrap(self._line(text), self._width))

    def _table(self, table: Table) -> Iterator[Line]:
        if table.caption is not None:
            yield from self._wrap(table.caption, style="italic")
        rows = [[self._line(cell) for cell in row] for row in table.rows]
        if table.header:
            header = [self._line(name) for name in table.header]
            yield from lay_out(header, rows, table.alignments, self._width, self._encode("─"))
        elif rows:
            yield from align(rows, table.alignments, None if self._surface.piped else self._width)

    def _items(self, items: Sequence[Inline | Item], columns: int) -> Iterator[Line]:
        """Yield the entries of a list: labels in a column of their own, wrapped lines below their text."""
        entries = [item if isinstance(item, Item) else Item(item) for item in items]
        labels = [self._encode(make_visible(entry.label)) for entry in entries]
        widest = max(map(width_of, labels), default=0)
        lead = widest + 2 if widest else _STEP
        for label, entry in zip(labels, entries, strict=True):
            first, *rest = wrap(self._line(entry.text), max(self._width - columns - lead, 1))
            marker = label if widest else "-"
            padded = styled(marker + " " * (lead - width_of(marker)))
            yield from indent([padded + first], columns)
            yield from indent(rest, columns + lead)
            yield from self._items(entry.items, columns + (widest or 0) + _STEP)
