"""Renders a document for a terminal with rich: its tables, its wrapping, its colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING, Literal, assert_never

from imlp_audit.report import document as doc

if TYPE_CHECKING:  # `list` and `lint` print without rich, which takes as long to import as they take
    from rich.console import Console, RenderableType
    from rich.text import Text

STYLES = {
    doc.Style.PLAIN: "",
    doc.Style.STRONG: "bold",
    doc.Style.EMPHASIS: "italic",
    doc.Style.CODE: "",
    doc.Style.FAINT: "dim",
    doc.Style.GOOD: "green",
    doc.Style.DEPARTING: "cyan",
    doc.Style.KNOWN: "magenta",
    doc.Style.BAD: "bold red",
    doc.Style.BROKEN: "bold red reverse",
}


@dataclass(frozen=True)
class Surface:
    """What a text is shown on: its width in characters, and whether it shows colours."""

    width: int = 120
    colour: bool = False


_SPACED = 2  # headings below this level stand close to what they head
_PROSE = 20  # columns that a text of several words needs to be readable
_GAP = 2  # spaces between columns
_GROUPS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")  # the spaces within 5 717 416, at which no line may break
_HELD = "\uffff"  # stands for them meanwhile: `one_line` lets no such character through


def render_terminal(document: doc.Document, surface: Surface) -> str:
    """Return a document as text for a terminal; prose is wrapped to its width."""
    renderer, parts = _Renderer(surface), list[str]()
    for block in document:
        close = isinstance(block, doc.Heading) and block.level > _SPACED
        parts += [renderer.render(block), "" if close else "\n"]
    return "".join(parts[:-1])


class _Renderer:
    """Turns blocks into text by way of what rich prints."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface

    @cached_property
    def console(self) -> Console:
        """The console that things are printed on; where nothing needs it, rich is not imported."""
        from rich.console import Console

        colours: Literal["standard"] | None = "standard" if self.surface.colour else None
        return Console(
            file=StringIO(), width=self.surface.width, force_terminal=self.surface.colour, color_system=colours,
            no_color=False, legacy_windows=False,
        )  # fmt: skip

    def render(self, block: doc.Block) -> str:
        """Return a block as text."""
        match block:
            case doc.Code():
                text = doc.make_visible(block.text, keep="\n")
            case doc.Table(header=()):
                text = _write_listing([[doc.one_line(doc.plain_text(cell)) for cell in row] for row in block.rows])
            case _:
                with self.console.capture() as printed:
                    for part in self.parts(block):
                        self.console.print(part)
                text = printed.get().removesuffix("\n").replace(_HELD, " ")
        return "".join(f"{line.rstrip()}\n" for line in text.split("\n"))

    def parts(self, block: doc.Block) -> Iterator[RenderableType]:
        """Yield a block as what rich prints one below the other."""
        from rich.text import Text

        match block:
            case doc.Heading():
                yield self.make_text(block.text, "bold" if block.level <= _SPACED else "italic")
            case doc.Paragraph():
                yield self.make_text(block.text)
            case doc.Table():
                yield self.make_table(block)
            case doc.List():
                yield self.make_list(block)
            case doc.MarkedTable():
                yield self.make_table(block.summary)
                yield from ("", self.make_table(block.listing)) if block.listing is not None else ()
            case doc.Fold():
                yield self.make_text(block.summary, "italic")
                yield from (part for inner in block.blocks for part in ("", *self.parts(inner)))
            case doc.Code():  # within a fold
                yield Text(doc.make_visible(block.text, keep="\n"), no_wrap=True, overflow="ignore")
            case _:
                assert_never(block)

    def make_text(self, text: doc.Inline, style: str = "") -> Text:
        """Return text in its styles."""
        from rich.text import Text

        shown = Text(style=style)
        for span in doc.spans(text):
            shown.append(_GROUPS.sub(_HELD, doc.one_line(span.text)), STYLES[span.style])
        return shown

    def make_table(self, table: doc.Table) -> RenderableType:
        """Return a table; a list of its rows where the columns do not fit side by side without cutting words."""
        from rich import box
        from rich.table import Table as Columns

        rows = [[self.make_text(cell) for cell in row] for row in (table.header, *table.rows)]
        widths = self._fit(rows, table.alignments)
        if not widths:
            return self.make_list(doc.List(tuple(_row_as_item(table, row) for row in table.rows)))
        columns = Columns(
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1, 0, 0),
            border_style="dim",
            header_style="bold",
        )
        for name, width, align in zip(rows[0], widths, table.alignments, strict=True):
            columns.add_column(name, width=width, justify="right" if align is doc.Align.RIGHT else "left")
        for row in rows[1:]:
            columns.add_row(*row)
        return columns

    def _fit(self, rows: Sequence[Sequence[Text]], alignments: Sequence[doc.Align]) -> list[int]:
        """Return the widths of columns, of which some are wrapped between words; none if they don't fit."""
        from rich.measure import measure_renderables

        sizes = [measure_renderables(self.console, self.console.options, column) for column in zip(*rows, strict=True)]
        least = [
            one.maximum if align is doc.Align.RIGHT else min(one.maximum, max(_PROSE, one.minimum))
            for one, align in zip(sizes, alignments, strict=True)
        ]
        missing = [one.maximum - some for one, some in zip(sizes, least, strict=True)]
        spare = self.surface.width - sum(least) - _GAP * (len(least) - 1)
        if spare < 0:
            return []
        share = min(1, spare / sum(missing)) if any(missing) else 0
        return [some + int(share * more) for some, more in zip(least, missing, strict=True)]

    def make_list(self, block: doc.List) -> RenderableType:
        """Return a list: labels in a column of their own, and what stands below an entry below its text."""
        from rich.console import Group
        from rich.table import Table as Columns

        labelled = any(entry.label for entry in block.entries)
        columns = Columns.grid(padding=(0, 2 if labelled else 1, 0, 0))
        columns.add_column(no_wrap=not labelled, overflow="fold")  # an id that is cut cannot be copied
        columns.add_column(overflow="fold")
        for entry in block.entries:
            below = [self.make_list(doc.List(entry.items))] if entry.items else []
            columns.add_row(self.make_text(entry.label if labelled else "-"), Group(self.make_text(entry.text), *below))
        return columns


def _write_listing(rows: Sequence[Sequence[str]]) -> str:
    """Write a listing, which programs may read: a line for each row, however wide the terminal is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)) for row in rows)


def _row_as_item(table: doc.Table, row: Sequence[doc.Inline]) -> doc.Item:
    """Return a row as an entry of a list: its first text, and below it the other cells after their columns' names."""
    order = sorted(range(len(row)), key=lambda at: table.alignments[at] is doc.Align.RIGHT)
    first = next((at for at in order if doc.plain_text(row[at]).strip()), 0)
    rest = [
        ((doc.faint(f"{doc.plain_text(name)}: "),) if doc.plain_text(name) else ()) + doc.spans(cell)
        for at, (name, cell) in enumerate(zip(table.header, row, strict=True))
        if at != first and doc.plain_text(cell).strip()
    ]
    return doc.Item(row[first], (doc.join(rest, "; "),) if rest else ())
