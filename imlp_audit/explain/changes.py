"""Changes, numbers printed twice, footnote marks and headings: which printed and measured numbers were compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from imlp_audit.checks.changes import readings_of_change
from imlp_audit.checks.context import Conventions
from imlp_audit.explain.printed import (
    compare_value,
    every_measurement,
    judged_rounding,
    list_facts,
    rests_on,
    stands_for,
)
from imlp_audit.models.change import describe
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.check import CellCheck, Check, DeltaCheck, MarkCheck, RepeatCheck
from imlp_audit.records.explanation import Fact, MeasuredValue, Measurements, Section, TableNumbers
from imlp_audit.report.verdicts import place_in_specs
from imlp_audit.spec.paper import CellRef
from imlp_audit.spec.plan import ColumnsPlan, DeltaPlan, MarkPlan, RepeatPlan

_BY_CELLS = "computed from the two printed numbers, each of which can be any number that prints so"
_BY_COUNTS = "computed from the two models' counts by one convention, each under the reading of its family"


def change_facts(plan: DeltaPlan, check: DeltaCheck, read: Conventions) -> tuple[Fact, ...]:
    """Say what a printed change was compared with: printed cells, or (`plan.measured`) counts of both models."""
    printed = plan.change
    sides = f"from {plan.base.row.full_label} to {plan.cell.row.full_label}"
    return list_facts(
        check,
        ("printed", f"{printed.text} in {plan.cell.place}; {place_in_specs(check)}"),
        ("stands for", f"{stands_for(printed, judged_rounding(check, read.roundings))}, in percent"),
        ("compared", f"the change {sides}, {_BY_COUNTS if plan.measured else _BY_CELLS}"),
    )


def explain_change(
    plan: DeltaPlan, check: DeltaCheck, cells: Mapping[str, CellCheck], read: Conventions
) -> Iterator[Section]:
    """Yield the measured change under each reading and convention, and the two cells."""
    if plan.measured and check.measured is not None:
        printed = plan.change
        yield Measurements(
            names="reading",
            printed=printed.text,
            rounding=read.roundings[0],
            in_percent=True,
            counts=(plan.base.row.row.id, plan.cell.row.row.id),
            values=tuple(_changes(plan, printed, check, cells, read)),
        )
    yield from rests_on((plan.base, plan.cell), cells)


def _changes(
    plan: DeltaPlan, printed: Printed, check: DeltaCheck, cells: Mapping[str, CellCheck], read: Conventions
) -> Iterator[MeasuredValue]:
    def count(cell: CellRef, reading: str | None, convention: str | None) -> str:
        counter = read.counter_of(cell.column, convention)  # which the baseline's row may call otherwise
        every = (one for one in every_measurement(cells[cell.id]) if one.reading == reading)
        found = next(one for one in every if read.counter_of(cell.column, one.convention) == counter)
        return readable(Fraction(found.measured))

    for one in every_measurement(check):
        ours, theirs = readings_of_change(one.reading)
        counts = (count(plan.base, theirs, one.convention), count(plan.cell, ours, one.convention))
        yield compare_value(one.reading or "any", one.measured, printed, read.roundings, one.convention, counts)


def repeat_facts(plan: RepeatPlan, check: RepeatCheck, read: Conventions) -> tuple[Fact, ...]:
    """Say what the two places print."""
    ours, other = plan.numbers
    return list_facts(
        check,
        ("printed", f"{ours.text} in {plan.cell.place}; {place_in_specs(check)}"),
        ("stands for", stands_for(ours, judged_rounding(check, read.roundings_of(plan.cell.column)))),
        ("compared", f"{other.text} in {plan.other.row.paper.id}, {plan.other.place}"),
        ("judged by", "whether one number can be printed as both, each with its own digits"),
    )


def mark_facts(plan: MarkPlan, check: MarkCheck, read: Conventions) -> tuple[Fact, ...]:
    """Say what a mark stands for, and which number decides whether the row's model has it."""
    footnote, cell = plan.footnote, plan.cell
    return list_facts(
        check,
        ("printed", f"{plan.row.place}, {check.printed}; {place_in_specs(check)}"),
        ("the mark", f"{footnote.mark} stands for: {footnote.meaning}; other rows have {describe(footnote.otherwise)}"),
        ("compared", f"{cell.column.heading}, {cell.printed.text}, with the row's model either way"),
        ("stands for", stands_for(cell.printed, read.roundings_of(cell.column)[0])),
        ("judged by", "whether, under some reading, the intended model gives the number and the other one does not"),
    )


def explain_mark(
    plan: MarkPlan, check: MarkCheck, cells: Mapping[str, CellCheck], read: Conventions
) -> Iterator[Section]:
    """Yield what the row's model has either way, and the cell that decides."""
    cell, rules = plan.cell, read.roundings_of(plan.cell.column)
    if check.counts:
        yield Measurements(
            names="model",
            printed=cell.printed.text,
            rounding=rules[0],
            values=tuple(
                compare_value(f"{one.change} {one.reading}", one.measured, cell.printed, rules) for one in check.counts
            ),
        )
    yield from rests_on((cell,), cells)


def columns_facts(plan: ColumnsPlan, check: Check) -> tuple[Fact, ...]:
    """Say which columns were compared."""
    return list_facts(
        check,
        ("printed", f"{plan.table.value.called}, columns {check.printed}; {place_in_specs(check)}"),
        ("compared", "each counted number with what is measured for its own column and for the others"),
        ("judged by", "whether two numbers of a row follow under each other's heading, and neither under its own"),
    )


def explain_columns(plan: ColumnsPlan) -> Iterator[Section]:
    """Yield where the table's numbers are listed."""
    yield TableNumbers(glob=f"{plan.paper.id}/{plan.table.value.table}/*")
