"""Other forms and sizes of a row's model, tried where its numbers differ: a source may not say which it counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from math import sqrt
from operator import itemgetter

from pydantic import ValidationError

from imlp_audit.checks.cells import find_own_column
from imlp_audit.checks.comparison import Measured, fitting
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.judged_under import Countable, countable, frame_of, totalled_cells
from imlp_audit.checks.matches_by_chance import hold_back, matches
from imlp_audit.count.facts import ModelKey, Need
from imlp_audit.models.names.data_sets import classes_named
from imlp_audit.models.names.known import own_size
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.relatives import name_in_library, relatives_of, with_ends
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.check import CellCheck, Check, ModelHint, Verdict
from imlp_audit.spec.columns import Measure, image_of
from imlp_audit.spec.paper import CellRef
from imlp_audit.spec.plan import CellPlan, Plan

_MOST = 8  # models that are counted for one row
_MOST_ROWS = 40
_MOST_CLASSES = 3
_SIDES, _STEP = (96, 512), 16  # of images
_NEAR = Fraction(1, 50)  # of the printed number
_NEARER = 5


def alternatives_needed(plans: Sequence[Plan], checks: Sequence[Check], context: Context) -> Mapping[ModelKey, Need]:
    """Return the models that are to be counted for hints: the relatives of those whose numbers differ."""
    needed: dict[ModelKey, Need] = {}
    for one, measured in _differing(plans, checks, context):
        work = any(each.cell.column.measure is Measure.FLOPS for each in totalled_cells(one.cell.row))
        for recipe in _list_relatives(one, measured, context):
            for reading in context.conventions(one.cell.row.paper).readings.values():
                needed[ModelKey.of(recipe, reading)] = Need(work=work)
    return needed


def name_alternatives(plans: Sequence[Plan], checks: Sequence[Check], context: Context) -> list[Check]:
    """Return the checks; those that differ have a hint for each relative of the model that has the printed number."""
    found = {one.cell.id: tuple(_hints(one, measured, context)) for one, measured in _differing(plans, checks, context)}
    return [_with_hints(check, hints) if (hints := found.get(check.id)) else check for check in checks]


def _with_hints(check: Check, hints: Sequence[ModelHint]) -> Check:
    """Return a check with hints that name a model before the others."""
    hinted = check.model_copy(update={"hints": (*hints, *check.hints)})
    is_other = isinstance(check, CellCheck) and check.identified and any(hint.gap is None for hint in hints)
    if not is_other:
        return hinted
    return hold_back(hinted.model_copy(update={"lead": True}), "another form or size of the model has it")


def _differing(
    plans: Sequence[Plan], checks: Sequence[Check], context: Context
) -> Iterator[tuple[Countable, Fraction]]:
    """Yield the totals that differ from their row's model, however rounded, with what is measured.

    Those of columns with images of their own are left out, those that belong to another column, and those of all but
    the first rows: in a table of a thousand rows that all differ, the cause is another one.
    """
    rows = set[str]()
    for plan, check in zip(plans, checks, strict=True):
        if not isinstance(plan, CellPlan) or not isinstance(check, CellCheck) or check.verdict is not Verdict.DIFFERS:
            continue
        one, measured = countable(plan.cell), Fraction(check.measured or 0)
        if plan.cell.column.measure.totalled and isinstance(one, Countable) and image_of(plan.cell.column) is None:
            rows.add(plan.cell.row.id)
            if len(rows) > _MOST_ROWS:
                return
            if not matches(plan.cell.printed, measured) and find_own_column(one, context) is None:
                yield one, measured


def _list_relatives(one: Countable, measured: Fraction, context: Context) -> list[Recipe]:
    """Return the model with the classes that its table states, in its other forms, and on other images."""
    table = one.cell.row.table.value
    headings = " | ".join(column.heading for column in table.columns.values())
    published: list[Recipe] = []
    in_library = one.recipe.classes is None and name_in_library(one.recipe) is not None
    if in_library and one.cell.column.measure is Measure.PARAMETERS:  # FLOPs hardly depend on classes
        named = classes_named(table.title, headings)[:_MOST_CLASSES]
        published = [one.recipe.with_change({"classes": number}) for number in named]
    gray = with_ends(one.recipe, 1, None) if one.cell.row.id in context.identities else None
    published = [*([gray] if gray is not None else []), *published, *relatives_of(one.recipe)][:_MOST]
    return [*published, *(recipe for recipe in _on_other_images(one, measured, context) if recipe not in published)]


def _on_other_images(one: Countable, measured: Fraction, context: Context) -> Iterator[Recipe]:
    """Yield the model on images of other sides, whether published or not, where no declared option gives its FLOPs.

    FLOPs grow as the area, and faster with attention: sides up to a sixth below what the area says are tried. A number
    of so few digits that a tenth of all numbers have such a side names none.
    """
    found, image, printed = name_in_library(one.recipe), one.recipe.image, one.cell.printed
    side = image[0] if image is not None else own_size(*found) if found is not None else None
    rules = context.conventions(one.cell.row.paper).roundings
    declared = _measure(one.cell, one.recipe, context)
    missed = one.cell.column.measure is Measure.FLOPS and not fitting(printed, declared, rules)
    if not missed or side is None or not measured:
        return
    likely = side * sqrt(abs(printed.value * printed.scale) / measured)
    if abs(likely - side) >= _STEP / 2 and printed.step * likely <= abs(printed.value) * 2 * _STEP / 10:
        for other in range(_SIDES[0], _SIDES[1] + 1, _STEP):
            if other != side and 5 / 6 * likely <= other <= likely + _STEP:
                with suppress(ValidationError):
                    yield one.recipe.with_change({"image": other})


def _hints(one: Countable, measured: Fraction, context: Context) -> Iterator[ModelHint]:
    """Yield the relatives that have the number and suit the row's others; or one that is far nearer."""
    cells = [each.cell for each in totalled_cells(one.cell.row) if image_of(each.cell.column) is None]

    def find_gaps(recipe: Recipe) -> dict[str, Fraction | None]:
        return {cell.id: _find_gap(cell, recipe, context) for cell in cells}

    ours, name = find_gaps(one.recipe), one.cell.id
    every = [(recipe, find_gaps(recipe)) for recipe in _list_relatives(one, measured, context)]
    suiting = [(recipe, gaps) for recipe, gaps in every if _suits(gaps, ours)]
    having = [(recipe, gaps) for recipe, gaps in suiting if gaps[name] == 0]
    for recipe, _ in sorted(having, key=lambda pair: sum(gap != 0 for gap in pair[1].values())):
        yield ModelHint(model=str(recipe))
    near = [(gap, recipe) for recipe, gaps in suiting if (gap := gaps[name]) is not None]
    own = ours[name]
    if near and own is not None and not having:
        gap, recipe = min(near, key=itemgetter(0))
        if gap < min(_NEAR, own / _NEARER):
            yield ModelHint(model=str(recipe), gap=decimal_text(100 * gap, 2))


def _suits(theirs: Mapping[str, Fraction | None], ours: Mapping[str, Fraction | None]) -> bool:
    """Return whether a relative loses none of the row's numbers that its own model has, and is nearer to the worst."""
    worst = max((gap for gap in ours.values() if gap is not None), default=0)
    is_nearer = all(gap is not None and gap < worst for gap in theirs.values())
    return is_nearer and all(theirs[name] == 0 for name, gap in ours.items() if gap == 0)


def _find_gap(cell: CellRef, recipe: Recipe, context: Context) -> Fraction | None:
    """Return how far the nearest allowed measurement is, as a share of the number; None where nothing can be built."""
    frame = frame_of(cell, context)
    allowed = [one for one in frame.select(_measure(cell, recipe, context)) if not one.uncounted]
    if fitting(cell.printed, allowed, frame.roundings):
        return Fraction(0)
    stated = abs(cell.printed.value * cell.printed.scale)
    return min((abs(one.value - stated) / stated for one in allowed if stated), default=None)


def _measure(cell: CellRef, recipe: Recipe, context: Context) -> list[Measured]:
    try:
        return context.measurements(cell.row, recipe, cell.column)[0]
    except NotMeasuredError:
        return []
