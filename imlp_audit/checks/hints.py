"""What would make a total follow that does not, and what its row and column suggest: for the reader, never a pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from operator import itemgetter

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Comparison, Measured
from imlp_audit.checks.frames import (
    Countable,
    cells_of_column,
    column_of,
    countable,
    frame_of,
    has_own_counter,
    totalled_cells,
)
from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.parsing import SCALES
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.check import AnyHint, OptionHint, Verdict
from imlp_audit.spec.paper import CellRef, Paper

_FAR = Fraction(1, 10)  # of the printed number
_NEARER = 5  # times, so that it is the way to count that is not the paper's


def hints_of(found: Countable, comparison: Comparison, context: Context) -> tuple[AnyHint, ...]:
    """Return the hints of a total: those of its comparison, and what its row, column and model suggest."""
    if comparison.verdict is not Verdict.DIFFERS:
        return (*comparison.hints, *_no_one_reading(found, context), *_two_counters(found, context))
    leads = (*_elsewhere(found, context), *_in_another_unit(found, context))
    return (*_under_another(found, comparison), *comparison.hints, *leads)


def fits_elsewhere(counted: Countable, context: Context) -> Iterator[tuple[str, Fraction]]:
    """Yield the other columns of totals whose measured value, for this row, prints as a total does."""
    cell = counted.cell
    read = context.conventions(cell.row.paper)
    for name, column in cell.row.table.value.columns.items():
        if name == cell.column_id or not column.measure.totalled:
            continue
        printed = replace(cell.printed, scale=SCALES.get(column.unit, 1))
        try:
            declared, _ = context.measurements(cell.row, CellRef(cell.row, name).recipe or counted.recipe, column)
        except NotMeasuredError:  # the model cannot take the images of that column
            continue
        fitting = [
            m.value
            for m in declared
            for rule in read.roundings_of(column)
            if not m.uncounted and m.value in printed.interval(rule)
        ]
        yield from ((name, value) for value in fitting[:1])


def _elsewhere(counted: Countable, context: Context) -> Iterator[str]:
    cell = counted.cell
    for column, value in fits_elsewhere(counted, context):
        heading = cell.row.table.value.columns[column].heading
        yield f"{cell.printed.text} fits the column {heading!r} instead, where {readable(value)} is measured"


def _in_another_unit(counted: Countable, context: Context) -> Iterator[str]:
    """Yield a hint where the same digits in another unit are what was measured: a slip of the column's unit."""
    cell = counted.cell
    declared, _ = context.measurements(cell.row, counted.recipe, cell.column)
    rules = context.conventions(cell.row.paper).roundings_of(cell.column)
    for unit in ("", "k", "M", "G", "T"):
        printed = replace(cell.printed, scale=SCALES.get(unit, 1))
        fitting = [m.value for m in declared if not m.uncounted and any(m.value in printed.interval(r) for r in rules)]
        if printed.scale != cell.printed.scale and fitting:
            named = f"unit {unit}" if unit else "no unit"
            yield f"{cell.printed.text} fits with {named}, where {readable(fitting[0])} is measured"


def _under_another(counted: Countable, comparison: Comparison) -> Iterator[str]:
    """Yield a hint where another declared way to count is near a total, and the one that it is judged by is far off."""
    printed = counted.cell.printed
    stated = printed.value * printed.scale
    away = abs(comparison.deciding.value - stated)
    if not comparison.also:
        return
    least, nearest = min(((abs(Fraction(one.measured) - stated), one) for one in comparison.also), key=itemgetter(0))
    if away < _FAR * abs(stated) or least * _NEARER > away:
        return
    ways = (("reading", nearest.reading, comparison.deciding.reading),
            ("convention", nearest.convention, comparison.deciding.convention))  # fmt: skip
    names = ", ".join(f"{kind} {name}" for kind, name, own in ways if name != own)
    gap = decimal_text(100 * least / abs(stated), 2)
    yield f"the nearest is {readable(Fraction(nearest.measured))} under {names}, also declared: a gap of {gap} %"


def _no_one_reading(counted: Countable, context: Context) -> Iterator[str]:
    """Yield a hint where each total of a row has a reading that gives it, but no one reading gives them all."""
    fitting = {
        one.cell.column.heading: list(dict.fromkeys(str(m.reading) for m in _fitting(one, context)))
        for one in totalled_cells(counted.cell.row)
    }
    if all(fitting.values()) and not set.intersection(*(set(names) for names in fitting.values())):
        needs = ", ".join(f"{heading} needs {' or '.join(names)}" for heading, names in fitting.items())
        yield f"no one reading gives all counted numbers of this row: {needs}"


def _two_counters(counted: Countable, context: Context) -> Iterator[str]:
    """Yield a hint where one convention gives the number and another its baseline, but no one gives both."""
    cell = counted.cell
    base = cell.row.baseline.cell(cell.column_id) if cell.row.baseline else None
    other = countable(base) if base is not None else None
    if base is None or not isinstance(other, Countable):
        return
    try:
        ours, theirs = ({str(m.convention): None for m in _fitting(one, context)} for one in (counted, other))
    except NotMeasuredError:  # of the baseline's model, which is its own row's error
        return
    if ours and theirs and not ours.keys() & theirs.keys():
        yield (
            f"the baseline's {base.printed.text} follows by {' or '.join(theirs)}, this number by {' or '.join(ours)}: "
            "their difference compares two counts"
        )


def _fitting(counted: Countable, context: Context) -> list[Measured]:
    """Return the measurements from which a cell's number follows, by some declared convention and rounding rule."""
    cell = counted.cell
    intervals = [cell.printed.interval(rule) for rule in context.conventions(cell.row.paper).roundings_of(cell.column)]
    declared, _ = context.measurements(cell.row, counted.recipe, cell.column)
    allowed = [m for m in declared if frame_of(cell, context).allows(m)]
    return [m for m in allowed if not m.uncounted and any(m.value in interval for interval in intervals)]


def count_lost(cell: CellRef, hint: OptionHint, context: Context) -> int:
    """Return how many numbers of a cell's column follow now and would not under what a hint has and the spec has not.

    That is a convention, perhaps with a rounding rule; a rule alone is one of the whole paper.
    """
    missing = hint.undeclared
    if "convention" not in missing:
        return 0
    rule = Rounding(missing["rounding"]) if "rounding" in missing else None
    return _count_lost_of(cell.row.paper, column_of(cell), context, missing["convention"], rule)


@lru_cache(maxsize=64)  # the cells of a column have the same hints
def _count_lost_of(paper: Paper, column: str, context: Context, convention: str, rule: Rounding | None) -> int:
    judged = context.judged.get(paper.id)
    passing = judged.passing if judged is not None else ()
    cells = [cell for cell in cells_of_column(paper, column) if cell.id in passing and not has_own_counter(cell)]
    return sum(not _follows(cell, convention, rule, context) for cell in cells)


def _follows(cell: CellRef, convention: str, rule: Rounding | None, context: Context) -> bool:
    """Return whether a cell's number follows by a convention, under a reading and a rule that are left to it."""
    counted, frame = countable(cell), frame_of(cell, context)
    if not isinstance(counted, Countable):
        return False
    declared, others = context.measurements(cell.row, counted.recipe, cell.column)
    values = [m.value for m in (*declared, *others) if m.convention == convention and frame.allows_reading(m.reading)]
    intervals = [cell.printed.interval(one) for one in ((rule,) if rule is not None else frame.roundings)]
    return any(value in interval for value in values for interval in intervals)
