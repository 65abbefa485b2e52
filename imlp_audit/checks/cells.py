"""Checks of printed cells: does the number follow from the row's model? Of peak memory a model shows only a part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import lru_cache, partial
from operator import itemgetter

from imlp_audit.checks.candidate_counts import is_stated_side, write_side
from imlp_audit.checks.comparison import Comparison, Ways, compare, fitting
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.judged_under import (
    Countable,
    cells_of_column,
    column_of,
    countable,
    frame_of,
    has_own_counter,
    is_stated,
    may_accuse,
    record_fit,
    record_unmeasured,
    totalled_cells,
    unless_missing,
    write_images,
)
from imlp_audit.checks.matches_by_chance import (
    DOUBTED,
    FEW,
    LEAST,
    NO_PEERS,
    NOT_NAMED,
    SET_APART,
    RowIdentity,
    are_settled,
    chance,
    hold_back,
    matches,
)
from imlp_audit.count.conventions import MemoryConvention, ParameterConvention
from imlp_audit.models.names.data_sets import PUBLISHED_HEADS, SMALL_HEADS, USUAL_CLASSES
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.recipe_changes import write_value
from imlp_audit.models.relatives import ends_of
from imlp_audit.numbers.interval import Interval, decimal_text, readable
from imlp_audit.numbers.parsing import SCALES
from imlp_audit.numbers.printed import Rounding
from imlp_audit.numbers.words import list_some
from imlp_audit.records.check import NO_MODEL, PASSES, AnyHint, CellCheck, ColumnCheck, OptionHint, Verdict
from imlp_audit.spec.columns import Measure, MemoryColumn, image_of
from imlp_audit.spec.paper import CellRef, Paper, rows_of_table
from imlp_audit.spec.plan import CellPlan, ColumnsPlan

_OTHER_IMAGES = "the size of the images is proposed: write `images: [SIDE]` in the table if you know it"
_OTHER_HEAD = "a classifier of other classes would give it"
_FAR = Fraction(5, 4)  # how much more than all known counters another may count, at most
_FAR_OFF = Fraction(1, 10)  # of the printed number
_NEARER = 5  # times, so that it is the way to count that is not the paper's
_NO_LUCK = 1e-5  # how likely a number of six digits or more is one of ten measurements by chance, at most


def check_memory(plan: CellPlan, column: MemoryColumn, recipe: Recipe, context: Context) -> CellCheck:
    """Judge a peak: live tensors that print so reproduce it; a peak below what any program needs is impossible.

    In between it is open: the model shows neither the allocator's work space nor what the authors' code keeps.
    """
    cell, read, printed = plan.cell, context.conventions(plan.cell.row.paper), context.printed(plan.cell)
    declared, others = context.measurements(cell.row, recipe, column)
    comparison = compare(printed, Ways(declared, declared, read.roundings, read.roundings, others))
    found = record_fit(CellCheck, plan, printed, cell.column.unit, comparison)
    unit = MemoryConvention(str(found.convention))
    live = f"{readable(comparison.deciding.value, 1)} {unit.symbol} live at once{write_images(column)}"
    if comparison.verdict in PASSES:
        return found.model_copy(update={"reason": f"{live}: {comparison.reason}"})
    peaks = [context.model(recipe, reading).peaks[column.batch] for reading in read.readings.values()]
    least = Fraction(min(peak.least for peak in peaks))  # that any program of the model's operations needs
    floors = [Interval.point(least / one.size) for one in read.about.memory]
    if all(printed.interval(rule) < floor for rule in read.roundings for floor in floors):
        taken = f"the weights and one operation already take {readable(least / unit.size, 1)} {unit.symbol}"
        return found.model_copy(update={"reason": f"{live}, and {taken}"})
    more = comparison.deciding.value > printed.value
    rest = "how much of it the authors' code frees earlier" if more else "what fills the rest"
    reason = f"{live}, {printed.text} printed; {rest} needs {cell.column.needs}"
    return found.model_copy(update={"verdict": Verdict.UNVERIFIABLE, "reason": reason, "hints": ()})


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
    hints = _hints_of(found, comparison, context) if column.measure.totalled else comparison.hints
    check = record_fit(CellCheck, plan, cell.printed, cell.unit, comparison)
    check = _with_fit(check.model_copy(update={"hints": hints}), cell)
    check = _with_marks(check, cell, context) if check.verdict in PASSES else check
    return _with_proposals(check, found, context) if column.measure.totalled else check


def _with_proposals(check: CellCheck, found: Countable, context: Context) -> CellCheck:
    """Name what was proposed and not stated: the row's model, the column's counter. They accuse on evidence alone."""
    identity, stated = context.identities.get(found.cell.row.id), is_stated(found.cell)
    if identity is not None:
        check = check.model_copy(update={"model": str(found.recipe), "identified": identity.how, "power": None})
        check = _under_ends(check, found) if check.verdict in PASSES else check
        if identity.alike and check.verdict in PASSES:
            said = f"{check.reason}; {list_some(identity.alike, 3)} would have it too"
            check = check.model_copy(update={"reason": said})
    if check.verdict in PASSES and not stated:
        return _under(check, f"convention {check.convention}")
    if check.verdict is not Verdict.DIFFERS or (identity is None and stated):
        return check
    if found.cell.column.measure is Measure.FLOPS and image_of(found.cell.column) is None:
        said = f"by {check.convention}{write_side(found.recipe)}: {check.reason}"
        check = check.model_copy(update={"reason": said})
    why, row = _why_open(check, found, identity, context), found.cell.row.row
    doubt = why
    if identity is not None and not identity.accuses:
        doubt = f"{SET_APART}: {row.variant}" if row.variant else (why or NO_PEERS) if row.named else NOT_NAMED
    if doubt is None:
        return check
    if doubt == DOUBTED and identity is not None:
        doubt = f"{doubt}, {identity.doubted[found.cell.column_id]}"
    likely = why in (None, DOUBTED, _OTHER_HEAD, _OTHER_IMAGES) or (why == FEW and _is_told(check, found, context))
    is_cut = any(matches(found.cell.printed, value) for value in _values(check))
    is_near = is_cut or (found.cell.column.measure is Measure.FLOPS and _is_near(check))
    return hold_back(check.model_copy(update={"lead": likely and not is_near}), doubt)


def _under_ends(check: CellCheck, found: Countable) -> CellCheck:
    """Return a pass as one under the images, channels and classes of a proposed model that are no usual ones."""
    cell, image = found.cell, found.recipe.image
    is_open = cell.column.measure is Measure.FLOPS and not is_stated_side(cell.row, found.recipe)
    ends = (*ends_of(found.recipe), *([f"image {write_value(image)}"] if is_open else []))
    return _under(check, *ends) if ends else check


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
    if identity is not None and not is_stated_side(found.cell.row, found.recipe):
        return _OTHER_IMAGES
    sure = misses == 0 and hits >= 2 * LEAST
    if not sure and not is_stated(found.cell) and _is_near(check):
        return "it is so near that another counter may have counted it, and too few numbers tell"
    return None


def _may_have_another_head(found: Countable, context: Context) -> bool:
    """Return whether parameters are those of the model with a usual number of other classes."""
    declared, others = context.measurements(found.cell.row, found.recipe, found.cell.column)
    sizes = {one.convention: one.value for one in (*declared, *others)}
    full, bare = (sizes.get(str(kind)) for kind in (ParameterConvention.ALL, ParameterConvention.NO_HEAD))
    if full is None or bare is None:
        return False
    classes = found.recipe.classes or USUAL_CLASSES
    rounded, cut = found.cell.printed.rounded_and_cut
    totals = {one: bare + Fraction(full - bare) * one / classes for one in (*SMALL_HEADS, *PUBLISHED_HEADS)}
    return any(size in rounded or (size in cut and one in PUBLISHED_HEADS) for one, size in totals.items())


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
    return _under(check, f"convention {check.convention}") if len(frame.counters) == 1 else check


def _under(check: CellCheck, *options: str) -> CellCheck:
    """Return a pass as one under some options, which its reason names too, also where one of them is the default."""
    new = tuple(one for one in options if one not in check.under)
    reason = f"{check.reason}{',' if check.under else ' under'} {', '.join(new)}" if new else check.reason
    under = (*check.under, *new)
    return check.model_copy(update={"verdict": Verdict.REPRODUCED_UNDER, "under": under, "reason": reason})


def _with_fit(check: CellCheck, cell: CellRef) -> CellCheck:
    """Mark a pass under a fitted convention: fitted on the cell, or a prediction; withdraw what a search left open."""
    fit = cell.row.paper.about.value.fitted.get(str(check.convention))
    if fit is None:
        return check
    if any(fnmatchcase(cell.id, glob) for glob in fit.undecided):
        reason = f"the best solutions of the search that found {check.convention} disagree about this number"
        return check.model_copy(update={"verdict": Verdict.UNVERIFIABLE, "reason": reason, "under": ()})
    if check.verdict not in PASSES:
        return check
    check = _under(check, f"convention {check.convention}")
    fitted = any(fnmatchcase(cell.id, glob) for glob in fit.cells)
    reason = check.reason if fitted else f"{check.reason}, a prediction: it was fitted on other numbers"
    return check.model_copy(update={"reason": reason, "fitted": fitted})


def judge(counted: Countable, context: Context) -> Comparison:
    """Compare a cell with its model. Raises NotMeasuredError."""
    cell, paper = counted.cell, counted.cell.row.paper
    declared, others = context.measurements(cell.row, counted.recipe, cell.column)
    frame, read = frame_of(cell, context), context.conventions(paper)
    ways = replace(frame.ways(declared, read.roundings_of(cell.column), others), elsewhere=read.named(cell.column))
    if not ways.allowed:
        raise NotMeasuredError(f"{counted.recipe.name} has no number under {frame.name}, which the others follow from")
    comparison = compare(cell.printed, ways, count_lost=partial(_count_lost, cell, context=context))
    return unless_missing(comparison, context, paper, counted.recipe)


def find_own_column(counted: Countable, context: Context) -> str | None:
    """Return the column that a cell belongs to instead of its own, if so."""
    if judge(counted, context).verdict is not Verdict.DIFFERS:
        return None
    return next((column for column, _ in _fits_elsewhere(counted, context)), None)


def _hints_of(found: Countable, comparison: Comparison, context: Context) -> tuple[AnyHint, ...]:
    """Return the hints of a total: those of its comparison, and where it differs what its row and column suggest."""
    if comparison.verdict is not Verdict.DIFFERS:
        return comparison.hints
    leads = (*_elsewhere(found, context), *_in_another_unit(found, context))
    return (*_under_another(found, comparison), *comparison.hints, *leads)


def _fits_elsewhere(counted: Countable, context: Context) -> Iterator[tuple[str, Fraction]]:
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
        yield from ((name, m.value) for m in fitting(printed, declared, read.roundings_of(column))[:1])


def _elsewhere(counted: Countable, context: Context) -> Iterator[str]:
    cell = counted.cell
    for column, value in _fits_elsewhere(counted, context):
        heading = cell.row.table.value.columns[column].heading
        yield f"{cell.printed.text} fits the column {heading!r} instead, where {readable(value)} is measured"


def _in_another_unit(counted: Countable, context: Context) -> Iterator[str]:
    """Yield a hint where the same digits in another unit are what was measured: a slip of the column's unit."""
    cell = counted.cell
    declared, _ = context.measurements(cell.row, counted.recipe, cell.column)
    rules = context.conventions(cell.row.paper).roundings_of(cell.column)
    for unit in ("", "k", "M", "G", "T"):
        printed = replace(cell.printed, scale=SCALES.get(unit, 1))
        for one in fitting(printed, declared, rules)[:1] if printed.scale != cell.printed.scale else ():
            named = f"unit {unit}" if unit else "no unit"
            yield f"{cell.printed.text} fits with {named}, where {readable(one.value)} is measured"


