"""What a counter that the spec does not declare would lose: numbers of the column that follow without it."""

from __future__ import annotations

from imlp_audit.checks.context import Context
from imlp_audit.checks.printed import Countable, countable
from imlp_audit.checks.votes import frame_of, has_own_counter
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.hint import OptionHint
from imlp_audit.spec.paper import CellRef, rows_of_table


def count_lost(cell: CellRef, hint: OptionHint, context: Context) -> int:
    """Return how many numbers of a cell's column follow now and would not under what a hint has and the spec has not.

    That is a convention, perhaps with a rounding rule; a rule alone is one of the whole paper.
    """
    missing = hint.undeclared
    judged, convention = context.judged.get(cell.row.paper.id), missing.get("convention")
    if judged is None or convention is None:
        return 0
    key = ("lost", cell.row.table.value.table, cell.column_id, cell.row.paper.id, *missing.values())
    if key not in context.remembered:
        rule = Rounding(missing["rounding"]) if "rounding" in missing else None
        others = (row.cell(cell.column_id) for row in rows_of_table(cell.row.paper, cell.row.table))
        passing = [one for one in others if one is not None and one.id in judged.passing and not has_own_counter(one)]
        context.remembered[key] = sum(not _follows(one, convention, rule, context) for one in passing)
    return context.remembered[key]


def _follows(cell: CellRef, convention: str, rule: Rounding | None, context: Context) -> bool:
    """Return whether a cell's number follows by a convention, under a reading and a rule that are left to it."""
    counted, frame = countable(cell), frame_of(cell, context)
    if not isinstance(counted, Countable):
        return False
    declared, others = context.measurements(cell.row, counted.recipe, cell.column)
    values = [m.value for m in (*declared, *others) if m.convention == convention and frame.allows_reading(m.reading)]
    intervals = [cell.printed.interval(one) for one in ((rule,) if rule is not None else frame.roundings)]
    return any(value in interval for value in values for interval in intervals)
