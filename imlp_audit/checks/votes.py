"""The votes of a paper's counted cells on what it was measured under."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.hypotheses import Options, Tally, Vote
from imlp_audit.checks.printed import totalled_cells
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import CellRef, RowRef, repeated_row, rows_of
from imlp_audit.spec.tables import FlopsColumn


def tally_of(paper: Paper, context: Context) -> Tally:
    """Count the votes of a paper: its counted cells that could be measured. A number printed twice votes once."""
    votes = [vote for row in rows_of(paper) for vote in _votes_of_row(row, context)]
    read = context.conventions(paper)
    conventions = {
        _column_of(one.cell): tuple(map(str, read.declared_for(row.row, one.cell.column)))
        for row in rows_of(paper)
        for one in totalled_cells(row)
        if not _has_own_counter(one.cell)
    }
    columns = {vote.column: conventions.get(vote.column, ()) for vote in votes}
    return Tally.of(votes, Options(read.roundings, tuple(read.readings), columns))


def _votes_of_row(row: RowRef, context: Context) -> Iterator[Vote]:
    twin = repeated_row(row, [row.paper])
    for counted in totalled_cells(row):
        cell, recipe = counted.cell, counted.recipe
        if twin is not None and twin.cell(cell.column_id) is not None:
            continue
        try:
            declared, _ = context.measurements(row, recipe, cell.column)
        except NotMeasuredError:  # its own check says so
            continue
        values = {(one.reading, str(one.convention)): one.value for one in declared if not one.uncounted}
        yield Vote(cell.id, _column_of(cell), recipe.family, cell.printed, values, _has_own_counter(cell))


def _column_of(cell: CellRef) -> str:
    """Return the name of the group of cells that share a convention."""
    return f"{cell.row.table.value.table}/{cell.column_id}"


def _has_own_counter(cell: CellRef) -> bool:
    return isinstance(cell.column, FlopsColumn) and cell.row.row.counted_by is not None