def _under_another(counted: Countable, comparison: Comparison) -> Iterator[str]:
    """Yield a hint where another declared way to count is near a total, and the one that it is judged by is far off."""
    printed = counted.cell.printed
    stated = printed.value * printed.scale
    away = abs(comparison.deciding.value - stated)
    if not comparison.also:
        return
    least, nearest = min(((abs(Fraction(one.measured) - stated), one) for one in comparison.also), key=itemgetter(0))
    if away < _FAR_OFF * abs(stated) or least * _NEARER > away:
        return
    ways = (("reading", nearest.reading, comparison.deciding.reading),
            ("convention", nearest.convention, comparison.deciding.convention))  # fmt: skip
    names = ", ".join(f"{kind} {name}" for kind, name, own in ways if name != own)
    gap = decimal_text(100 * least / abs(stated), 2)
    yield f"the nearest is {readable(Fraction(nearest.measured))} under {names}, also declared: a gap of {gap} %"


def _count_lost(cell: CellRef, hint: OptionHint, context: Context) -> int:
    """Return how many numbers of a cell's column follow now and would not under a hint's convention or rule."""
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
    by_it = [m for m in (*declared, *others) if m.convention == convention and frame.allows_reading(m.reading)]
    return bool(fitting(cell.printed, by_it, (rule,) if rule is not None else frame.roundings))


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
    where = "; ".join(
        f"{cell.row.row.id}: {cell.printed.text} under {cell.column_id} is {column}" for cell, column in strays
    )
    verdict = Verdict.UNVERIFIABLE
    if strays:
        verdict = Verdict.INCONSISTENT
        reason = f"{len(strays)} of {len(cells)} counted cells stand under a wrong heading: {where}"
    elif not cells:
        proposed = any(map(totalled_cells, rows))
        reason = "the table's models are proposed" if proposed else "no cell of the table can be counted"
    elif any(judge(one, context).verdict is Verdict.UNVERIFIABLE for one in counted):
        reason = "not all work of the table's models is counted"
    else:
        verdict, reason = Verdict.REPRODUCED, f"no two of {len(cells)} counted cells are swapped"
    return ColumnCheck(
        id=plan.id, verdict=verdict, reason=reason, source=plan.source, printed=printed, measured=where or None
    )
