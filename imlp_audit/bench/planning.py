"""Which cells are measured, from the spec alone. Imports no framework."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef, Paper, RowRef, rows_of_table
from imlp_audit.spec.schema import PrintedTable
from imlp_audit.spec.tree import Located

NAMED_AFTER = {"cpu": "cpu", "cuda": "gpu"}
"""The name that papers give to the column of a device."""


@dataclass(frozen=True)
class RowComparison:
    """A printed throughput, and the row that its model is compared with, if any."""

    cell: CellRef
    base: RowRef | None


def find_table(paper: Paper, name: str) -> Located[PrintedTable]:
    """Return a table by its id. Raises UsageError naming the nearest."""
    tables = {table.value.table: table for table in paper.tables}
    if name not in tables:
        raise UsageError(f"{paper.id} has no table {name!r}; {did_you_mean(name, list(tables), 'its tables')}")
    return tables[name]


def find_column(table: PrintedTable, wanted: str | None, device: str) -> str:
    """Return the throughput column: the named one, the only one, or the one named after the device.

    Raises UsageError listing the columns.
    """
    found = [name for name, column in table.columns.items() if column.measure is Measure.THROUGHPUT]
    if not found:
        raise UsageError(f"table {table.table} has no throughput column")
    chosen = wanted or (found[0] if len(found) == 1 else NAMED_AFTER[device])
    if chosen not in found:
        hint = did_you_mean(chosen, found, "its throughput columns")
        raise UsageError(f"table {table.table} has no throughput column {chosen!r}; {hint}; choose with --column")
    return chosen


def plan_comparisons(
    paper: Paper, table: Located[PrintedTable], column: str, globs: Sequence[str] = (), against: str | None = None
) -> tuple[RowComparison, ...]:
    """Return the cells to measure, in the table's order, each compared with `against` or else its row's baseline.

    `globs` select rows, by their ids in the table or in full. Raises UsageError if none is left.
    """
    rows = {row.row.id: row for row in rows_of_table(paper, table)}
    cells = [cell for row in rows.values() if (cell := row.cell(column)) is not None and _matches(row, globs)]
    if not cells:
        named = "".join(f" --rows {glob}" for glob in globs)
        raise UsageError(
            f"no row with a number in {column!r} is selected{named and f' by{named}'}; rows: {', '.join(rows)}"
        )
    if against is not None and against not in rows:
        raise UsageError(f"--against: no row {against!r}; {did_you_mean(against, list(rows), 'rows')}")
    other = rows[against] if against is not None else None
    if other is not None and other.row.model is None:
        raise UsageError(f"--against: the spec has no model for {other.id}; name a row that has one")
    return tuple(RowComparison(cell, _base(cell.row, other)) for cell in cells)


def _matches(row: RowRef, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for name in (row.row.id, row.id) for glob in globs)


def _base(row: RowRef, against: RowRef | None) -> RowRef | None:
    """Return the row to compare with: not the row itself, and only one that has a model."""
    base = against or row.baseline
    return base if base is not None and base.id != row.id and base.row.model is not None else None
