"""Printed changes and repeated numbers: do they follow from the cells they are about?"""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.interval import Interval, decimal_text
from imlp_audit.printed import Printed, Rounding
from imlp_audit.result import Verdict


def percent_change(value: Fraction, base: Fraction) -> Fraction:
    """Return the change from `base` to `value` in percent. Raises ZeroDivisionError for a base of 0."""
    return (value / base - 1) * 100


def follows_from_cells(delta: Printed, cell: Printed, base: Printed, rounding: Rounding) -> tuple[Verdict, str]:
    """Say whether some values that print as the two cells have a change that prints as `delta`."""
    possible = cell.interval(rounding).change_from(base.interval(rounding))
    if possible is None:
        return Verdict.UNVERIFIABLE, f"a change in percent from {base.text} is not defined"
    plain = decimal_text(percent_change(cell.value, base.value), 2)
    between = f"{base.text} to {cell.text} is a change of {plain} %, between {_ends(possible)} before rounding"
    if possible.meets(delta.interval(rounding)):
        return Verdict.REPRODUCED, between
    return Verdict.INCONSISTENT, f"{between}; {delta.text} is not among them"


def _ends(interval: Interval) -> str:
    return f"{decimal_text(interval.low, 2)} and {decimal_text(interval.high, 2)}"


def agree(one: Printed, other: Printed, other_id: str, rounding: Rounding) -> tuple[Verdict, str]:
    """Say whether one value can print as both numbers, each at its own precision."""
    if one.interval(rounding).meets(other.interval(rounding)):
        return Verdict.REPRODUCED, f"{other_id} prints {other.text}"
    return Verdict.INCONSISTENT, f"{other_id} prints {other.text}, here it is {one.text}"
