"""Cells: what a printed number stands for, what is measured for it, where that comes from, and what would give it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from imlp_audit.checks.context import Conventions
from imlp_audit.checks.frames import column_of, countable, missing_for
from imlp_audit.count.conventions import Convention, ParameterConvention
from imlp_audit.errors import AuditError, BuildError
from imlp_audit.explain.printed import (
    compare_value,
    every_measurement,
    judged_rounding,
    list_facts,
    stands_for,
    write_gap,
)
from imlp_audit.explain.search import search_causes
from imlp_audit.models.readings import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import CellCheck, Measurement, Verdict
from imlp_audit.records.explanation import (
    AxisSource,
    Breakdown,
    Causes,
    Fact,
    MeasuredValue,
    Measurements,
    NearestReadings,
    NearReading,
    ReadingSearch,
    Section,
)
from imlp_audit.records.result import AuditResult, FitScore
from imlp_audit.records.solution import SolvedChange
from imlp_audit.report.hypotheses import describe_fit, describe_group, describe_power, group_of_column
from imlp_audit.report.verdicts import place_in_specs
from imlp_audit.solve.problem import Cell, Integers, SearchProblem, Space
from imlp_audit.spec.columns import Measure, image_of
from imlp_audit.spec.paper import CellRef, RowRef, own_families
from imlp_audit.spec.plan import CellPlan
from imlp_audit.spec.schema import Choice

if TYPE_CHECKING:
    from imlp_audit.explain.breakdown import Portion
    from imlp_audit.models.build import Builder


_COUNTED = {
    "all": "all parameters",
    "no_head": "parameters without the classifier head",
    "with_buffers": "parameters and buffers",
    "trainable": "trained parameters",
    "layers": "parameters of torch's layers",
    "macs": "multiply-accumulates",
}
_LONGEST_HEADER = 14  # characters over a column
_LONGEST_NAME = 30  # characters of a row's name in a sentence


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
    if cell.column.measure.totalled and missing_for(cell) is None and check.verdict is not Verdict.ERROR:
        decided = _DecidedTotal(cell, check, read)
        if check.verdict is Verdict.DIFFERS and (number := search_causes(cell, check)) is not None:
            yield Causes(number=number)
        yield _break_down(decided)
        yield from search_readings(cell, read)


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


@dataclass(frozen=True)
class _DecidedTotal:
    """A total as it decides a check: its cell, and the reading and convention that it is counted under."""

    cell: CellRef
    check: CellCheck
    read: Conventions

    def reading_of(self, recipe: Recipe) -> AnyReading | None:
        """Return what the deciding reading says about a model."""
        return recipe.part_of(self.read.readings[self.check.reading])

    @property
    def counting(self) -> ParameterConvention | Convention:
        """The convention."""
        name = str(self.check.convention)
        return ParameterConvention(name) if self.cell.column.measure is Measure.PARAMETERS else self.read.flops[name]


def _break_down(decided: _DecidedTotal) -> Breakdown:
    """Return the number by part and by kind, with the baseline's where the row has one that can be counted."""
    from imlp_audit.explain.breakdown import break_down, dissect  # torch takes seconds to import
    from imlp_audit.models.build import Builder

    recipe, builder = _recipe(decided.cell), Builder()
    ours = dissect(recipe, decided.reading_of(recipe), builder).portions(decided.counting)
    row = decided.cell.row
    base = row.baseline if row.baseline is not None and row.baseline.row.model is not None else None
    theirs = _count_baseline(base, decided, builder) if base is not None else None
    portions = theirs if isinstance(theirs, tuple) else None
    convention = str(decided.check.convention)
    return Breakdown(
        counted=_COUNTED.get(convention, f"FLOPs by {convention}"),
        reading=decided.check.reading if recipe.family else None,
        model=_name_within(row, row.row.label, _LONGEST_HEADER),
        baseline=_name_within(base, base.row.label, _LONGEST_HEADER) if base and portions is not None else None,
        baseline_name=_name_within(base, base.full_label, _LONGEST_NAME) if base and portions is not None else None,
        failure=theirs if isinstance(theirs, str) else None,
        parts=break_down(ours, portions, "part"),
        kinds_of="kind of parameter" if isinstance(decided.counting, ParameterConvention) else "class of work",
        kinds=break_down(ours, portions, "kind"),
    )


def _count_baseline(row: RowRef, decided: _DecidedTotal, builder: Builder) -> tuple[Portion, ...] | str:
    """Return what the baseline has, or why it could not be counted: an error of its own row, not of this one."""
    from imlp_audit.explain.breakdown import dissect  # torch takes seconds to import

    recipe = _recipe(CellRef(row, decided.cell.column_id))
    try:
        return dissect(recipe, decided.reading_of(recipe), builder).portions(decided.counting)
    except BuildError as error:
        return str(error)
    except Exception as error:  # whatever a host's code raises
        return f"{type(error).__name__}: {error}"


