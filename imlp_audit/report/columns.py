"""Lays out a table in columns, or as a list where its columns don't fit into the width without cutting words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TypeAlias

from imlp_audit.report.document import Align
from imlp_audit.report.lines import Line, plain, restyle, styled, width_of
from imlp_audit.report.wrapping import longest_word, wrap

_GAP, _WIDE_GAP = 2, 3  # spaces between columns; more where there is room
_PROSE = 20  # columns that a text of several words needs to be readable
_WORD = 44  # columns that a word gets before it is broken: most ids fit

Row: TypeAlias = Sequence[Line]


def lay_out(header: Row, rows: Sequence[Row], aligns: Sequence[Align], width: int, rule: str) -> Iterator[Line]:
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
    yield from _lines([restyle(cell, "bold") for cell in header], widths, aligns, gap)
    yield styled(rule * _total(widths, gap), "dim")
    for row in rows:
        yield from _lines(row, widths, aligns, gap)


def align(rows: Sequence[Row], aligns: Sequence[Align], width: int | None) -> Iterator[Line]:
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


def indent(lines: Sequence[Line], columns: int) -> Iterator[Line]:
    """Yield lines with spaces before them."""
    yield from (styled(" " * columns) + line for line in lines)


def _natural(rows: Sequence[Row]) -> list[int]:
    return [max(width_of(plain(cell)) for cell in column) for column in zip(*rows, strict=True)]


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _fit(rows: Sequence[Row], aligns: Sequence[Align], width: int) -> list[int]:
    """Return the widths of columns of which some are wrapped; none if they don't fit side by side."""
    natural = _natural(rows)
    least = [
        wanted
        if one is Align.RIGHT
        else min(wanted, max(_PROSE, min(_WORD, max(longest_word(plain(c)) for c in column))))
        for wanted, one, column in zip(natural, aligns, zip(*rows, strict=True), strict=True)
    ]
    spare = width - _total(least, _GAP)
    if spare < 0:
        return []
    missing = [most - some for most, some in zip(natural, least, strict=True)]
    if sum(missing) <= spare:
        return natural
    return [some + spare * more // sum(missing) for some, more in zip(least, missing, strict=True)]


def _lines(row: Row, widths: Sequence[int], aligns: Sequence[Align], gap: int) -> Iterator[Line]:
    """Yield the lines of a row, its cells wrapped within their columns."""
    cells = [wrap(cell, max(width, 1)) for cell, width in zip(row, widths, strict=True)]
    for parts in zip_longest(*cells):
        line: Line = ()
        for at, (part, width, one) in enumerate(zip(parts, widths, aligns, strict=True)):
            text = part or ()
            space = styled(" " * (width - width_of(plain(text))))
            line += styled(" " * gap) if at else ()
            line += space + text if one is Align.RIGHT else text + space
        yield line


def _as_entry(header: Row, row: Row, width: int) -> Iterator[Line]:
    """Yield a row as an entry of a list: the first cell with text, below it the others after their columns' names."""
    cells = [(name, cell) for name, cell in zip(header, row, strict=True) if plain(cell).strip()]
    if not cells:
        return
    (_, first), *rest = cells
    yield from _hang(first, width)
    parts = [restyle(styled(f"{plain(name)}: " if plain(name) else "") + cell, "dim") for name, cell in rest]
    if parts:
        separated = [piece for part in parts for piece in (*styled("; "), *part)][1:]
        yield from indent(wrap(tuple(separated), max(width - 2 * _GAP, 1)), 2 * _GAP)


def _hang(text: Line, width: int) -> Iterator[Line]:
    lead, *rest = wrap(text, max(width - _GAP, 1))
    yield styled("- ") + lead
    yield from indent(rest, _GAP)
