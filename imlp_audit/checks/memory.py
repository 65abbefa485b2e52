"""Checks of printed peak memory, of which a model alone gives the live tensors and a floor, not the kernels' space."""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.checks.context import Context
from imlp_audit.checks.numbers import ends
from imlp_audit.interval import EXACT, decimal_text, readable
from imlp_audit.measure.conventions import MemoryConvention
from imlp_audit.result import Check, Verdict
from imlp_audit.spec.plan import CellPlan


def check_memory(plan: CellPlan, context: Context) -> Check:
    """Judge a peak: live tensors that print so reproduce it; one below what any program needs cannot be.

    Between the two it is open: an allocator's work space and what the authors' code holds on to are not in the model.
    """
    cell, read = plan.cell, context.conventions(plan.cell.row.paper)
    recipe, batch = cell.row.row.model, cell.column.batch
    assert recipe is not None
    assert batch is not None
    peak = context.model(recipe, next(iter(read.readings.values()))).peaks[batch]
    interval = cell.printed.interval(read.roundings[0])
    units = [(convention, Fraction(1, convention.size)) for convention in read.about.memory]
    told = ", ".join(f"{_in_units(peak.live, convention)} live at once" for convention, _ in units)
    fitting = next((convention for convention, unit in units if peak.live * unit in interval), None)
    if fitting is not None:
        verdict, reason = Verdict.REPRODUCED, f"{told}; that prints as {cell.printed.text}"
    elif all(interval.high <= peak.least * unit for _, unit in units):
        least = ", ".join(_in_units(peak.least, convention) for convention, _ in units)
        verdict, reason = Verdict.DIFFERS, f"one operation and the weights alone take {least}"
    else:
        verdict, reason = Verdict.UNVERIFIABLE, f"{told}; the rest needs {cell.column.needs}"
    return Check(
        id=plan.id, kind=plan.kind, verdict=verdict, reason=reason, source=plan.source, printed=cell.printed.text,
        unit=cell.column.unit, interval=ends(cell.printed, read.roundings[0]),
        measured=decimal_text(peak.live * units[0][1], EXACT), convention=str(fitting or units[0][0]),
    )  # fmt: skip


def _in_units(size: int, convention: MemoryConvention) -> str:
    return f"{readable(Fraction(size, convention.size), 1)} {convention.shown}"