def _recipe(cell: CellRef) -> Recipe:
    if cell.recipe is None:
        raise ValueError(f"{cell.row.id} has no model")
    return cell.recipe


def _name_within(row: RowRef, label: str, longest: int) -> str:
    return label if len(label) <= longest else row.row.id


SHOWN = 5  # of equally near readings


class _Counting(NamedTuple):
    """One convention and rounding rule: a model's counts under every reading, and the range that prints so."""

    convention: str
    rounding: Rounding
    counts: Integers
    low: int
    high: int


def search_readings(cell: CellRef, read: Conventions) -> Iterator[NearestReadings]:
    """Yield which of all readings give the printed number; nothing if nothing is open about the model."""
    named = read.about.readings
    if not named:
        return
    first = next(iter(named))
    answer = NearestReadings(printed=cell.printed.text, first=first)
    conventions = [str(name) for name in read.declared_for(cell.row.row, cell.column)]
    rules = read.roundings_of(cell.column)
    try:
        search = nearest(cell, first, conventions, rules)
    except AuditError as error:
        yield answer.model_copy(update={"failure": str(error)})
        return
    if search is None:
        return
    changed = [change for found in search.found for change in found.changes]
    own = own_families(cell.row.paper)
    choices = {name: reading.choices_with(own) for name, reading in named.items()}
    sources = tuple(_sources(changed, first, choices))
    yield answer.model_copy(update={"search": search, "sources": sources})


def _sources(
    changes: Sequence[SolvedChange], first: str, choices: Mapping[str, Mapping[str, Choice[Any]]]
) -> Iterator[AxisSource]:
    """Yield, for each axis that changes, what the spec gives as the place that decides it."""
    for axis in dict.fromkeys(change.axis for change in changes):
        wanted = {change.becomes for change in changes if change.axis == axis}
        for name, chosen in choices.items():
            choice = chosen.get(axis)
            if choice is not None and (name == first or str(choice.value) in wanted):
                yield AxisSource(axis=axis, value=str(choice.value), reading=name, because=choice.because)


def nearest(
    cell: CellRef, first: str, conventions: Sequence[str], roundings: Sequence[Rounding]
) -> ReadingSearch | None:
    """Search all readings for those that give the printed number and are nearest to the named reading `first`.

    None if nothing is open about the model. Raises BuildError if it cannot be counted under every reading.
    """
    from imlp_audit.solve.compose import compose, posed_id  # torch takes seconds to import

    composition = compose([cell.row])
    posed = posed_id(cell.row, image_of(cell.column))
    if posed in composition.refused:
        raise BuildError(composition.refused[posed])
    problem = composition.problem
    group = problem.rows[0].group
    if not group:
        return None
    printed = next(one for one in problem.cells if one.id == cell.id)
    named = {name: indices[group] for name, indices in problem.named.items() if group in indices}
    countings = list(_countings(problem, printed, conventions, roundings))
    return _search(countings, problem.spaces[group], named[first], list(named.values()), cell.printed)


def _countings(
    problem: SearchProblem, cell: Cell, conventions: Sequence[str], roundings: Sequence[Rounding]
) -> Iterator[_Counting]:
    row = problem.rows[cell.row]
    known: Mapping[str, Integers] = row.parameters if cell.kind == "parameters" else row.totals
    for convention in conventions:
        if convention in known:
            for rounding in roundings:
                yield _Counting(convention, rounding, known[convention], *cell.ranges[rounding])


def _search(
    countings: Sequence[_Counting], space: Space, first: int, named: list[int], printed: Printed
) -> ReadingSearch:
    """Search by the indices of the first reading and of all named ones, whose values come before others."""
    misses = np.stack([np.maximum(np.maximum(one.low - one.counts, one.counts - one.high), 0) for one in countings])
    miss = misses.min(axis=0)
    best = np.flatnonzero(miss == miss.min())
    changed = space.count_apart(first)[best]
    ties = best[changed == changed.min()]
    unheard = (space.places[:, ties, np.newaxis] != space.places[:, np.newaxis, named]).all(axis=2).sum(axis=0)
    ties = ties[np.argsort(unheard, kind="stable")]

    def near(index: int) -> NearReading:
        counting = countings[int(misses[:, index].argmin())]
        value = int(counting.counts[index])
        return NearReading(
            value=value,
            gap=write_gap(printed.gap(value)),
            convention=counting.convention,
            rounding=counting.rounding,
            changes=space.changes(first, index),
        )

    found = tuple(near(index) for index in ties[:SHOWN].tolist())
    return ReadingSearch(readings=len(miss), fitting=int((miss == 0).sum()), ties=len(ties), found=found)
