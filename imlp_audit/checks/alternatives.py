"""Other forms and sizes of a row's model, tried where its numbers differ: a source may not say which it counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import sqrt

from pydantic import ValidationError

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Measured
from imlp_audit.checks.frames import Countable, countable, frame_of, totalled_cells
from imlp_audit.checks.identity import hold_back
from imlp_audit.count.facts import ModelKey, Need
from imlp_audit.models.names.data_sets import USUAL_CLASSES, classes_named
from imlp_audit.models.names.known import own_size
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.relatives import name_in_library, relatives_of
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.numbers.printed import LIKELY
from imlp_audit.records.check import CellCheck, Check, ModelHint, Verdict
from imlp_audit.spec.columns import Measure, image_of
from imlp_audit.spec.plan import CellPlan, Plan


def alternatives_needed(plans: Sequence[Plan], checks: Sequence[Check], context: Context) -> Mapping[ModelKey, Need]:
    """Return the models that are to be counted for hints: the relatives of those whose numbers differ."""
    needed: dict[ModelKey, Need] = {}
    for one in _differing(plans, checks):
        work = any(each.cell.column.measure is Measure.FLOPS for each in totalled_cells(one.cell.row))
        for recipe in _tried(one, context):
            for reading in context.conventions(one.cell.row.paper).readings.values():
                needed[ModelKey.of(recipe, reading)] = Need(work=work)
    return needed


def name_alternatives(plans: Sequence[Plan], checks: Sequence[Check], context: Context) -> list[Check]:
    """Return the checks; those that differ have a hint for each relative of the model that has the printed number."""
    found = {one.cell.id: hints for one in _differing(plans, checks) if (hints := tuple(_hints(one, context)))}
    return [_with_hints(check, found[check.id]) if check.id in found else check for check in checks]


def _with_hints(check: Check, hints: Sequence[ModelHint]) -> Check:
    """Return a check with hints that name a model before the others."""
    hinted = check.model_copy(update={"hints": (*hints, *check.hints)})
    is_other = isinstance(check, CellCheck) and check.identified and any(hint.gap is None for hint in hints)
    if not is_other:
        return hinted
    return hold_back(hinted.model_copy(update={"lead": True}), "another form or size of the model has it")


def _differing(plans: Sequence[Plan], checks: Sequence[Check]) -> Iterator[Countable]:
    """Yield the totals that differ from their row's model, where the column has no images of its own.

    Those of the first rows alone: in a table of a thousand rows that all differ, the cause is another one.
    """
    rows = set[str]()
    for plan, check in zip(plans, checks, strict=True):
        if isinstance(plan, CellPlan) and check.verdict is Verdict.DIFFERS and plan.cell.column.measure.totalled:
            one = countable(plan.cell)
            if isinstance(one, Countable) and image_of(plan.cell.column) is None:
                rows.add(plan.cell.row.id)
                if len(rows) > _MOST_ROWS:
                    return
                yield one


def _tried(one: Countable, context: Context) -> list[Recipe]:
    """Return the relatives that are counted, those of the table's classes first.

    Norms are folded only where a number of the row is a little off.
    """
    gaps = [_shortfall(cell, context) for cell in _row_of(one)]
    folded = any(gap is not None and 0 < gap < _NORMS for gap in gaps)
    published = [*_with_classes(one, context), *relatives_of(one.recipe, folded=folded)][:_MOST]
    return [*published, *(recipe for recipe in _with_sides(one, context) if recipe not in published)]


def _with_sides(one: Countable, context: Context) -> Iterator[Recipe]:
    """Yield the model on images of other sides, where FLOPs of its row follow under no declared option.

    FLOPs grow as the area, and faster with attention: sides up to a sixth below what the area says are tried. A number
    of so few digits that a tenth of all numbers have such a side names none.
    """
    found, image = name_in_library(one.recipe), one.recipe.image
    side = image[0] if image is not None else own_size(*found) if found is not None else None
    missed = [
        cell for cell in _row_of(one) if cell.cell.column.measure is Measure.FLOPS and not _follows(cell, context)
    ]
    nearest = _nearest(missed[0], context) if missed else None
    if side is None or not nearest:
        return
    likely = side * sqrt(_stated(missed[0]) / nearest)
    printed = missed[0].cell.printed
    if abs(likely - side) >= _STEP / 2 and printed.step * likely <= abs(printed.value) * 2 * _STEP / 10:
        for other in range(_SIDES[0], _SIDES[1] + 1, _STEP):
            if other != side and 5 / 6 * likely <= other <= likely + _STEP:
                with suppress(ValidationError):
                    yield one.recipe.with_change({"image": other})


def _follows(one: Countable, context: Context) -> bool:
    try:
        declared, _ = context.measurements(one.cell.row, one.recipe, one.cell.column)
    except NotMeasuredError:
        return False
    intervals = [one.cell.printed.interval(rule) for rule in context.conventions(one.cell.row.paper).roundings]
    return any(m.value in interval for m in declared for interval in intervals)


def _with_classes(one: Countable, context: Context) -> list[Recipe]:
    """Return a classifier of 1000 classes with the other numbers of classes that its table states, or its data have.

    Fewer classes are tried only where a number of the row is less than the model's, and more where one is more.
    """
    table = one.cell.row.table.value
    if one.recipe.classes is not None or name_in_library(one.recipe) is None:
        return []
    headings = " | ".join(column.heading for column in table.columns.values())
    gaps = [near - _stated(cell) for cell in _row_of(one) if (near := _nearest(cell, context)) is not None]
    nearer = [
        number
        for number in classes_named(table.title, headings)
        if any(gap > 0 if number < USUAL_CLASSES else gap < 0 for gap in gaps)
    ]
    return [one.recipe.with_change({"classes": number}) for number in nearer[:_MOST_CLASSES]]


_NORMS = Fraction(1, 20)  # of a model: norms are less
_MOST = 8  # published models that are counted for one row
_SIDES, _STEP = (96, 512), 16  # of images, whether published or not
_MOST_ROWS = 40
_MOST_CLASSES = 3


def _hints(one: Countable, context: Context) -> Iterator[ModelHint]:
    """Yield which relatives have the printed number, and suit the row's other numbers.

    If none has it, the nearest one is named where it is far nearer than the row's own.
    """
    suiting = [recipe for recipe in _tried(one, context) if _suits_row(recipe, one, context)]
    tried = [recipe for recipe in suiting if _tells_apart(recipe, one, context)]
    fitting = [recipe for recipe in tried if _fits(replace(one, recipe=recipe), context)]
    for recipe in sorted(fitting, key=lambda recipe: _count_misses(recipe, one, context)):
        yield ModelHint(model=str(recipe))
    own = _distance(one, context)
    near = [(far, recipe) for recipe in tried if (far := _distance(replace(one, recipe=recipe), context)) is not None]
    if near and own is not None and not fitting:
        far, recipe = min(near, key=lambda pair: pair[0])
        if far < min(_NEAR, own / _NEARER):
            yield ModelHint(model=str(recipe), gap=decimal_text(100 * far, 2))


def _tells_apart(recipe: Recipe, one: Countable, context: Context) -> bool:
    """Return whether a number is not also the model's own, rounded in a way that is not declared."""
    ours, theirs = _nearest(one, context), _nearest(replace(one, recipe=recipe), context)
    step = one.cell.printed.step * one.cell.printed.scale
    if ours is None or theirs is None or abs(ours - theirs) >= step:
        return True
    return not any(ours in one.cell.printed.interval(rule) for rule in LIKELY)


