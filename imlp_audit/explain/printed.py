"""Printed numbers: where they stand, which values print like them, and how measured values compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import Check, CountedCheck, Measurement, NumberCheck
from imlp_audit.records.explanation import Fact, MeasuredValue, RelatedCell, RestsOn
from imlp_audit.report.verdicts import name_verdict
from imlp_audit.spec.paper import CellRef

ROUNDED = {
    Rounding.HALF_UP: "rounded half up",
    Rounding.HALF_EVEN: "rounded half to even",
    Rounding.TRUNCATION: "cut off",
    Rounding.CEILING: "rounded up",
    Rounding.DOUBLE: "rounded twice, first to one digit more",
}


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
    name: str,
    measured: str,
    printed: Printed,
    roundings: Sequence[Rounding],
    convention: str | None = None,
    counts: tuple[str, ...] = (),
) -> MeasuredValue:
    """Return a measured value with its distance from a printed number, and the rule by which it prints like it."""
    value = Fraction(measured)
    return MeasuredValue(
        name=name,
        convention=convention,
        counts=counts,
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
