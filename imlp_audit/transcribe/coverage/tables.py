"""Which lines of a document hold the rows of a table, and which of their numbers are which cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from imlp_audit.numbers.forms import DecimalMark, keys_of
from imlp_audit.spec.paper import Paper, RowRef, rows_of_table
from imlp_audit.spec.schema import PrintedTable
from imlp_audit.spec.tree import Located
from imlp_audit.transcribe.coverage.numbers import NumberIndex, PlacedNumber, find_quantities
from imlp_audit.transcribe.coverage.places import TableCaption, windows

_CELLS = re.compile(r"[\t|&]")
_TIMES = re.compile(r"\s*\$?\s*(?:\\times|[x×])\s*\$?\s*")
_LEAST = 2  # numbers that a further part of a torn table has: a single one may stand there by chance
_MOST_WORDS = 12  # of a row whose cells nothing separates; a longer line of words is a sentence


TablePair: TypeAlias = tuple[PlacedNumber, str]
"""A number of a document, and the check that reads it as a table's."""


def place_table(
    paper: Paper, table: Located[PrintedTable], captions: Sequence[TableCaption], index: NumberIndex
) -> list[TablePair]:
    """Return the numbers of a document that are a table's cells, each with its check; none where it is not found.

    A table stands near its caption, with its rows in order, a line each. Of a row in which numbers differ, those that
    do not are found if they are half of it or more.
    """
    shapes = table_shapes(paper, table)
    wanted = sum(len(line.numbers) for line in shapes[0])
    best: list[TablePair] = []
    for window, own in windows(table.value, captions, len(index.lines)):
        if not own and 2 * _cells(best) >= wanted:
            break
        for shape in shapes:
            found = _align_torn(shape, window, index)
            if _cells(found) > _cells(best) and (own or 5 * _cells(found) >= 3 * wanted):
                best = found
    return list(_with_squares(best, index))


def _cells(pairs: Sequence[TablePair]) -> int:
    """Return how many numbers are cells, and not parts of a row's label."""
    return sum(not check.endswith("/*") for _, check in pairs)


def _align_torn(wanted: Sequence[WantedLine], window: range, index: NumberIndex) -> list[TablePair]:
    """Align a table whose columns may stand below one another, as a text layer may have them: a part at a time."""
    pairs: list[TablePair] = []
    while True:
        rest = without(wanted, (WantedNumber(number.found.key, check) for number, check in pairs))
        found = _align(rest, window, index, {id(number) for number, _ in pairs})
        if pairs and (len(found) < _LEAST or 2 * len(found) < sum(len(line.numbers) for line in rest)):
            return pairs
        pairs += found
        if not found:
            return pairs


def _align(wanted: Sequence[WantedLine], window: range, index: NumberIndex, taken: Set[int]) -> list[TablePair]:
    """Give each wanted line one of the document's, in order, so that most numbers are found."""
    at = [line for line in window if _is_row(line, index)]
    free = {line: [number for number in _free(line, index) if id(number) not in taken] for line in at}
    scores = [[_score(one, free[line]) for line in at] for one in wanted]
    best = [[0.0] * (len(at) + 1) for _ in range(len(wanted) + 1)]
    for i in range(len(wanted) - 1, -1, -1):
        for j in range(len(at) - 1, -1, -1):
            here = scores[i][j] + best[i + 1][j + 1] if scores[i][j] > 0 else 0.0
            best[i][j] = max(here, best[i + 1][j], best[i][j + 1])
    pairs: list[TablePair] = []
    i = j = 0
    while i < len(wanted) and j < len(at):
        if scores[i][j] > 0 and best[i][j] == scores[i][j] + best[i + 1][j + 1]:
            pairs += _match(wanted[i], free[at[j]], labels=True)
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _is_row(line: int, index: NumberIndex) -> bool:
    text = index.lines[line].text
    return line in index.by_line and (bool(_CELLS.search(text)) or len(text.split()) <= _MOST_WORDS)


def _free(line: int, index: NumberIndex) -> list[PlacedNumber]:
    """Return the numbers of a line that are quantities and no cell yet; of 16 x 16 only the first."""
    numbers = [number for number in index.by_line[line] if number.apart is None and not number.checks]
    text = index.lines[line].text
    return [one for one, before in zip(numbers, [None, *numbers], strict=False) if not _squares(before, one, text)]


def _squares(before: PlacedNumber | None, number: PlacedNumber, text: str) -> bool:
    """Return whether a number repeats the one before it as the other side of a square."""
    if before is None or before.found.key != number.found.key:
        return False
    return _TIMES.fullmatch(text[before.found.end : number.found.start]) is not None


def _with_squares(pairs: list[TablePair], index: NumberIndex) -> Iterator[TablePair]:
    for number, check in pairs:
        yield number, check
        numbers = index.by_line[number.line]
        after = numbers[numbers.index(number) + 1 :][:1]
        yield from ((one, check) for one in after if _squares(number, one, index.lines[number.line].text))


def _score(wanted: WantedLine, there: Sequence[PlacedNumber]) -> float:
    """Return how many numbers of a wanted line are there, and less where there are others; 0 if they are too few."""
    found = len(_match(wanted, there))
    return found - 0.01 * min(len(there) - found, 20) if 2 * found >= len(wanted.numbers) and found else 0.0


def _match(wanted: WantedLine, there: Sequence[PlacedNumber], *, labels: bool = False) -> list[TablePair]:
    """Pair wanted numbers with those of a line that are printed alike, each once and in order where that can be."""
    left = list(there)
    pairs: list[TablePair] = []
    after = -1
    for one in (*wanted.numbers, *(wanted.labels if labels else ())):
        alike = [number for number in left if number.found.key == one.key]
        number = next((number for number in alike if number.found.start > after), alike[0] if alike else None)
        if number is not None:
            left.remove(number)
            pairs.append((number, one.check))
            after = number.found.start
    return pairs


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
