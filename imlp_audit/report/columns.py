"""Lays out a table in columns, or as a list where its columns don't fit into the width without cutting words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TypeAlias

from rich.cells import cell_len
from rich.text import Text

from imlp_audit.report.document import Align
from imlp_audit.report.wrapping import longest_word, wrap

_GAP, _WIDE_GAP = 2, 3  # spaces between columns; more where there is room
_PROSE = 20  # columns that a text of several words needs to be readable
_WORD = 44  # columns that a word gets before it is broken: most ids fit

Row: TypeAlias = Sequence[Text]


def lay_out(header: Row, rows: Sequence[Row], aligns: Sequence[Align], width: int, rule: str) -> Iterator[Text]:
    """Yield the lines of a table, its header in bold above a rule."""
    widths = _natural([header, *rows])
    gap = _WIDE_GAP
    if _total(widths, gap) > width:
        widths, gap = _fit([header, *rows], aligns, width), _GAP
    if not widths:
        first = next((at for at, one in enumerate(aligns) if one is Align.LEFT), 0)  # a name, not a number
        order = (first, *(at for at in range(len(aligns)) if at != first))
        for row in rows:
            yield from _as_entry([header[at] for at in order], [row[at] for at in order], width)
        return
    for cell in header:
        cell.stylize("bold")
    yield from _lines(header, widths, aligns, gap)
    yield Text(rule * _total(widths, gap), style="dim")
    for row in rows:
        yield from _lines(row, widths, aligns, gap)


def align(rows: Sequence[Row], aligns: Sequence[Align], width: int | None) -> Iterator[Text]:
    """Yield the lines of a listing in columns; where it is wider than `width`, further cells stand below the first."""
    widths = _natural(rows)
    fits = width is None or _total(widths, _GAP) <= width
    for row in rows:
        if fits or width is None:
            yield from _lines(row, widths, aligns, _GAP)
        else:
            yield from wrap(row[0], width)
            for cell in row[1:]:
                yield from indent(wrap(cell, width - _GAP), _GAP)


def indent(lines: Sequence[Text], columns: int) -> Iterator[Text]:
    """Yield lines with spaces before them."""
    yield from (Text(" " * columns).append_text(line) for line in lines)


def _natural(rows: Sequence[Row]) -> list[int]:
    return [max(cell_len(cell.plain) for cell in column) for column in zip(*rows, strict=True)]


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _fit(rows: Sequence[Row], aligns: Sequence[Align], width: int) -> list[int]:
    """Return the widths of columns of which some are wrapped; none if they don't fit side by side."""
    natural = _natural(rows)
    least = [
        wanted
        if one is Align.RIGHT
        else min(wanted, max(_PROSE, min(_WORD, max(longest_word(c.plain) for c in column))))
        for wanted, one, column in zip(natural, aligns, zip(*rows, strict=True), strict=True)
    ]
    spare = width - _total(least, _GAP)
    if spare < 0:
        return []
    missing = [most - some for most, some in zip(natural, least, strict=True)]
    if sum(missing) <= spare:
        return natural
    return [some + spare * more // sum(missing) for some, more in zip(least, missing, strict=True)]


def _lines(row: Row, widths: Sequence[int], aligns: Sequence[Align], gap: int) -> Iterator[Text]:
    """Yield the lines of a row, its cells wrapped within their columns."""
    cells = [wrap(cell, max(width, 1)) for cell, width in zip(row, widths, strict=True)]
    for parts in zip_longest(*cells):
        line = Text()
        for at, (part, width, one) in enumerate(zip(parts, widths, aligns, strict=True)):
            text = Text() if part is None else part
            space = " " * (width - cell_len(text.plain))
            line.append(" " * gap if at else "")
            line.append_text(Text(space).append_text(text) if one is Align.RIGHT else text.append(space))
        yield line


def _as_entry(header: Row, row: Row, width: int) -> Iterator[Text]:
    """Yield a row as an entry of a list: the first cell with text, below it the others after their columns' names."""
    cells = [(name, cell) for name, cell in zip(header, row, strict=True) if cell.plain.strip()]
    if not cells:
        return
    (_, first), *rest = cells
    yield from _hang(first, width)
    parts = [Text(f"{name.plain}: " if name.plain else "", style="dim").append_text(cell) for name, cell in rest]
    if parts:
        yield from indent(wrap(Text("; ").join(parts), max(width - 2 * _GAP, 1)), 2 * _GAP)


def _hang(text: Text, width: int) -> Iterator[Text]:
    lead, *rest = wrap(text, max(width - _GAP, 1))
    yield Text("- ").append_text(lead)
    yield from indent(rest, _GAP)
