"""A table as its source prints it: text in rows and columns, before anybody asks what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from imlp_audit.numbers.forms import DecimalMark

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

    `number` is the paper's, or follows on it where a table has none; two tables in one float are 1a and 1b. `marks`
    are the footnote marks that the source explains, with what it says. `line` counts lines, or pages where
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
    marks: tuple[tuple[str, str], ...] = ()
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