def _count_misses(recipe: Recipe, one: Countable, context: Context) -> int:
    return sum(not _fits(replace(cell, recipe=recipe), context) for cell in _row_of(one))


def _row_of(one: Countable) -> list[Countable]:
    return [cell for cell in totalled_cells(one.cell.row) if image_of(cell.cell.column) is None]


def _suits_row(recipe: Recipe, one: Countable, context: Context) -> bool:
    """Return whether a relative loses none of the row's numbers that its own model has, and is nearer to the worst."""
    row = _row_of(one)
    if not all(_fits(replace(cell, recipe=recipe), context) for cell in row if _fits(cell, context)):
        return False
    ours = [far for cell in row if (far := _shortfall(cell, context)) is not None]
    theirs = [far for cell in row if (far := _shortfall(replace(cell, recipe=recipe), context)) is not None]
    return bool(ours) and len(theirs) == len(row) and max(theirs) < max(ours)


def _shortfall(one: Countable, context: Context) -> Fraction | None:
    """Return how far a model is from a printed number that it doesn't have; 0 for one that it has."""
    return Fraction(0) if _fits(one, context) else _distance(one, context)


_NEAR = Fraction(1, 50)  # of the printed number
_NEARER = 5


def _distance(one: Countable, context: Context) -> Fraction | None:
    """Return how far the nearest measurement of a model is from the printed number, as a share of it."""
    stated, nearest = _stated(one), _nearest(one, context)
    return abs(nearest - stated) / stated if stated and nearest is not None else None


def _nearest(one: Countable, context: Context) -> Fraction | None:
    """Return the measurement of a model that is nearest to the printed number; None if it cannot be built."""
    values = (Fraction(measured.value) for measured in _allowed(one, context))
    return min(values, key=lambda value: abs(value - _stated(one)), default=None)


def _stated(one: Countable) -> Fraction:
    return abs(one.cell.printed.value * one.cell.printed.scale)


def _fits(one: Countable, context: Context) -> bool:
    """Return whether a cell's number follows from a model under the paper's hypothesis."""
    intervals = [one.cell.printed.interval(rule) for rule in frame_of(one.cell, context).roundings]
    return any(m.value in interval for m in _allowed(one, context) for interval in intervals)


def _allowed(one: Countable, context: Context) -> list[Measured]:
    """Return the measurements of a model that the paper's hypothesis allows; none if it cannot be built so."""
    try:
        declared, _ = context.measurements(one.cell.row, one.recipe, one.cell.column)
    except NotMeasuredError:
        return []
    return [m for m in frame_of(one.cell, context).select(declared) if not m.uncounted]
