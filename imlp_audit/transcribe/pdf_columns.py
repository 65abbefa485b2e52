"""The columns of a table in a PDF: stretches of white that run down between its cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from imlp_audit.transcribe.pdf_words import Line, join_words

_CELL = 0.45  # of the size: words further apart are of different cells


@dataclass(frozen=True)
class CellText:
    """Words of one cell, and where they stand."""

    text: str
    x0: float
    x1: float


Columns = tuple[tuple[float, float], ...]
"""The columns from left to right: where the text of each begins and ends."""


def group_words(line: Line) -> tuple[CellText, ...]:
    """Return the cells of a line."""
    cells: list[list[int]] = []
    for at, word in enumerate(line):
        if at and word.x0 - line[at - 1].x1 < _CELL * min(word.size, line[at - 1].size):
            cells[-1].append(at)
        else:
            cells.append([at])
    return tuple(
        CellText(
            " ".join(join_words(line[part[0] : part[-1] + 1]).split()),
            line[part[0]].x0,
            max(line[at].x1 for at in part),
        )
        for part in cells
    )


def find_columns(lines: Sequence[Sequence[CellText]], head: Sequence[Sequence[CellText]] = ()) -> Columns:
    """Return the columns of the lines with the most cells; a cell of another line widens the one column it is in.

    A number of cells that only one line has, of those below the headings and of these, is taken only if all differ.
    """
    counts = Counter(len(line) for line in (*lines, *head))
    numbers = {len(line) for line in lines}
    most = max((one for one in numbers if counts[one] > 1), default=max(numbers, default=0))
    columns = _merge([(group.x0, group.x1) for line in lines if len(line) == most for group in line])
    for group in (group for line in lines if 1 < len(line) < most for group in line):
        found = columns_of(group, columns)
        if len(found) == 1:
            x0, x1 = columns[found[0]]
            columns[found[0]] = (min(x0, group.x0), max(x1, group.x1))
    return tuple(columns)


def _merge(stretches: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for x0, x1 in sorted(stretches):
        if merged and x0 <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], x1))
        else:
            merged.append((x0, x1))
    return merged


def columns_of(group: CellText, columns: Sequence[tuple[float, float]]) -> list[int]:
    """Return the columns that a cell stands in; none where it stands in the white between them."""
    return [at for at, (x0, x1) in enumerate(columns) if group.x0 < x1 and x0 < group.x1]


@dataclass(frozen=True)
class Placed:
    """A cell and the columns that it is in; not certain where it stands in the white between two."""

    group: CellText
    columns: tuple[int, ...]
    certain: bool


def place_groups(line: Sequence[CellText], columns: Columns) -> list[Placed]:
    """Return the cells of a line with their columns: those that they stand in, else the nearest."""
    found = [(group, tuple(columns_of(group, columns))) for group in line]
    return [Placed(group, at or (_nearest(group, columns),), bool(at)) for group, at in found]


def _nearest(group: CellText, columns: Columns) -> int:
    middle = (group.x0 + group.x1) / 2
    return min(range(len(columns)), key=lambda at: abs(sum(columns[at]) / 2 - middle))
