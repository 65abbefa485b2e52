"""Other forms and sizes of a row's model, tried where its numbers differ: a source may not say which it counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from operator import itemgetter

from pydantic import ValidationError

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Measured, fitting
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
from imlp_audit.spec.paper import CellRef
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


@dataclass(frozen=True)
class _Number:
    """A printed total beside a model: the nearest of the measurements that its hypothesis allows, and whether one fits.

    None is the nearest where the model cannot be built so.
    """

    cell: CellRef
    nearest: Fraction | None
    fits: bool

    @property
    def stated(self) -> Fraction:
        """The printed value, without its sign."""
        return abs(self.cell.printed.value * self.cell.printed.scale)

    @property
    def distance(self) -> Fraction | None:
        """How far the nearest measurement is, as a share of the printed number."""
        return abs(self.nearest - self.stated) / self.stated if self.stated and self.nearest is not None else None

    @property
    def shortfall(self) -> Fraction | None:
        """The distance; 0 for a number that fits."""
        return Fraction(0) if self.fits else self.distance


def _numbers_of(one: Countable, recipe: Recipe, context: Context) -> dict[str, _Number]:
    """Return the totals of a cell's row beside a model, by their ids; none of columns with images of their own."""
    cells = [each.cell for each in totalled_cells(one.cell.row) if image_of(each.cell.column) is None]
    return {cell.id: _number(cell, recipe, context) for cell in cells}


def _number(cell: CellRef, recipe: Recipe, context: Context) -> _Number:
    frame = frame_of(cell, context)
    allowed = [m for m in frame.select(_declared(cell, recipe, context)) if not m.uncounted]
    stated = abs(cell.printed.value * cell.printed.scale)
    nearest = min((m.value for m in allowed), key=lambda value: abs(value - stated), default=None)
    return _Number(cell, nearest, bool(fitting(cell.printed, allowed, frame.roundings)))


def _declared(cell: CellRef, recipe: Recipe, context: Context) -> list[Measured]:
    try:
        return context.measurements(cell.row, recipe, cell.column)[0]
    except NotMeasuredError:
        return []


def _tried(one: Countable, context: Context) -> list[Recipe]:
    """Return the relatives that are counted, those of the table's classes first.

    Norms are folded only where a number of the row is a little off.
    """
    numbers = list(_numbers_of(one, one.recipe, context).values())
    folded = any(number.shortfall is not None and 0 < number.shortfall < _NORMS for number in numbers)
    published = [*_with_classes(one, numbers), *relatives_of(one.recipe, folded=folded)][:_MOST]
    return [*published, *(recipe for recipe in _with_sides(one, numbers, context) if recipe not in published)]


def _with_sides(one: Countable, numbers: Sequence[_Number], context: Context) -> Iterator[Recipe]:
    """Yield the model on images of other sides, where FLOPs of its row follow under no declared option.

    FLOPs grow as the area, and faster with attention: sides up to a sixth below what the area says are tried. A number
    of so few digits that a tenth of all numbers have such a side names none.
    """
    found, image = name_in_library(one.recipe), one.recipe.image
    side = image[0] if image is not None else own_size(*found) if found is not None else None
    rules = context.conventions(one.cell.row.paper).roundings
    missed = next(
        (
            number
            for number in numbers
            if number.cell.column.measure is Measure.FLOPS
            and not fitting(number.cell.printed, _declared(number.cell, one.recipe, context), rules)
        ),
        None,
    )
    if side is None or missed is None or not missed.nearest:
        return
    likely, printed = side * sqrt(missed.stated / missed.nearest), missed.cell.printed
    if abs(likely - side) >= _STEP / 2 and printed.step * likely <= abs(printed.value) * 2 * _STEP / 10:
        for other in range(_SIDES[0], _SIDES[1] + 1, _STEP):
            if other != side and 5 / 6 * likely <= other <= likely + _STEP:
                with suppress(ValidationError):
                    yield one.recipe.with_change({"image": other})


def _with_classes(one: Countable, numbers: Sequence[_Number]) -> list[Recipe]:
    """Return a classifier of 1000 classes with the other numbers of classes that its table states, or its data have.

    Fewer classes are tried only where a number of the row is less than the model's, and more where one is more.
    """
    table = one.cell.row.table.value
    if one.recipe.classes is not None or name_in_library(one.recipe) is None:
        return []
    headings = " | ".join(column.heading for column in table.columns.values())
    gaps = [number.nearest - number.stated for number in numbers if number.nearest is not None]
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
_NEAR = Fraction(1, 50)  # of the printed number
_NEARER = 5


def _hints(one: Countable, context: Context) -> Iterator[ModelHint]:
    """Yield which relatives have the printed number, and suit the row's other numbers.

    If none has it, the nearest one is named where it is far nearer than the row's own.
    """
    ours, name = _numbers_of(one, one.recipe, context), one.cell.id
    every = [(recipe, _numbers_of(one, recipe, context)) for recipe in _tried(one, context)]
    tried = [
        (recipe, theirs) for recipe, theirs in every if _suits(theirs, ours) and _tells_apart(theirs[name], ours[name])
    ]
    having = [(recipe, theirs) for recipe, theirs in tried if theirs[name].fits]
    for recipe, _ in sorted(having, key=lambda pair: sum(not number.fits for number in pair[1].values())):
        yield ModelHint(model=str(recipe))
    near = [(far, recipe) for recipe, theirs in tried if (far := theirs[name].distance) is not None]
    own = ours[name].distance
    if near and own is not None and not having:
        far, recipe = min(near, key=itemgetter(0))
        if far < min(_NEAR, own / _NEARER):
            yield ModelHint(model=str(recipe), gap=decimal_text(100 * far, 2))


def _tells_apart(theirs: _Number, ours: _Number) -> bool:
    """Return whether a number is not also the model's own, rounded in a way that is not declared."""
    printed, own = ours.cell.printed, ours.nearest
    if own is None or theirs.nearest is None or abs(own - theirs.nearest) >= printed.step * printed.scale:
        return True
    return not any(own in printed.interval(rule) for rule in LIKELY)


def _suits(theirs: Mapping[str, _Number], ours: Mapping[str, _Number]) -> bool:
    """Return whether a relative loses none of the row's numbers that its own model has, and is nearer to the worst."""
    if not all(theirs[name].fits for name, number in ours.items() if number.fits):
        return False
    before = [far for number in ours.values() if (far := number.shortfall) is not None]
    after = [far for number in theirs.values() if (far := number.shortfall) is not None]
    return bool(before) and len(after) == len(theirs) and max(after) < max(before)
