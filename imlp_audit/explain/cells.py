"""Printed numbers: which values print like them, what is measured, where that comes from, and what would give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from imlp_audit.checks.context import Conventions
from imlp_audit.checks.judged_under import Countable, column_of, countable
from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.errors import BuildError
from imlp_audit.explain.cause_search import search_causes
from imlp_audit.models.readings import Family, OwnFamily, axes_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import CellCheck, Check, CountedCheck, Measurement, NumberCheck, Verdict
from imlp_audit.records.counted import COUNTERS
from imlp_audit.records.explanation import (
    Breakdown,
    Causes,
    Fact,
    MeasuredValue,
    Measurements,
    RelatedCell,
    RestsOn,
    Section,
)
from imlp_audit.records.result import AuditResult, FitScore
from imlp_audit.report.hypotheses import describe_fit, describe_group, describe_power, group_of_column
from imlp_audit.report.verdicts import name_verdict, place_in_specs
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef, RowRef, own_families
from imlp_audit.spec.plan import CellPlan

ROUNDED = {
    Rounding.HALF_UP: "rounded half up",
    Rounding.HALF_EVEN: "rounded half to even",
    Rounding.TRUNCATION: "cut off",
    Rounding.CEILING: "rounded up",
    Rounding.DOUBLE: "rounded twice, first to one digit more",
}
_LONGEST_NAME = 30  # characters of a row's name in a sentence, or over a column


def list_facts(check: Check, *about: tuple[str, str], reason: str | None = None) -> tuple[Fact, ...]:
    """Return the labelled lines about a check: those given, why its verdict came out as it did, and notes.

    `reason` replaces the check's own. Empty lines are left out.
    """
    why = check.reason if reason is None else reason
    notes = [("because", why), *(("note", hint) for hint in check.hint_texts)]
    return tuple(Fact(label=label, text=text) for label, text in (*about, *notes) if text)


def judged_rounding(check: NumberCheck, declared: Sequence[Rounding]) -> Rounding:
    """Return the rounding rule that a check was judged under; the default one if it was not judged."""
    return Rounding(check.rounding) if check.rounding is not None else declared[0]


def stands_for(printed: Printed, rounding: Rounding) -> str:
    """Say which numbers are printed like this."""
    interval = printed.interval(rounding)
    low = f"{'from' if interval.low_closed else 'above'} {readable(interval.low)}"
    high = f"{'up to' if interval.high_closed else 'to below'} {readable(interval.high)}"
    return f"any number {low} {high} ({ROUNDED[rounding]})"


def write_gap(units: Fraction) -> str:
    """Write a distance in units of a last digit, with one decimal place and its sign."""
    text = decimal_text(units, 1)
    sign = "+" if units > 0 and text != "0" else ""
    return sign + (text if "." in text else f"{text}.0")


def compare_value(
    name: str, measured: str, printed: Printed, roundings: Sequence[Rounding], convention: str | None = None
) -> MeasuredValue:
    """Return a measured value with its distance from a printed number, and the rule by which it prints like it."""
    value = Fraction(measured)
    return MeasuredValue(
        name=name,
        convention=convention,
        measured=measured,
        gap=write_gap(printed.gap(value)),
        prints_by=next((rule for rule in roundings if value in printed.interval(rule)), None),
    )


def every_measurement(check: CountedCheck) -> Sequence[Measurement]:
    """Return the measurement that decides a check, and all others; none for a check that measured nothing."""
    if check.measured is None:
        return ()
    deciding = Measurement(
        reading=check.reading, convention=check.convention, measured=check.measured, verdict=check.verdict
    )
    return deciding, *check.also


def rests_on(cells: Sequence[CellRef], checks: Mapping[str, Check]) -> Iterator[RestsOn]:
    """Yield the cells that a check of another kind rests on, if any, with their verdicts where those are known."""
    if cells:
        yield RestsOn(
            cells=tuple(
                RelatedCell(
                    id=cell.id,
                    printed=cell.row.row.printed[cell.column_id],
                    unit=cell.unit,
                    verdict=name_verdict(checks[cell.id]) if cell.id in checks else None,
                )
                for cell in cells
            )
        )


def cell_facts(plan: CellPlan, check: CellCheck, read: Conventions, result: AuditResult) -> tuple[Fact, ...]:
    """Say what is printed, which numbers print so, and whether the model has one of them."""
    cell = plan.cell
    number = f"{cell.printed.text.removesuffix(cell.unit)} {cell.unit}".rstrip()
    return list_facts(
        check,
        ("printed", f"{number} in {cell.place}; {place_in_specs(check)}"),
        ("stands for", stands_for(cell.printed, judged_rounding(check, read.roundings_of(cell.column)))),
        *_judged_under(cell, check, result),
    )


def _judged_under(cell: CellRef, check: CellCheck, result: AuditResult) -> Iterator[tuple[str, str]]:
    """Yield what the paper's numbers support together, and how much a pass of this one says."""
    hypothesis = result.hypotheses.get(cell.row.paper.id)
    counted = countable(cell)
    if hypothesis is None or not cell.column.measure.totalled or isinstance(counted, str):
        return
    for group in hypothesis.readings:
        if group.name == counted.recipe.family_name:
            yield "reading", describe_group(group)
            yield f"{check.reading}", _list_departures(cell, counted.recipe, check.reading)
    score = group_of_column(hypothesis, column_of(cell))
    if score is not None:
        own = next((by for measure, by in cell.row.row.counted_by.items() if measure is cell.column.measure), None)
        stated = f"the row states its own, {own.convention}, because: {own.because}" if own else ""
        yield "convention", stated or describe_group(score.group)
    if check.power is not None:
        yield "power", describe_power(check.power)
    fit = cell.row.paper.about.value.fitted.get(str(check.convention))
    if check.fitted and fit is not None:
        found = describe_fit(FitScore(explained=fit.explained, of=fit.of, by_chance=fit.by_chance))
        yield "fitted", f"{check.convention} was fitted on this number; {found}"


