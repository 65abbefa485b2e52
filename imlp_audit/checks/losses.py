"""What a counter that the spec does not declare would lose: numbers of the column that follow without it."""

from __future__ import annotations

from collections.abc import Sequence

from imlp_audit.checks.context import Context
from imlp_audit.checks.printed import Countable, countable
from imlp_audit.checks.votes import frame_of, has_own_counter
from imlp_audit.numbers.printed import Rounding
from imlp_audit.spec.references import CellRef, rows_of_table


def count_lost(cell: CellRef, missing: Sequence[str], context: Context) -> int:
    """Return how many numbers of a cell's column follow now and would not under what is `missing`.

    That is a convention ("convention macs"), perhaps with a rounding rule; a rule alone is one of the whole paper.
    """
    named = dict(name.split(" ", 1) for name in missing)
    judged, convention = context.judged.get(cell.row.paper.id), named.get("convention")
    if judged is None or convention is None:
        return 0
    key = ("lost", cell.row.table.value.table, cell.column_id, cell.row.paper.id, *missing)
    if key not in context.remembered:
        rule = Rounding(named["rounding"]) if "rounding" in named else None
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
