"""The numbers that a table of the specs should have in a document, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from imlp_audit.numbers.forms import DecimalMark, keys_of
from imlp_audit.spec.paper import Paper, RowRef, rows_of_table
from imlp_audit.spec.schema import PrintedTable
from imlp_audit.spec.tree import Located
from imlp_audit.transcribe.coverage.apart import find_quantities


@dataclass(frozen=True)
class WantedNumber:
    """A number that the spec has in a table, and the check that reads it."""

    key: str
    check: str


@dataclass(frozen=True)
class WantedLine:
    """The numbers that one line of a table should have: those of a row, or of a column where rows go down."""

    numbers: tuple[WantedNumber, ...]
    labels: tuple[WantedNumber, ...] = ()


def table_shapes(paper: Paper, table: Located[PrintedTable]) -> list[list[WantedLine]]:
    """Return a table as lines of rows, and as lines of columns."""
    decimal = paper.about.value.decimal
    rows = list(rows_of_table(paper, table))
    across = [WantedLine(tuple(_row_numbers(row, decimal)), tuple(_labels(row, decimal))) for row in rows]
    down = [
        WantedLine(tuple(one for row in rows for one in _cell_numbers(row, column, decimal)))
        for column in table.value.columns
    ]
    return [across, down]


def _row_numbers(row: RowRef, decimal: DecimalMark) -> Iterator[WantedNumber]:
    for column in row.row.printed:
        yield from _cell_numbers(row, column, decimal)


def _cell_numbers(row: RowRef, column: str, decimal: DecimalMark) -> Iterator[WantedNumber]:
    check = f"{row.id}/{column}"
    yield from (WantedNumber(key, check) for key in keys_of(row.row.printed.get(column, ""), decimal))
    yield from (WantedNumber(key, f"{check}.delta") for key in keys_of(row.row.delta.get(column, ""), decimal))


def _labels(row: RowRef, decimal: DecimalMark) -> Iterator[WantedNumber]:
    """Yield the numbers of a row's label, such as n = 3, that are not part of a name, such as LVT-R4."""
    yield from (WantedNumber(number.key, f"{row.id}/*") for number in find_quantities(row.row.label, decimal))


def table_checks(paper: Paper, table: Located[PrintedTable]) -> list[str]:
    """Return the checks of a table's numbers, each once."""
    return list(dict.fromkeys(one.check for line in table_shapes(paper, table)[0] for one in line.numbers))


def without(wanted: Sequence[WantedLine], there: Iterable[WantedNumber]) -> list[WantedLine]:
    """Return the wanted lines without the numbers that are there."""
    found = Counter(there)
    whole, lines = not found, []
    for line in wanted:
        left = []
        for one in line.numbers:
            if found[one]:
                found[one] -= 1
            else:
                left.append(one)
        lines.append(WantedLine(tuple(left), line.labels if whole else ()))
    return lines
