"""Footnote marks and headings: what a row or a table was held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from imlp_audit.checks.context import Conventions
from imlp_audit.explain.cells import held_against, stands_for
from imlp_audit.explain.head import head, label_of, stands_at
from imlp_audit.explain.layout import Lines, table, words
from imlp_audit.explain.pointers import pointers
from imlp_audit.models.recipe import describe
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.check import Check
from imlp_audit.spec.plan import ColumnsPlan, MarkPlan


def mark(plan: MarkPlan, check: Check, cells: Mapping[str, Check], read: Conventions) -> Iterator[Lines]:
    """Yield what the row prints, and what its model has either way."""
    footnote, row, cell = plan.footnote, plan.row, plan.cell
    place = f"Table {row.table.value.table}, {label_of(row)}"
    yield head(
        check,
        ("printed", f"{place}, {check.printed}; {stands_at(check.source)}"),
        (
            "the mark",
            f"{footnote.mark} stands for: {footnote.meaning}; rows without it have {describe(footnote.otherwise)}",
        ),
        ("compared", f"{cell.column.heading}, {cell.printed.text}, with the row's model either way"),
        ("stands for", stands_for(cell.printed, read.roundings[0])),
        ("judged by", "whether under some reading the model that is meant gives the number, and the other does not"),
    )
    if check.measured is not None:
        heading = "Measured either way (the gap is in units of the last printed digit)"
        yield [heading, *table(list(_models(check.measured, cell.printed, read)), right=3)]
    yield pointers((cell,), cells)


def _models(measured: str, printed: Printed, read: Conventions) -> Iterator[tuple[str, ...]]:
    """Yield the parts of a check's `kernel 3 as_written: 4 852 020, kernel 5 ...`, each held against the number."""
    for told in measured.split(", "):
        name, _, number = told.rpartition(": ")
        yield name, *held_against(Fraction(number.replace(" ", "")), printed, read.roundings)


def columns(plan: ColumnsPlan, check: Check) -> Iterator[Lines]:
    """Yield which columns were held against each other."""
    held = plan.table.value
    yield head(
        check,
        ("printed", f"Table {held.table}, columns {check.printed}; {stands_at(check.source)}"),
        ("compared", "each counted number with what is measured for its own column and for the others"),
        ("judged by", "whether two numbers of a row follow under each other's heading, and neither under its own"),
    )
    listing = f"imlp-audit list --only '{plan.paper.id}/{held.table}/*'"
    yield words(f"`{listing}` lists the numbers; each can be explained by its id.")
