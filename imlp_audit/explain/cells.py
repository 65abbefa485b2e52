"""Cells: what a printed number stands for, and what is measured under each reading and convention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.checks.context import Conventions
from imlp_audit.checks.printed import countable, missing_for
from imlp_audit.checks.votes import column_of
from imlp_audit.explain.printed import (
    compare_value,
    every_measurement,
    judged_rounding,
    list_facts,
    stands_for,
)
from imlp_audit.explain.totals import explain_total
from imlp_audit.explain.variants import say_which_variant_fits
from imlp_audit.records.check import Check, Measurement, Verdict
from imlp_audit.records.explanation import Fact, MeasuredValue, Measurements, Section
from imlp_audit.records.hypothesis import FitScore
from imlp_audit.records.result import AuditResult
from imlp_audit.report.judging import describe_fit, describe_group, describe_power, group_of_column
from imlp_audit.report.verdicts import place_in_specs
from imlp_audit.spec.places import place_of_cell
from imlp_audit.spec.plan import CellPlan
from imlp_audit.spec.references import CellRef


def cell_facts(plan: CellPlan, check: Check, read: Conventions, result: AuditResult) -> tuple[Fact, ...]:
    """Say what is printed, which numbers print so, and whether the model has one of them."""
    cell = plan.cell
    number = f"{cell.printed.text.removesuffix(cell.unit)} {cell.unit}".rstrip()
    return list_facts(
        check,
        ("printed", f"{number} in {place_of_cell(cell)}; {place_in_specs(check)}"),
        ("stands for", stands_for(cell.printed, judged_rounding(check, read.roundings_of(cell.column)))),
        *_judged_under(cell, check, result),
        *say_which_variant_fits(cell, check, read),
    )


def _judged_under(cell: CellRef, check: Check, result: AuditResult) -> Iterator[tuple[str, str]]:
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


def explain_cell(plan: CellPlan, check: Check, read: Conventions) -> Iterator[Section]:
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
        yield from explain_total(check, cell, read)


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
