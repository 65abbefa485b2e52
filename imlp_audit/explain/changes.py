"""Printed changes and numbers that are printed twice: what was held against what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from imlp_audit.checks.context import Conventions
from imlp_audit.explain.cells import held_against, stands_for
from imlp_audit.explain.head import head, label_of, place_of, stands_at
from imlp_audit.explain.layout import Lines, table
from imlp_audit.explain.measured import by_convention, every_measurement
from imlp_audit.explain.pointers import pointers
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.check import Check
from imlp_audit.spec.plan import DeltaPlan, RepeatPlan

_BY_CELLS = "the two printed numbers, each any number that prints so"
_BY_COUNTS = "the two models' counts, both under one reading and by one convention"


def delta(plan: DeltaPlan, check: Check, cells: Mapping[str, Check], read: Conventions) -> Iterator[Lines]:
    """Yield what a printed change was judged by: printed cells, or (`plan.measured`) counts of both models."""
    printed = plan.change
    sides = f"from {label_of(plan.base.row)} to {label_of(plan.cell.row)}"
    yield head(
        check,
        ("printed", f"{printed.text} in {place_of(plan.cell)}; {stands_at(check.source)}"),
        ("stands for", f"{stands_for(printed, read.roundings[0])}, in percent"),
        ("compared", f"the change {sides} in {_BY_COUNTS if plan.measured else _BY_CELLS}"),
    )
    if plan.measured and check.measured is not None:
        yield _measured(plan, printed, check, cells, read)
    yield pointers((plan.base, plan.cell), cells)


def _measured(plan: DeltaPlan, printed: Printed, check: Check, cells: Mapping[str, Check], read: Conventions) -> Lines:
    """Return a table of both counts and their change under each reading and convention."""
    sides = [by_convention(cells[cell.id]) for cell in (plan.base, plan.cell)]
    rows = [("reading", "counted by", plan.base.row.row.id, plan.cell.row.row.id, "change", "gap", "")]
    for one in every_measurement(check):
        base, ours = (readable(side[one.reading, one.convention]) for side in sides)
        held = held_against(Fraction(one.measured), printed, read.roundings)
        rows.append((one.reading or "any", one.convention or "", base, ours, *held))
    heading = "Measured under each reading of the text (in percent; the gap in units of the last printed digit)"
    return [heading, *table(rows, left=2, right=6)]


def repeat(plan: RepeatPlan, check: Check, read: Conventions) -> Iterator[Lines]:
    """Yield the two places and what they print."""
    ours, other = plan.numbers
    yield head(
        check,
        ("printed", f"{ours.text} in {place_of(plan.cell)}; {stands_at(check.source)}"),
        ("stands for", stands_for(ours, read.roundings[0])),
        ("compared", f"{other.text} in {plan.other.row.paper.id}, {place_of(plan.other)}"),
        ("judged by", "whether some number prints as both, each with its own digits"),
    )
    yield pointers((plan.cell, plan.other), {})
