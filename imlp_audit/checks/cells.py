"""Checks of printed cells: does the number follow from the row's model?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import partial
from operator import itemgetter

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Comparison, Measured, compare
from imlp_audit.checks.losses import count_lost
from imlp_audit.checks.memory import check_memory
from imlp_audit.checks.padding import find_padding
from imlp_audit.checks.printed import (
    Countable,
    countable,
    record_fit,
    record_unmeasured,
    totalled_cells,
    unless_missing,
)
from imlp_audit.checks.votes import frame_of
from imlp_audit.numbers.forms import SCALES
from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.records.check import PASSES, CellCheck, ColumnCheck, Verdict
from imlp_audit.records.hint import AnotherModel, AnyHint
from imlp_audit.spec.columns import Measure, MemoryColumn
from imlp_audit.spec.paper import CellRef, rows_of_table
from imlp_audit.spec.plan import CellPlan, ColumnsPlan


def check_cell(plan: CellPlan, context: Context) -> CellCheck:
    """Judge whether a printed cell follows from its row's model."""
    cell, column, recipe = plan.cell, plan.cell.column, plan.cell.recipe
    if isinstance(column, MemoryColumn) and recipe is not None:
        return check_memory(plan, column, recipe, context)
    found = countable(cell)
    if isinstance(found, str):
        return record_unmeasured(CellCheck, plan, cell.printed, cell.unit, found)
    comparison = judge(found, context)
    hints = _hints(found, comparison, context) if column.measure.totalled else comparison.hints
    check = record_fit(CellCheck, plan, cell.printed, cell.unit, comparison)
    check = _with_fit(check.model_copy(update={"hints": hints}), cell)
    return _with_marks(check, cell, context) if check.verdict in PASSES else check


def _hints(found: Countable, comparison: Comparison, context: Context) -> tuple[AnyHint, ...]:
    """Return the hints of a total: those of its comparison, and what its row, column and model suggest."""
    if comparison.verdict is not Verdict.DIFFERS:
        return (*comparison.hints, *_no_one_reading(found, context), *_two_counters(found, context))
    leads = (*find_padding(found, context), *_elsewhere(found, context), *_in_another_unit(found, context))
    hints = (*_under_another(found, comparison), *comparison.hints, *leads)
    return hints or tuple(_of_another_model(found, comparison, context))


def _with_marks(check: CellCheck, cell: CellRef, context: Context) -> CellCheck:
    """Add how much a pass says. In a column of two counters, name the one that gives the number."""
    judged, frame = context.judged.get(cell.row.paper.id), frame_of(cell, context)
    power = judged.powers.get(cell.id) if judged is not None else None
    check = check.model_copy(update={"weak": frame.weak, "mixed": bool(frame.counters), "power": power})
    return _under_convention(check) if len(frame.counters) == 1 else check


def _under_convention(check: CellCheck) -> CellCheck:
    """Return a pass as one under its convention, also where that is the default."""
    convention, reason, under = f"convention {check.convention}", check.reason, check.under
    if convention not in under:
        reason, under = f"{reason}{',' if under else ' under'} {convention}", (*under, convention)
    return check.model_copy(update={"verdict": Verdict.REPRODUCED_UNDER, "under": under, "reason": reason})


def _with_fit(check: CellCheck, cell: CellRef) -> CellCheck:
    """Mark a pass under a fitted convention: fitted on the cell, or a prediction. Withdraw what the search left open.

    What follows from a convention that was found by its fit does not follow from the text.
    """
    fit = cell.row.paper.about.value.fitted.get(str(check.convention))
    if fit is None:
        return check
    if any(fnmatchcase(cell.id, glob) for glob in fit.undecided):
        reason = f"the best solutions of the search that found {check.convention} disagree about this number"
        return check.model_copy(update={"verdict": Verdict.UNVERIFIABLE, "reason": reason, "under": ()})
    if check.verdict not in PASSES:
        return check
    check, fitted = _under_convention(check), any(fnmatchcase(cell.id, glob) for glob in fit.cells)
    reason = check.reason if fitted else f"{check.reason}, a prediction: it was fitted on other numbers"
    return check.model_copy(update={"reason": reason, "fitted": fitted})


