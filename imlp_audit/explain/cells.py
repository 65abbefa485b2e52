"""A printed number: what it stands for, and what is measured under each reading and convention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from imlp_audit.checks.context import Conventions
from imlp_audit.explain.head import head, place_of, stands_at
from imlp_audit.explain.layout import Lines, gap, table
from imlp_audit.explain.measured import every_measurement
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import Check, Measurement
from imlp_audit.spec.references import CellRef

ROUNDED = {
    Rounding.HALF_UP: "rounded half up",
    Rounding.HALF_EVEN: "rounded half to even",
    Rounding.TRUNCATION: "cut off",
    Rounding.CEILING: "rounded up",
    Rounding.DOUBLE: "rounded twice, first to one digit more",
}


def opening(check: Check, cell: CellRef, read: Conventions) -> Lines:
    """Say what is printed, which numbers print so, and whether the model has one of them."""
    number = f"{cell.printed.text.removesuffix(cell.column.unit)} {cell.column.unit}".rstrip()
    return head(
        check,
        ("printed", f"{number} in {place_of(cell)}; {stands_at(check.source)}"),
        ("stands for", stands_for(cell.printed, read.roundings[0])),
    )


def stands_for(printed: Printed, rounding: Rounding) -> str:
    """Say which numbers print so."""
    interval = printed.interval(rounding)
    low = f"{'from' if interval.low_closed else 'above'} {readable(interval.low)}"
    high = f"{'up to' if interval.high_closed else 'to below'} {readable(interval.high)}"
    return f"any number {low} {high} ({ROUNDED[rounding]})"


def measurements(check: Check, cell: CellRef, read: Conventions) -> Lines:
    """Return a table of what is measured under each declared reading and convention; nothing where nothing is."""
    if check.measured is None:
        return []
    rows = list(_rows(every_measurement(check), cell, read))
    heading = "Measured under each reading of the text (the gap is in units of the last printed digit)"
    return [heading, *table([("reading", "counted by", "measured", "gap", ""), *rows], left=2, right=4)]


def _rows(found: Sequence[Measurement], cell: CellRef, read: Conventions) -> Iterator[tuple[str, ...]]:
    """Yield a line for each number, with all readings that it is the same under."""
    order = list(read.readings)
    for convention in read.declared_for(cell.row.row, cell.column):
        under: dict[str, list[str | None]] = {}
        for one in sorted(found, key=lambda m: order.index(m.reading)):
            if one.convention == convention:
                under.setdefault(one.measured, []).append(one.reading)
        for measured, names in under.items():
            told = "any" if names == order and names != order[:1] else ", ".join(str(name or "any") for name in names)
            yield told, convention or "", *held_against(Fraction(measured), cell.printed, read.roundings)


def held_against(value: Fraction, printed: Printed, roundings: Sequence[Rounding]) -> tuple[str, str, str]:
    """Write a value, how far it is from a printed number, and whether it prints so, by which rounding rule."""
    fitting = [rule for rule in roundings if value in printed.interval(rule)]
    by = "" if fitting[:1] == list(roundings[:1]) else f" if {ROUNDED[fitting[0]]}" if fitting else ""
    return readable(value), gap(printed.gap(value)), f"prints as {printed.text}{by}" if fitting else ""
