"""A table as its source prints it: text in rows and columns, its titles, its headings and its decimal mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal

from imlp_audit.numbers.forms import DecimalMark
from imlp_audit.numbers.words import count_of, list_some

MOST_ROWS = 2_500
MOST_COLUMNS = 200
MOST_CELLS = 20_000
MOST_TABLES = 500


@dataclass(frozen=True)
class SpanningCell:
    """A cell's text, and over how many columns and rows it stands; a negative number of rows stands upwards."""

    text: str
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True)
class SourceRow:
    """A row as the source has it; `ruled` says that a rule stands above it, `head` that all its cells are headings.

    `doubt` is what was uncertain in reading it.
    """

    line: int
    cells: tuple[SpanningCell, ...]
    ruled: bool = False
    head: bool = False
    doubt: str | None = None


@dataclass(frozen=True)
class GridRow:
    """A row with a text for each column. `single` is the text of a row that is one cell over all columns."""

    line: int
    cells: tuple[str, ...]
    single: str | None = None
    doubt: str | None = None


@dataclass(frozen=True)
class SourceTable:
    """A table of a document: its headings, a text for each column, and its rows.

    `number` is the paper's, or follows on it where a table has none; two tables in one float are 1a and 1b. `around`
    is what else its float says. `line` counts lines, or pages where
    `counted_in` says so. `decimal` is the mark that the source prints; in the cells it is a point.
    """

    number: str
    caption: str
    headings: tuple[str, ...]
    rows: tuple[GridRow, ...]
    file: str
    line: int
    label: str | None = None
    notes: tuple[str, ...] = ()
    around: str = ""
    counted_in: Literal["line", "page"] = "line"
    decimal: DecimalMark = "."

    @property
    def place(self) -> str:
        """Where the table begins."""
        return f"{self.counted_in} {self.line}"


@dataclass(frozen=True)
class SourceDocument:
    """What was read of a source: its tables, and what it says about itself; `advice` is for one without any table."""

    tables: tuple[SourceTable, ...]
    title: str | None = None
    authors: str | None = None
    notes: tuple[str, ...] = field(default=())
    advice: str = ""


