"""A printed number: its text, its exact value, and the values that a rounding rule would print like this."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from imlp_audit.numbers.interval import Interval


class Rounding(StrEnum):
    """How a value becomes the printed digits. Rules act on the magnitude, except CEILING, which goes up."""

    HALF_UP = "half_up"
    HALF_EVEN = "half_even"
    TRUNCATION = "truncation"
    CEILING = "ceiling"
    DOUBLE = "double"  # half-up to one more digit, then half-up again


# The factor of a unit; any other unit (images/s, BLEU, ...) has the factor 1.
SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12}

_NUMBER = re.compile(
    r"(?P<sign>[+\-−–]?)(?P<whole>[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.(?P<part>\d+))?\s*(?P<unit>%|[A-Za-z]*)",
    re.ASCII,
)
_LONGEST = 40  # characters; a longer text is a mistake


@dataclass(frozen=True)
class Printed:
    """A number as printed: its `value` and `step` (one unit of the last digit), in units of `scale`."""

    text: str
    value: Fraction
    step: Fraction
    scale: int
    negative: bool

    def interval(self, rounding: Rounding = Rounding.HALF_UP) -> Interval:
        """Return the values, in base units, that the rule prints as this text."""
        magnitude = _interval(abs(self.value), self.step, rounding, ceiling_flips=self.negative)
        return (-magnitude if self.negative else magnitude) * self.scale

    @property
    def negated(self) -> Printed:
        """The number with the other sign."""
        digits = self.text.lstrip("+-−–")
        text = digits if self.negative else f"-{digits}"
        return replace(self, text=text, value=-self.value, negative=not self.negative)

    def gap(self, measured: Fraction | int) -> Fraction:
        """Return how far a measurement is from the printed value, in units of the last digit."""
        return (measured / Fraction(self.scale) - self.value) / self.step


def parse_printed(text: str, unit: str = "") -> Printed:
    """Read a printed number such as "5.00", "-12.6%", "1,415.1" or "48M" in a column of the given unit.

    Raises ValueError, with what is expected, if the text is not such a number or has another unit.
    """
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError(f"{text[:_LONGEST]!r} is not a printed number; write it as printed, e.g. 5.00, -12.6% or 48M")
    if match["unit"] not in ("", unit):
        raise ValueError(f"{text!r} is in {match['unit']!r}, but {unit or 'no unit'!r} is expected here")
    part = match["part"] or ""
    magnitude = Fraction(int(match["whole"].replace(",", "") + part), 10 ** len(part))
    negative = match["sign"] in ("-", "−", "–")
    return Printed(
        text=text.strip(),
        value=-magnitude if negative else magnitude,
        step=Fraction(1, 10 ** len(part)),
        scale=SCALES.get(unit, 1),
        negative=negative,
    )


def _interval(value: Fraction, step: Fraction, rounding: Rounding, *, ceiling_flips: bool) -> Interval:
    """Return the magnitudes that are printed as `value`; a printed zero allows both signs."""
    half, tenth = step / 2, step / 20
    match rounding:
        case Rounding.HALF_UP:
            below, above, low_closed, high_closed = half, half, True, False
        case Rounding.HALF_EVEN:
            even = (value / step) % 2 == 0
            below, above, low_closed, high_closed = half, half, even, even
        case Rounding.TRUNCATION:
            below, above, low_closed, high_closed = Fraction(0), step, True, False
        case Rounding.DOUBLE:
            below, above, low_closed, high_closed = half + tenth, half - tenth, True, False
        case Rounding.CEILING if ceiling_flips:  # below zero, rounding up goes towards zero
            return Interval(value, value + step, True, False)
        case Rounding.CEILING:
            return Interval(value - step, value, False, True)
        case _:
            assert_never(rounding)
    if value == 0:
        return Interval(-above, above, high_closed, high_closed)
    return Interval(value - below, value + above, low_closed, high_closed)
