"""Checks of printed cells: does the number follow from the row's model? Of peak memory a model shows only a part."""

from __future__ import annotations

from fnmatch import fnmatchcase
from fractions import Fraction
from functools import partial

from imlp_audit.checks.chance import chance, matches
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Comparison, compare
from imlp_audit.checks.frames import (
    Countable,
    countable,
    frame_of,
    is_stated,
    may_accuse,
    record_fit,
    record_unmeasured,
    totalled_cells,
    unless_missing,
    write_images,
)
from imlp_audit.checks.hints import count_lost, fits_elsewhere, hints_of
from imlp_audit.checks.identity import DOUBTED, FEW, LEAST, NOT_NAMED, RowIdentity, are_settled, hold_back
from imlp_audit.count.conventions import MemoryConvention, ParameterConvention
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.numbers.words import list_some
from imlp_audit.records.check import NO_MODEL, PASSES, CellCheck, ColumnCheck, OptionHint, Verdict
from imlp_audit.spec.columns import Measure, MemoryColumn
from imlp_audit.spec.paper import CellRef, rows_of_table
from imlp_audit.spec.plan import CellPlan, ColumnsPlan


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


def check_cell(plan: CellPlan, context: Context) -> CellCheck:
    """Judge whether a printed cell follows from its row's model."""
    cell, column, recipe = plan.cell, plan.cell.column, plan.cell.recipe
    if isinstance(column, MemoryColumn) and recipe is not None:
        return check_memory(plan, column, recipe, context)
    identity = context.identities.get(cell.row.id)
    found = countable(cell)
    if isinstance(found, str):
        if identity is None or found != NO_MODEL:
            return record_unmeasured(CellCheck, plan, cell.printed, cell.unit, found)
        check = record_unmeasured(CellCheck, plan, cell.printed, cell.unit, identity.reason)
        return check.model_copy(update={"identified": identity.how, "lead": identity.lead})
    comparison = judge(found, context)
    hints = hints_of(found, comparison, context) if column.measure.totalled else comparison.hints
    check = record_fit(CellCheck, plan, cell.printed, cell.unit, comparison)
    check = _with_fit(check.model_copy(update={"hints": hints}), cell)
    check = _with_marks(check, cell, context) if check.verdict in PASSES else check
    return _with_proposals(check, found, context) if column.measure.totalled else check


def _with_proposals(check: CellCheck, found: Countable, context: Context) -> CellCheck:
    """Name what was proposed and not stated: the row's model, the column's counter. They accuse on evidence alone."""
    identity, stated = context.identities.get(found.cell.row.id), is_stated(found.cell)
    if identity is not None:
        check = check.model_copy(update={"model": str(found.recipe), "identified": identity.how, "power": None})
        if identity.alike and check.verdict in PASSES:
            said = f"{check.reason}; {list_some(identity.alike, 3)} would have it too"
            check = check.model_copy(update={"reason": said})
    if check.verdict in PASSES and not stated:
        return _under_convention(check)
    if check.verdict is not Verdict.DIFFERS:
        return check
    proposed = identity is not None or not stated
    if not proposed:
        return check
    why = _why_open(check, found, identity, context)
    doubt = why if identity is None or identity.accuses else NOT_NAMED
    if doubt is None:
        return check
    likely = why in (None, DOUBTED, _OTHER_HEAD) or (why == FEW and _is_told(check, found, context))
    is_cut = any(matches(found.cell.printed, value) for value in _values(check))
    is_near = is_cut or (found.cell.column.measure is Measure.FLOPS and _is_near(check))
    return hold_back(check.model_copy(update={"lead": likely and not is_near}), doubt)


def _values(check: CellCheck) -> set[Fraction]:
    return {Fraction(value) for value in (check.measured, *(one.measured for one in check.also)) if value is not None}