def lay_out(rows: Sequence[SourceRow]) -> list[GridRow]:
    """Give every column of every row its text: a cell over several columns or rows is repeated in each."""
    width = min(MOST_COLUMNS, max((_width(row) for row in rows), default=0))
    rows = rows[: min(MOST_ROWS, MOST_CELLS // max(1, width))]
    texts: list[list[str]] = []
    pending: dict[int, tuple[int, str]] = {}  # by column, for how many more rows a cell above stands there
    for row in rows:
        texts.append(_lay_row(row, width, pending, texts))
    return [
        GridRow(row.line, tuple(line), _single(row, width), row.doubt) for row, line in zip(rows, texts, strict=True)
    ]


def _width(row: SourceRow) -> int:
    return sum(cell.columns for cell in row.cells)


def _lay_row(row: SourceRow, width: int, pending: dict[int, tuple[int, str]], above: list[list[str]]) -> list[str]:
    line = [""] * width
    column = 0
    for cell in row.cells:
        for _ in range(min(cell.columns, width)):
            if column >= width:
                break
            left, text = pending.get(column, (0, ""))
            line[column] = cell.text or (text if left else "")
            if left:
                pending[column] = (left - 1, text)
            if cell.text and cell.rows > 1:
                pending[column] = (cell.rows - 1, cell.text)
            if cell.text and cell.rows < -1:
                _fill_up(above, column, cell)
            column += 1
    return line


def _fill_up(above: list[list[str]], column: int, cell: SpanningCell) -> None:
    for line in above[cell.rows + 1 :]:
        line[column] = line[column] or cell.text


def _single(row: SourceRow, width: int) -> str | None:
    """Return the text of a row that is one cell over all columns, or has text in its first column alone."""
    filled = [cell for cell in row.cells if cell.text]
    if len(filled) != 1 or width < 2:
        return None
    return filled[0].text if filled[0].columns > 1 or filled[0] is row.cells[0] else None


_AROUND = r"[~≈(]?\s*[+\-−–]?\s*({})\s*\D{{0,20}}"
_COMMA = re.compile(_AROUND.format(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,(?!\d{3}(?!\d))\d+"), re.ASCII)
_POINT = re.compile(_AROUND.format(r"\d{1,3}(?:,\d{3})+\.\d+|\d+\.\d+"), re.ASCII)
_DIGITS = re.compile(r"(?<![\w.,])\d[\d.,]*", re.ASCII)
_BEGIN = re.compile(r"[~≈(]?\s*[+\-−–]?\s*\d", re.ASCII)
_SWAP = str.maketrans(".,", ",.")


def find_decimal(rows: Sequence[GridRow]) -> DecimalMark:
    """Return a comma where more numbers have one before their decimals than have a point; 1,415 has no decimals."""
    texts = [text for row in rows for text in row.cells]
    commas = sum(_COMMA.fullmatch(text) is not None for text in texts)
    return "," if commas > sum(_POINT.fullmatch(text) is not None for text in texts) else "."


def with_points(rows: Sequence[GridRow]) -> Iterator[GridRow]:
    """Yield rows with a point in place of the decimal comma of every number, and a comma between its groups.

    A text that begins with no number, such as RegNetY-1.6GF, is a name.
    """
    for row in rows:
        yield replace(row, cells=tuple(_swap(text) if _BEGIN.match(text) else text for text in row.cells))


def _swap(text: str) -> str:
    return _DIGITS.sub(lambda found: swap_marks(found[0]), text)


def swap_marks(number: str) -> str:
    """Return a number with a comma for each point, and a point for each comma."""
    return number.translate(_SWAP)


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
    joined, every_note = headings.joined[:period], (*notes, *body.notes)
    return SourceTable(
        number, caption, joined, tuple(every), file, line, label=label, notes=every_note, decimal=decimal
    )


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
        for height in sorted({len(self.rows), 1}, reverse=True):
            again = join_headings(rows[:height], len(self.joined))
            if _plain(again) == _plain(self.joined) and all(row.single is None for row in rows[:height]):
                return height
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


_STATED = re.compile(
    r"\s*Tab(?:le|\.)\s+((?:[A-Z]\.?)?\d{1,3}[a-z]?|[IVX]{1,6})\b\s*(?:[.:|–—-]\s*|$)", re.IGNORECASE | re.ASCII
)
PART = "+"
"""Stands before the letter of a table that is a part of a float without a number."""


def number_tables(tables: Sequence[SourceTable]) -> Iterator[SourceTable]:
    """Yield the tables with a number each; those without, or of which only the part is known, come after the others.

    A caption such as "Table 2: Results" begins with the number of its table; its text follows.
    """
    tables = [_read_number(table) for table in tables]
    taken = {table.number for table in tables}
    digits = [int(found[0]) for number in taken if (found := re.match(r"\d+", number))]
    free = count(max(digits, default=0) + 1)
    seen: set[str] = set()
    last = ""
    for table in tables:
        number = table.number
        if number.startswith(PART):
            last = str(next(free)) if number == f"{PART}a" else last
            number = last + number.removeprefix(PART)
        elif not number or number in seen:
            number = str(next(free))
        seen.add(number)
        yield replace(table, number=number)


def split_number(caption: str) -> tuple[str, str]:
    """Return the number of its table that a caption begins with, as in "Table 7. ", and the rest; "" without one."""
    stated = _STATED.match(caption)
    return (caption[: stated.end()], caption[stated.end() :]) if stated is not None else ("", caption)


def _read_number(table: SourceTable) -> SourceTable:
    stated = _STATED.match(table.caption) if not table.number else None
    if stated is None:
        return table
    return replace(table, number=stated[1].lower(), caption=table.caption[stated.end() :] or table.caption)
