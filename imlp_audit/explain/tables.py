"""Footnote marks and headings: what the numbers of a row or a table were compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from imlp_audit.checks.context import Conventions
from imlp_audit.explain.printed import compare_value, list_facts, place_in_specs, rests_on, stands_for
from imlp_audit.models.change import describe
from imlp_audit.records.check import Check
from imlp_audit.records.explanation import Fact, Measurements, Section, TableNumbers
from imlp_audit.spec.plan import ColumnsPlan, MarkPlan


def mark_facts(plan: MarkPlan, check: Check, read: Conventions) -> tuple[Fact, ...]:
    """Say what a mark stands for, and which number decides whether the row's model has it."""
    footnote, cell = plan.footnote, plan.cell
    place = f"Table {plan.row.table.value.table}, {plan.row.full_label}"
    return list_facts(
        check,
        ("printed", f"{place}, {check.printed}; {place_in_specs(check.source)}"),
        ("the mark", f"{footnote.mark} stands for: {footnote.meaning}; other rows have {describe(footnote.otherwise)}"),
        ("compared", f"{cell.column.heading}, {cell.printed.text}, with the row's model either way"),
        ("stands for", stands_for(cell.printed, read.roundings[0])),
        ("judged by", "whether, under some reading, the intended model gives the number and the other one does not"),
    )


def explain_mark(plan: MarkPlan, check: Check, cells: Mapping[str, Check], read: Conventions) -> Iterator[Section]:
    """Yield what the row's model has either way, and the cell that decides."""
    cell = plan.cell
    if check.measured is not None:
        # the check's measurements are written as `kernel 3 as_written: 4 852 020, kernel 5 ...`
        pairs = (part.rpartition(": ") for part in check.measured.split(", "))
        yield Measurements(
            names="model",
            printed=cell.printed.text,
            rounding=read.roundings[0],
            values=tuple(
                compare_value(name, number.replace(" ", ""), cell.printed, read.roundings) for name, _, number in pairs
            ),
        )
    yield from rests_on((cell,), cells)


def columns_facts(plan: ColumnsPlan, check: Check) -> tuple[Fact, ...]:
    """Say which columns were compared."""
    return list_facts(
        check,
        ("printed", f"Table {plan.table.value.table}, columns {check.printed}; {place_in_specs(check.source)}"),
        ("compared", "each counted number with what is measured for its own column and for the others"),
        ("judged by", "whether two numbers of a row follow under each other's heading, and neither under its own"),
    )


def explain_columns(plan: ColumnsPlan) -> Iterator[Section]:
    """Yield where the table's numbers are listed."""
    yield TableNumbers(glob=f"{plan.paper.id}/{plan.table.value.table}/*")
