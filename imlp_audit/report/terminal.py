"""Renders a document for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from typing import assert_never

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

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
    Paragraph,
    Picture,
    Plot,
    PrintedTable,
    Style,
    Table,
    faint,
    make_visible,
    one_line,
    spans,
)
from imlp_audit.report.formats import Surface

STYLES = {
    Style.PLAIN: "",
    Style.STRONG: "bold",
    Style.EMPHASIS: "italic",
    Style.CODE: "",
    Style.FAINT: "dim",
    Style.GOOD: "green",
    Style.DEPARTING: "cyan",
    Style.KNOWN: "yellow",
    Style.BAD: "bold red",
    Style.BROKEN: "bold magenta",
}
_STEP = 2  # columns that a nested list is indented by


def render_terminal(document: Document, surface: Surface) -> str:
    """Return a document as text for a terminal; prose is wrapped to its width."""
    out = StringIO()
    colour = surface.colour
    console = Console(
        file=out, width=surface.width, force_terminal=colour, no_color=not colour, highlight=False, legacy_windows=False
    )
    for at, block in enumerate(document):
        if at:
            console.print()
        _print(console, block)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().split("\n")[:-1])


def _print(console: Console, block: Block) -> None:
    match block:
        case Heading():
            console.print(_text(block.text), style="bold" if block.level <= 2 else "italic")
        case Paragraph():
            console.print(_text(block.text))
        case Table():
            _print_table(console, block)
        case List():
            _print_items(console, block.items, 0)
        case Picture():
            console.print(_text((*spans(block.caption), faint(f" (picture: {block.file})"))))
        case Plot():
            console.print(_text((*spans(block.caption), faint(" (plot: drawn by `imlp-audit report --dir DIR`)"))))
        case Code():
            _print_lines(console, (Text(make_visible(line)) for line in block.text.split("\n")))
        case PrintedTable():
            _print_table(console, block.summary)
            if block.listing is not None:
                console.print()
                _print_table(console, block.listing)
        case Fold():
            console.print(_text(block.summary), style="italic")
            for inner in block.blocks:
                console.print()
                _print(console, inner)
        case _:
            assert_never(block)


def _text(text: Inline) -> Text:
    pieces = ((one_line(span.text), STYLES[span.style]) for span in spans(text))
    return Text.assemble(*pieces, overflow="fold")


def _print_lines(console: Console, lines: Iterator[Text]) -> None:
    """Print lines as they are, however long."""
    for line in lines:
        console.print(line, soft_wrap=True)


def _print_table(console: Console, table: Table) -> None:
    if table.caption is not None:
        console.print(_text(table.caption), style="italic")
    if not table.header:
        _print_lines(console, _align(table))
        return
    framed = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name, align in zip(table.header, table.alignments, strict=True):
        right = align is Align.RIGHT
        framed.add_column(_text(name), justify="right" if right else "left", no_wrap=right)
    for row in table.rows:
        framed.add_row(*map(_text, row))
    console.print(framed)


def _align(table: Table) -> Iterator[Text]:
    """Yield the rows of a table as columns of equal width."""
    rows = [[_text(cell) for cell in row] for row in table.rows]
    widths = [max(cell_len(cell.plain) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        for cell, width, align in zip(row, widths, table.alignments, strict=True):
            space = width - cell_len(cell.plain)
            if align is Align.RIGHT:
                cell.pad_left(space)
            else:
                cell.pad_right(space)
        yield Text("  ").join(row)


def _print_items(console: Console, items: Sequence[Inline | Item], indent: int) -> None:
    """Print the entries of a list: labels in a column of their own, wrapped lines below their text."""
    entries = [item if isinstance(item, Item) else Item(item) for item in items]
    label_width = max((cell_len(entry.label) for entry in entries), default=0)
    for entry in entries:
        grid = RichTable.grid(padding=(0, 2 if label_width else 1, 0, 0))
        grid.add_column(width=label_width or 1, no_wrap=True)
        grid.add_column()
        lead = make_visible(entry.label) if label_width else "-"
        grid.add_row(Text(lead), _text(entry.text))
        console.print(Padding(grid, (0, 0, 0, indent)))
        if entry.items:
            _print_items(console, entry.items, indent + (label_width or 0) + _STEP)
