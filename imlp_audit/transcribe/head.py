"""A table of rows: which of them are its headings, at its top or repeated further down, and which its titles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.transcribe.decimal_mark import find_decimal, with_points
from imlp_audit.transcribe.grid import GridRow, SourceRow, SourceTable, lay_out

_MOST_HEAD = 4


def make_table(
    number: str, caption: str, source: Sequence[SourceRow], file: str, line: int, label: str | None = None
) -> SourceTable:
    """Return a table of rows, the first of which are its headings; titles above them stand over the rows below."""
    grid = lay_out(source)
    rows = source[: len(grid)]
    titles = _count_titles(rows, grid)
    head = titles + _split_head(rows[titles:])
    width = len(grid[0].cells) if grid else 0
    headings = _Headings(join_headings(grid[titles:head], width), tuple(grid[titles:head]))
    body = _read_body(rows[head:], grid[head:], headings)
    notes = [f"only the first {len(grid)} rows are read"] if len(source) > len(grid) else []
    every = [*grid[:titles], *body.rows]
    period = _find_period(headings.joined)
    if period < width:
        every = [part for at in range(0, width, period) for part in _cut_rows(every, at, at + period)]
        notes.append(f"{width // period} tables stand side by side; they are read one below the other")
    decimal = find_decimal(every)
    if decimal == ",":
        every = list(with_points(every))
        notes.append('the numbers have a decimal comma; `decimal: ","` under about says so')
    joined, told = headings.joined[:period], (*notes, *body.notes)
    return SourceTable(number, caption, joined, tuple(every), file, line, label=label, notes=told, decimal=decimal)


def _find_period(headings: tuple[str, ...]) -> int:
    """Return after how many columns the headings begin again, as where a long table is set in two halves."""
    width = len(headings)
    for period in range(2, width // 2 + 1):
        block = headings[:period]
        if width % period == 0 and len(set(block)) == period and block * (width // period) == headings:
            return period
    return width


def _cut_rows(rows: Sequence[GridRow], start: int, end: int) -> Iterator[GridRow]:
    """Yield what rows have in some columns; a title over all columns stands in each part."""
    for row in rows:
        cells = row.cells[start:end]
        if any(cells):
            yield replace(row, cells=cells, single=cells[0] if set(cells[1:]) <= {""} or len(set(cells)) == 1 else None)


def _count_titles(rows: Sequence[SourceRow], grid: Sequence[GridRow]) -> int:
    """Return how many rows at the top are one cell over all columns; two rows at least are left."""
    titles = 0
    for row, line in zip(rows[:-2], grid, strict=False):
        if line.single is None or row.cells[0].columns < max(2, len(line.cells)):
            break
        titles += 1
    return titles


def _split_head(rows: Sequence[SourceRow]) -> int:
    """Return how many rows hold the headings: those above the first rule below any, or those of heading cells alone."""
    if rows and rows[0].head:
        return next((at for at, row in enumerate(rows) if not row.head), len(rows))
    ruled = next((at for at, row in enumerate(rows) if at and row.ruled), 1)
    return ruled if ruled <= _MOST_HEAD else 1


def join_headings(rows: Iterable[GridRow], width: int) -> tuple[str, ...]:
    """Return one heading for each column: its texts from top to bottom, each once."""
    head = list(rows)
    return tuple(
        " ".join(dict.fromkeys(row.cells[column] for row in head if row.cells[column])) for column in range(width)
    )


@dataclass(frozen=True)
class _Headings:
    """The headings of a table, and the rows that they were joined of."""

    joined: tuple[str, ...]
    rows: tuple[GridRow, ...]

    def repeated_in(self, rows: Sequence[GridRow]) -> int:
        """Return how many rows, from the first on, print these headings again."""
        for count in sorted({len(self.rows), 1}, reverse=True):
            again = join_headings(rows[:count], len(self.joined))
            if _plain(again) == _plain(self.joined) and all(row.single is None for row in rows[:count]):
                return count
        return 0

    def changed_in(self, row: GridRow) -> bool:
        """Say whether a row has headings of this table, but not all of them where they were: then columns change."""
        texts = {text for text in _without_units(row.cells) if text}
        known = {*_without_units(self.joined), *(text for one in self.rows for text in _without_units(one.cells))}
        return len(texts) > 1 and 2 * len(texts & known) > len(texts) and not any(map(_NUMBER.match, row.cells))


_NUMBER = re.compile(r"[~≈(]?\s*[+\-−–]?\s*\d")


def _plain(texts: Iterable[str]) -> list[str]:
    return ["".join(text.casefold().split()) for text in texts]


def _without_units(texts: Iterable[str]) -> list[str]:
    return _plain(_BRACKETS.sub("", text) for text in texts)


_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


@dataclass(frozen=True)
class _Body:
    """The rows below the headings, and what was not read as one of them."""

    rows: tuple[GridRow, ...]
    notes: tuple[str, ...]


def _read_body(rows: Sequence[SourceRow], grid: Sequence[GridRow], headings: _Headings) -> _Body:
    """Leave out the headings that are repeated between the rows, and all rows under other headings."""
    kept: list[GridRow] = []
    again = at = 0
    while at < len(grid):
        line = grid[at]
        repeated = headings.repeated_in(grid[at : at + _MOST_HEAD]) if line.single is None else 0
        if repeated:
            again += 1
        elif line.single is None and _stands_apart(rows, at) and headings.changed_in(line):
            other = f"other headings follow ({list_some(line.cells, 8)}): what is below them is not read"
            return _Body(tuple(kept), (*_tell_repeated(again), other))
        else:
            kept.append(line)
        at += max(1, repeated)
    return _Body(tuple(kept), _tell_repeated(again))


def _stands_apart(rows: Sequence[SourceRow], at: int) -> bool:
    """Say whether a row stands between rules, or is of cells for headings."""
    return rows[at].head or any(row.ruled for row in rows[at : at + _MOST_HEAD])


def _tell_repeated(times: int) -> tuple[str, ...]:
    if not times:
        return ()
    return (f"the headings stand between the rows too ({count_of(times, 'time')}); the columns below are the same",)
