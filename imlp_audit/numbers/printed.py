"""A printed number: its text, its exact value, and the values that a rounding rule would print like this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import assert_never

from imlp_audit.numbers.interval import Interval


class Rounding(StrEnum):
    """How a value becomes the printed digits. Rules act on the magnitude, except CEILING, which goes up."""

    HALF_UP = "half_up"
    HALF_EVEN = "half_even"
    TRUNCATION = "truncation"
    CEILING = "ceiling"
    DOUBLE = "double"  # half-up to one more digit, then half-up again


LIKELY = tuple(rule for rule in Rounding if rule is not Rounding.CEILING)
"""The rules that may explain a number that no declared one explains: nobody rounds up."""


@dataclass(frozen=True)
class Printed:
    """A number as printed: its `value` and `step` (one unit of the last digit), in units of `scale`.

    `spread` is what follows a plus-minus: the number is then a mean of several runs. `unit` is a unit that the text
    states itself. `template` is the text with `{}` in place of the digits.
    """

    text: str
    value: Fraction
    step: Fraction
    scale: int
    negative: bool
    spread: Fraction | None = None
    unit: str = ""
    template: str = "{}"

    def interval(self, rounding: Rounding = Rounding.HALF_UP) -> Interval:
        """Return the values, in base units, that the rule prints as this text; of a mean, the means."""
        magnitude = _interval(abs(self.value), self.step, rounding, ceiling_flips=self.negative)
        return (-magnitude if self.negative else magnitude) * self.scale

    @cached_property
    def rounded_and_cut(self) -> tuple[Interval, Interval]:
        """The values that are rounded to this text, and those that are cut off to it."""
        return self.interval(Rounding.HALF_UP), self.interval(Rounding.TRUNCATION)

    @property
    def runs(self) -> Interval | None:
        """The values of single runs that a mean with its spread speaks of; None for a number that is no mean."""
        if self.spread is None:
            return None
        return Interval(self.value - self.spread, self.value + self.spread) * self.scale

    @property
    def has_sign(self) -> bool:
        """Whether a sign is printed."""
        return any(f"{sign}{{}}" in self.template for sign in SIGNS)

    @property
    def negated(self) -> Printed:
        """The number with the other sign."""
        template = self.template
        for sign in SIGNS:
            template = template.replace(f"{sign}{{}}", "{}")
        positive = "+{}" if template.startswith("(") else "{}"  # in brackets a number needs its sign
        template = template.replace("{}", positive if self.negative else "-{}", 1)
        changed = replace(self, template=template, value=-self.value, negative=not self.negative)
        return replace(changed, text=changed.write(abs(self.value)))

    def write(self, magnitude: Fraction) -> str:
        """Return another number with as many digits as this text has, written alike."""
        places = len(str(self.step.denominator)) - 1
        digits = f"{round(magnitude / self.step):0{places + 1}d}"
        whole, part = (digits[:-places], digits[-places:]) if places else (digits, "")
        return self.template.replace("{}", f"{whole}{'.' if part else ''}{part}")

    def gap(self, measured: Fraction | int) -> Fraction:
        """Return how far a measurement is from the printed value, in units of the last digit."""
        return (measured / Fraction(self.scale) - self.value) / self.step


_SURE = 6  # decimals that end in zeros, or zeros of integers, that a column has only if these are no digits


def count_padding(column: Mapping[str, Printed]) -> Mapping[str, int]:
    """Return how many last digits of a column's numbers are no digits, by row: 25.50, 25,551,000 or 132863000.

    All its decimals end in as many zeros, or four in five of its integers end in zeros, after as many other digits.
    """
    digits = {name: str(int(abs(one.value) / one.step)) for name, one in column.items()}
    zeros = {name: len(text) - len(text.rstrip("0")) for name, text in digits.items()}
    places = {len(str(one.step.denominator)) - 1 for one in column.values()}
    if (0 in places) != (places == {0}) or (0 not in places and len(column) < _SURE):
        return {}
    if 0 not in places:
        padded = dict.fromkeys(column, min(*zeros.values(), *places))
    else:
        kept = sorted(len(text) - zeros[name] for name, text in digits.items())[4 * (len(digits) - 1) // 5]
        padded = {name: max(0, min(zeros[name], len(text) - kept)) for name, text in digits.items()}
    is_sure = sum(padded.values()) >= _SURE and 5 * sum(n > 0 for n in padded.values()) >= 4 * len(padded)
    return padded if is_sure else {}


SIGNS = "+-−–"


def _interval(value: Fraction, step: Fraction, rounding: Rounding, *, ceiling_flips: bool) -> Interval:
    """Return the magnitudes that are printed as `value`; a printed zero allows both signs."""
    half = step / 2
    match rounding:
        case Rounding.HALF_UP:
            below, above, low_closed, high_closed = half, half, True, False
        case Rounding.HALF_EVEN:
            even = (value / step) % 2 == 0
            below, above, low_closed, high_closed = half, half, even, even
        case Rounding.TRUNCATION:
            below, above, low_closed, high_closed = Fraction(0), step, True, False
        case Rounding.DOUBLE:
            below, above, low_closed, high_closed = half + step / 20, half - step / 20, True, False
        case Rounding.CEILING if ceiling_flips:  # below zero, rounding up goes towards zero
            return Interval(value, value + step, True, False)
        case Rounding.CEILING:
            return Interval(value - step, value, False, True)
        case _:
            assert_never(rounding)
    if value == 0:
        return Interval(-above, above, high_closed, high_closed)
    return Interval(value - below, value + above, low_closed, high_closed)
