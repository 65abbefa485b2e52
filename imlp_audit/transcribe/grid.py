"""A table as its source prints it: text in rows and columns, its titles, its headings and its decimal mark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from typing import Literal

from imlp_audit.numbers.words import list_some

MOST_ROWS = 2_500
MOST_COLUMNS = 200
MOST_CELLS = 20_000
_MOST_HEAD = 4  # rows of headings
_BEGIN = re.compile(r"[~≈(]?\s*[+\-−–]?\s*\d", re.ASCII)  # of a number
_STATED = re.compile(
    r"\s*Tab(?:le|\.)\s+((?:[A-Z]\.?)?\d{1,3}[a-z]?|[IVX]{1,6})\b\s*(?:[.:|–—-]\s*|$)", re.IGNORECASE | re.ASCII
)


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
    is what else its float says. `line` counts lines, or pages where `counted_in` says so.
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

    @property
    def place(self) -> str:
        """Where the table begins."""
        return f"{self.counted_in} {self.line}"


@dataclass(frozen=True)
class SourceDocument:
    """What was read of a source: its tables, and what it says about itself; `advice` is for one without any table."""

    tables: tuple[SourceTable, ...]
    title: str | None = None
    notes: tuple[str, ...] = field(default=())
    advice: str = ""


def lay_out(rows: Sequence[SourceRow]) -> list[GridRow]:
    """Give every column of every row its text: a cell over several columns or rows is repeated in each."""
    width = min(MOST_COLUMNS, max((sum(cell.columns for cell in row.cells) for row in rows), default=0))
    rows = rows[: min(MOST_ROWS, MOST_CELLS // max(1, width))]
    grid: list[list[str]] = []
    pending: dict[int, tuple[int, str]] = {}  # by column, for how many more rows a cell above stands there
    for row in rows:
        line = [""] * width
        cells = (cell for cell in row.cells for _ in range(min(cell.columns, width)))
        for column, cell in zip(range(width), cells, strict=False):
            left, text = pending.get(column, (0, ""))
            line[column] = cell.text or (text if left else "")
            pending[column] = (cell.rows - 1, cell.text) if cell.text and cell.rows > 1 else (max(0, left - 1), text)
            for above in grid[cell.rows + 1 :] if cell.text and cell.rows < -1 else ():
                above[column] = above[column] or cell.text
        grid.append(line)
    lines = zip(rows, grid, strict=True)
    return [GridRow(row.line, tuple(line), _single(row, width), row.doubt) for row, line in lines]


def _single(row: SourceRow, width: int) -> str | None:
    """Return the text of a row that is one cell over all columns, or has text in its first column alone."""
    filled = [cell for cell in row.cells if cell.text]
    if len(filled) != 1 or width < 2:
        return None
    return filled[0].text if filled[0].columns > 1 or filled[0] is row.cells[0] else None


def make_table(
    number: str, caption: str, source: Sequence[SourceRow], file: str, line: int, label: str | None = None
) -> SourceTable:
    """Return a table of rows, the first of which are its headings; titles above them stand over the rows below."""
    grid = lay_out(source)
    rows = source[: len(grid)]
    titles = _count_titles(rows, grid)
    head = titles + _split_head(rows[titles:])
    head += head + 1 < len(grid) and _stands_above_numbers(grid[head].cells, grid[head + 1].cells)
    columns = list(zip(*(row.cells for row in grid[titles:head]), strict=True))
    headings = tuple(" ".join(dict.fromkeys(filter(None, column))) for column in columns)
    body, notes = _read_body(grid[head:], [{"", *map(_plain, column)} for column in columns])
    notes = [*([f"only the first {len(grid)} rows are read"] if len(source) > len(grid) else []), *notes]
    return SourceTable(number, caption, headings, (*grid[:titles], *body), file, line, label=label, notes=tuple(notes))


def _count_titles(rows: Sequence[SourceRow], grid: Sequence[GridRow]) -> int:
    """Return how many rows at the top are one cell over all columns; two rows at least are left."""
    wide = (
        line.single is not None and row.cells[0].columns >= max(2, len(line.cells))
        for row, line in zip(rows[:-2], grid, strict=False)
    )
    return sum(1 for _ in takewhile(bool, wide))


def _split_head(rows: Sequence[SourceRow]) -> int:
    """Return how many rows hold the headings: those above the first rule below any, or those of heading cells alone."""
    if rows and rows[0].head:
        return next((at for at, row in enumerate(rows) if not row.head), len(rows))
    ruled = next((at for at, row in enumerate(rows) if at and row.ruled), 1)
    return ruled if ruled <= _MOST_HEAD else 1


def _stands_above_numbers(row: Sequence[str], below: Sequence[str]) -> bool:
    """Return whether a row has no label and words alone, each above a number: a second row of headings."""
    texts = [(text, under) for text, under in zip(row, below, strict=True) if text]
    words = all(re.search(r"[^\W\d_]", text) and not _BEGIN.match(text) and _BEGIN.match(one) for text, one in texts)
    return not row[0] and bool(texts) and words


def _read_body(grid: Sequence[GridRow], headings: Sequence[Set[str]]) -> tuple[list[GridRow], list[str]]:
    """Leave out the headings that are repeated between the rows, and all rows under other headings, with a note."""
    kept: list[GridRow] = []
    for line in grid:
        texts = list(map(_plain, line.cells))
        known = [text in set[str]().union(*headings) for text in texts if text]
        if line.single is not None or 2 * sum(known) <= len(known) or any(map(_BEGIN.match, line.cells)):
            kept.append(line)
        elif not all(text in column for text, column in zip(texts, headings, strict=True)):
            return kept, [f"other headings follow ({list_some(line.cells, 8)}): what is below them is not read"]
    return kept, []


def _plain(text: str) -> str:
    """Return a heading without its unit, in lower case and without spaces."""
    return "".join(re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text).casefold().split())


def number_tables(tables: Sequence[SourceTable]) -> Iterator[SourceTable]:
    """Yield the tables with a number each; those without come after the others.

    A caption such as "Table 2: Results" begins with the number of its table; its text follows.
    """
    tables = [_read_number(table) for table in tables]
    taken = {table.number for table in tables}
    digits = [int(found[0]) for number in taken if (found := re.match(r"\d+", number))]
    free = count(max(digits, default=0) + 1)
    seen: set[str] = set()
    for table in tables:
        number = table.number
        if not number or number.replace(".", "") in seen:  # a spec has no point in it
            number = str(next(free))
        seen.add(number.replace(".", ""))
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