def _list_departures(cell: CellRef, recipe: Recipe, reading: str | None) -> str:
    """List the axes on which a reading departs from the first one, each with the place that decides it."""
    named, own = cell.row.paper.about.value.readings, own_families(cell.row.paper)
    first = next(iter(named))
    if reading is None:
        return ""
    usual, chosen = (named[name].choices_with(own) for name in (first, reading))
    axes = dict(recipe.family.axes) if isinstance(recipe.family, OwnFamily) else axes_of(Family(str(recipe.family)))
    stated = [axis for axis in axes if axis in usual and axis in chosen]
    changed = [axis for axis in stated if chosen[axis].value != usual[axis].value]
    listed = ", ".join(f"{axis} {chosen[axis].value} ({chosen[axis].because})" for axis in changed)
    return f"departs from {first}: {listed}" if changed else ""


def explain_cell(plan: CellPlan, check: CellCheck, read: Conventions) -> Iterator[Section]:
    """Yield all measurements of a cell, and for a total over the model where it comes from."""
    cell = plan.cell
    if check.measured is not None:
        yield Measurements(
            names="reading",
            printed=cell.printed.text,
            rounding=read.roundings_of(cell.column)[0],
            values=tuple(_values(every_measurement(check), cell, read)),
        )
    counted = countable(cell)
    if cell.column.measure.totalled and isinstance(counted, Countable) and check.verdict is not Verdict.ERROR:
        if check.verdict is Verdict.DIFFERS and (number := search_causes(cell, check)) is not None:
            yield Causes(number=number)
        yield _break_down(counted, check, read)


def _values(found: Sequence[Measurement], cell: CellRef, read: Conventions) -> Iterator[MeasuredValue]:
    """Yield each number once, with all readings under which it is measured."""
    order = list(read.readings)
    for convention in read.declared_for(cell.row.row, cell.column):
        under: dict[str, list[str | None]] = {}
        for one in sorted(found, key=lambda m: order.index(m.reading)):
            if one.convention == convention:
                under.setdefault(one.measured, []).append(one.reading)
        for measured, names in under.items():
            every = names == order and names != order[:1]
            name = "any" if every else ", ".join(str(name or "any") for name in names)
            yield compare_value(name, measured, cell.printed, read.roundings_of(cell.column), convention)


def _break_down(counted: Countable, check: CellCheck, read: Conventions) -> Breakdown:
    """Return the number by part, with the baseline's if it can be counted: its failure is its own row's error."""
    from imlp_audit.explain.breakdown import dissect, set_beside  # torch takes seconds to import
    from imlp_audit.models.build import Builder

    row, column, name = counted.cell.row, counted.cell.column_id, str(check.convention)
    is_size = counted.cell.column.measure is Measure.PARAMETERS
    counting = ParameterConvention(name) if is_size else read.flops[name]
    reading, builder = read.readings[check.reading], Builder()

    def parts_of(recipe: Recipe) -> Mapping[str, int]:
        return dissect(recipe, recipe.part_of(reading), builder).by_part(counting)

    ours, theirs, failure = parts_of(counted.recipe), None, None
    base = row.baseline
    recipe = CellRef(base, column).recipe if base is not None else None
    if recipe is not None:
        try:
            theirs = parts_of(recipe)
        except Exception as error:  # whatever a host's code raises
            failure = str(error) if isinstance(error, BuildError) else f"{type(error).__name__}: {error}"
    return Breakdown(
        counted=COUNTERS.get(name, f"FLOPs by {name}"),
        reading=check.reading if counted.recipe.family else None,
        model=_name_briefly(row),
        baseline=_name_briefly(base) if base and theirs is not None else None,
        failure=failure,
        parts=set_beside(ours, theirs),
    )


def _name_briefly(row: RowRef) -> str:
    return row.row.label if len(row.row.label) <= _LONGEST_NAME else row.row.id
