"""Checks of printed peak memory: a model gives the live tensors and a lower bound, not the kernels' work space."""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.checks.context import Context
from imlp_audit.checks.fit import compare
from imlp_audit.checks.printed import record_fit, write_images
from imlp_audit.count.conventions import MemoryConvention
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.records.check import PASSES, CellCheck, Verdict
from imlp_audit.spec.columns import MemoryColumn
from imlp_audit.spec.plan import CellPlan


def check_memory(plan: CellPlan, column: MemoryColumn, recipe: Recipe, context: Context) -> CellCheck:
    """Judge a peak: live tensors that print so reproduce it; a peak below what any program needs is impossible.

    In between it is open: the model shows neither the allocator's work space nor what the authors' code keeps.
    """
    cell = plan.cell
    declared, others = context.measurements(cell.row, recipe, column)
    comparison = compare(cell.printed, declared, context.conventions(cell.row.paper).roundings, others)
    found = record_fit(CellCheck, plan, cell.printed, cell.column.unit, comparison)
    unit = MemoryConvention(str(found.convention))
    live = f"{readable(comparison.deciding.value, 1)} {unit.symbol} live at once{write_images(column)}"
    if comparison.verdict in PASSES:
        return found.model_copy(update={"reason": f"{live}: {comparison.reason}"})
    least = _least(plan, column, recipe, context)
    if _is_impossible(plan, context, least):
        reason = (
            f"{live}, and the weights and one operation already take {readable(least / unit.size, 1)} {unit.symbol}"
        )
        return found.model_copy(update={"reason": reason})
    more = comparison.deciding.value > cell.printed.value
    rest = "how much of it the authors' code frees earlier" if more else "what fills the rest"
    reason = f"{live}, {cell.printed.text} printed; {rest} needs {cell.column.needs}"
    return found.model_copy(update={"verdict": Verdict.UNVERIFIABLE, "reason": reason, "hints": ()})


def _least(plan: CellPlan, column: MemoryColumn, recipe: Recipe, context: Context) -> Fraction:
    """Return the bytes that any program of the model's operations needs, under the reading that needs fewest.

    Raises NotMeasuredError where a reading failed, which might have needed fewer.
    """
    readings = context.conventions(plan.cell.row.paper).readings.values()
    return Fraction(min(context.model(recipe, reading).peaks[column.batch].least for reading in readings))


def _is_impossible(plan: CellPlan, context: Context, least: Fraction) -> bool:
    """Say whether every number that prints so, in every declared unit and by every rule, is smaller than `least`."""
    read = context.conventions(plan.cell.row.paper)
    floor = [least / unit.size for unit in read.about.memory]
    printed = [plan.cell.printed.interval(rule) for rule in read.roundings]
    return all(interval < Interval.point(low) for interval in printed for low in floor)
