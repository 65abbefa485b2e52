"""Checks of headings: does a counted number stand under another column's heading?"""

from __future__ import annotations

from imlp_audit.checks.cells import judge, misplaced
from imlp_audit.checks.context import Context
from imlp_audit.checks.numbers import missing_for
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.plan import ColumnsPlan
from imlp_audit.spec.references import CellRef, rows_of_table


def check_columns(plan: ColumnsPlan, context: Context) -> Check:
    """Judge whether two counted cells of a row fit each other's column, and neither its own."""
    rows = rows_of_table(plan.paper, plan.table)
    cells = [cell for row in rows for name in row.row.printed if _is_counted(cell := CellRef(row, name))]
    places = {(cell.row.row.id, cell.column_id): misplaced(cell, context) for cell in cells}
    strays = [
        (cell, column)
        for cell in cells
        if (column := places[cell.row.row.id, cell.column_id]) is not None
        and places.get((cell.row.row.id, column)) == cell.column_id
    ]
    printed = ", ".join(column.heading for column in plan.table.value.columns.values() if column.measure.totalled)
    if not cells:
        return _check(plan, Verdict.UNVERIFIABLE, "no cell of the table can be counted", printed)
    if not strays and any(judge(cell, context).verdict is Verdict.UNVERIFIABLE for cell in cells):
        return _check(plan, Verdict.UNVERIFIABLE, "not all work of the table's models is counted", printed)
    if not strays:
        reason = f"no two of {len(cells)} counted cells stand in each other's place"
        return _check(plan, Verdict.REPRODUCED, reason, printed)
    where = [f"{cell.row.row.id}: {cell.printed.text} under {cell.column_id} is {column}" for cell, column in strays]
    reason = f"{len(strays)} of {len(cells)} counted cells stand under a wrong heading: {'; '.join(where)}"
    return _check(plan, Verdict.INCONSISTENT, reason, printed, "; ".join(where))


def _is_counted(cell: CellRef) -> bool:
    return cell.column.measure.totalled and missing_for(cell) is None


def _check(plan: ColumnsPlan, verdict: Verdict, reason: str, printed: str, measured: str | None = None) -> Check:
    return Check(
        id=plan.id, kind=plan.kind, verdict=verdict, reason=reason, source=plan.source,
        printed=printed, measured=measured,
    )  # fmt: skip