def _why_open(check: CellCheck, found: Countable, identity: RowIdentity | None, context: Context) -> str | None:
    """Return why a number that differs is not found wrong where the model or the counter is only proposed."""
    if identity is not None and found.cell.column_id in identity.doubted:
        return DOUBTED
    if any(isinstance(hint, OptionHint) for hint in check.hints):
        return "it follows in another way, and the source does not say which is meant"
    if found.cell.column.measure is not Measure.FLOPS:  # its name identifies the row, which other names settle
        return _OTHER_HEAD if identity is not None and _may_have_another_head(found, context) else None
    hits, misses = _score_counter(found, context)
    if not are_settled(hits, misses):
        return FEW
    sure = misses == 0 and hits >= 2 * LEAST
    if not sure and not is_stated(found.cell) and _is_near(check):
        return "it is so near that another counter may have counted it, and too few numbers tell"
    return None


_OTHER_HEAD = "a classifier of other classes would give it"
_MOST_HEADS = 22  # of 1000 classes: ImageNet-22K has 21 841


def _may_have_another_head(found: Countable, context: Context) -> bool:
    """Return whether parameters may be those of the model with a published head of other classes."""
    declared, others = context.measurements(found.cell.row, found.recipe, found.cell.column)
    sizes = {one.convention: one.value for one in (*declared, *others)}
    full, bare = (sizes.get(str(kind)) for kind in (ParameterConvention.ALL, ParameterConvention.NO_HEAD))
    if full is None or bare is None:
        return False
    printed = found.cell.printed.interval()
    return bare <= printed.high and printed.low <= bare + _MOST_HEADS * (full - bare) and full > bare


def _score_counter(found: Countable, context: Context) -> tuple[int, int]:
    """Return how many numbers of a column besides one follow from its counter, and how many do not."""
    group = frame_of(found.cell, context).convention
    return (0, 0) if group is None else (group.scores[group.winner], group.votes - group.scores[group.winner] - 1)


def _is_told(check: CellCheck, found: Countable, context: Context) -> bool:
    """Return whether two numbers tell a counter, and none of the column denies it or no counter gives such a size."""
    hits, misses = _score_counter(found, context)
    values, stated = _values(check), abs(found.cell.printed.value * found.cell.printed.scale)
    is_far = stated * _FAR < min(values) or max(values) * _FAR < stated
    return hits >= 2 and (misses == 0 or is_far)


_FAR = Fraction(5, 4)  # how much more than all known counters another may count, at most


def _is_near(check: CellCheck) -> bool:
    """Return whether a number is as near to the measured one as counters of one model are to each other."""
    return (
        check.measured is not None
        and check.interval is not None
        and abs(Fraction(check.measured) - Fraction(check.interval[0])) <= Fraction(check.measured) / 100
    )


def _with_marks(check: CellCheck, cell: CellRef, context: Context) -> CellCheck:
    """Add how much a pass says. In a column of two counters, name the one that gives the number."""
    judged, frame = context.judged.get(cell.row.paper.id), frame_of(cell, context)
    power = judged.powers.get(cell.id) if judged is not None else None
    weak = frame.weak and chance(cell.printed, _values(check)) > _NO_LUCK
    check = check.model_copy(update={"weak": weak, "mixed": bool(frame.counters), "power": power})
    return _under_convention(check) if len(frame.counters) == 1 else check


_NO_LUCK = 1e-5  # how likely a number of six digits or more is one of ten measurements by chance, at most


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


def find_own_column(counted: Countable, context: Context) -> str | None:
    """Return the column that a cell belongs to instead of its own, if so."""
    if judge(counted, context).verdict is not Verdict.DIFFERS:
        return None
    return next((column for column, _ in fits_elsewhere(counted, context)), None)


def check_columns(plan: ColumnsPlan, context: Context) -> ColumnCheck:
    """Judge whether two counted cells of a row fit each other's column and not their own."""
    rows = rows_of_table(plan.paper, plan.table)
    counted = [one for row in rows if may_accuse(row, context) for one in totalled_cells(row)]
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
        proposed = any(map(totalled_cells, rows))
        why = "the table's models are proposed" if proposed else "no cell of the table can be counted"
        return _check(plan, Verdict.UNVERIFIABLE, why, printed)
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