def judge(counted: Countable, context: Context) -> Comparison:
    """Compare a cell with its model. Raises NotMeasuredError."""
    cell, paper = counted.cell, counted.cell.row.paper
    declared, others = context.measurements(cell.row, counted.recipe, cell.column)
    frame = frame_of(cell, context)
    rules, allowed = context.conventions(paper).roundings_of(cell.column), frame.select(declared)
    if not allowed:
        raise NotMeasuredError(f"{counted.recipe.name} has no number under {frame.name}, which the others follow from")
    comparison = compare(
        cell.printed, declared, frame.roundings, others, allowed=allowed, rules=rules, support=frame.support,
        elsewhere=context.conventions(paper).named(cell.column), count_lost=partial(count_lost, cell, context=context),
    )  # fmt: skip
    return unless_missing(comparison, context, paper, counted.recipe)


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


def find_own_column(counted: Countable, context: Context) -> str | None:
    """Return the column that a cell belongs to instead of its own, if so."""
    if judge(counted, context).verdict is not Verdict.DIFFERS:
        return None
    return next((column for column, _ in fits_elsewhere(counted, context)), None)


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


def _of_another_model(counted: Countable, comparison: Comparison, context: Context) -> Iterator[AnotherModel]:
    """Yield a hint where a total is farther from the printed one than counters of one model are from each other."""
    column, printed = counted.cell.column, counted.cell.printed
    stated = printed.value * printed.scale
    value = comparison.deciding.value
    away = abs(value - stated)
    near = max(_FAR * abs(stated), _DIGITS * printed.step * printed.scale)
    if away < near or not abs(stated) < _SLIP * abs(value) < _SLIP**2 * abs(stated):
        return
    row = totalled_cells(counted.cell.row)
    if len(row) > 1 and all(_is_far(one, context) for one in row):
        away_all = f"all {len(row)} totals of this row are more than 30 % away under every convention"
        yield AnotherModel(why=f"{away_all}, which suggests another model of that name")
        return
    size = " or another size of images" if column.measure is Measure.FLOPS else ""
    yield AnotherModel(why=f"a gap of {round(100 * away / abs(stated))} % suggests another model{size}")


def _is_far(counted: Countable, context: Context) -> bool:
    """Return whether no convention brings a model within 30 % of a printed number, and none is a slip of the unit."""
    printed = counted.cell.printed
    stated = abs(printed.value * printed.scale)
    try:
        declared, others = context.measurements(counted.cell.row, counted.recipe, counted.cell.column)
    except NotMeasuredError:
        return False
    values = [one.value for one in (*declared, *others) if one.value and not one.uncounted]
    return bool(values) and all(
        abs(value - stated) > _VERY_FAR * stated and stated < _SLIP * abs(value) < _SLIP**2 * stated for value in values
    )


_VERY_FAR = Fraction(3, 10)
_FAR = Fraction(1, 10)  # of the printed number
_NEARER = 5  # times, so that it is the way to count that is not the paper's
_DIGITS = 2  # units of the last printed digit
_SLIP = 10  # times more or less are a slip of the unit or of the point


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


def check_columns(plan: ColumnsPlan, context: Context) -> ColumnCheck:
    """Judge whether two counted cells of a row fit each other's column and not their own."""
    rows = rows_of_table(plan.paper, plan.table)
    counted = [one for row in rows for one in totalled_cells(row)]
    cells = [one.cell for one in counted]
    places = {(one.cell.row.row.id, one.cell.column_id): find_own_column(one, context) for one in counted}
    strays = [
        (cell, column)
        for cell in cells
        if (column := places[cell.row.row.id, cell.column_id]) is not None
        and places.get((cell.row.row.id, column)) == cell.column_id
    ]
    printed = ", ".join(column.heading for column in plan.table.value.columns.values() if column.measure.totalled)
    if not cells:
        return _check(plan, Verdict.UNVERIFIABLE, "no cell of the table can be counted", printed)
    if not strays and any(judge(one, context).verdict is Verdict.UNVERIFIABLE for one in counted):
        return _check(plan, Verdict.UNVERIFIABLE, "not all work of the table's models is counted", printed)
    if not strays:
        reason = f"no two of {len(cells)} counted cells are swapped"
        return _check(plan, Verdict.REPRODUCED, reason, printed)
    where = [f"{cell.row.row.id}: {cell.printed.text} under {cell.column_id} is {column}" for cell, column in strays]
    reason = f"{len(strays)} of {len(cells)} counted cells stand under a wrong heading: {'; '.join(where)}"
    return _check(plan, Verdict.INCONSISTENT, reason, printed, "; ".join(where))


def _check(plan: ColumnsPlan, verdict: Verdict, reason: str, printed: str, measured: str | None = None) -> ColumnCheck:
    return ColumnCheck(
        id=plan.id, verdict=verdict, reason=reason, source=plan.source, printed=printed, measured=measured
    )
