"""Exact intervals of rational numbers with open or closed ends: the values that a printed number allows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Interval:
    """The numbers between two ends; each end belongs to the interval if it is closed."""

    low: Fraction
    high: Fraction
    low_closed: bool = True
    high_closed: bool = True

    @classmethod
    def point(cls, value: Fraction | int) -> Interval:
        """Return the interval of a single number."""
        return cls(Fraction(value), Fraction(value))

    def __contains__(self, value: Fraction | int) -> bool:
        above = self.low < value or (self.low == value and self.low_closed)
        below = value < self.high or (value == self.high and self.high_closed)
        return above and below

    def meets(self, other: Interval) -> bool:
        """Return whether some number lies in both."""
        return not (self < other or other < self)

    def __lt__(self, other: Interval) -> bool:
        """Return whether every number here is smaller than every number in `other`."""
        touch = self.high == other.low and not (self.high_closed and other.low_closed)
        return self.high < other.low or touch

    def __le__(self, other: Interval) -> bool:
        """Return whether no number here is larger than any number in `other`."""
        return self.high <= other.low

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low, self.high_closed, self.low_closed)

    def __add__(self, other: Interval) -> Interval:
        """Return the sums of independent members."""
        return self - -other

    def __sub__(self, other: Interval) -> Interval:
        """Return the differences of independent members."""
        return Interval(
            self.low - other.high,
            self.high - other.low,
            self.low_closed and other.high_closed,
            self.high_closed and other.low_closed,
        )

    def __mul__(self, factor: Fraction | int) -> Interval:
        if factor < 0:
            return -self * -factor
        return Interval(self.low * factor, self.high * factor, self.low_closed, self.high_closed)

    def ratio_to(self, base: Interval) -> Interval | None:
        """Return the quotients by members of `base`, or None if those may be 0 or negative."""
        if base.low <= 0 or self.low < 0:
            return None
        return Interval(
            self.low / base.high,
            self.high / base.low,
            self.low_closed and (base.high_closed or self.low == 0),  # 0 is 0 times any base
            self.high_closed and (base.low_closed or self.high == 0),
        )

    def change_from(self, base: Interval) -> Interval | None:
        """Return the changes in percent from members of `base`, or None if those may be 0 or negative."""
        ratio = self.ratio_to(base)
        return None if ratio is None else (ratio - Interval.point(1)) * 100

    def position_between(self, start: Interval, end: Interval) -> Interval | None:
        """Return how far these lie, in percent, on the way from `start` to `end`, or None if those two overlap.

        (x - a) / (b - a) is monotone in each of x, a and b, so its extremes are at the ends, here always closed.
        """
        if max(start.low, end.low) <= min(start.high, end.high):
            return None
        corners = [
            (x - a) / (b - a) * 100
            for x in (self.low, self.high)
            for a in (start.low, start.high)
            for b in (end.low, end.high)
        ]
        return Interval(min(corners), max(corners))

    def __str__(self) -> str:
        ends = f"{readable(self.low)}, {readable(self.high)}"
        return f"{'[' if self.low_closed else '('}{ends}{']' if self.high_closed else ')'}"


EXACT = 12  # decimal places in records: one operation in 1e11 still shows in a percentage


def decimal_text(value: Fraction | int, digits: int = 4) -> str:
    """Write a number in decimals, rounded to `digits` places, without trailing zeros."""
    scaled = round(Fraction(value) * 10**digits)
    text = f"{abs(scaled):0{digits + 1}d}"
    whole, part = text[:-digits], text[-digits:].rstrip("0")
    return f"{'-' if scaled < 0 else ''}{whole}{'.' if part else ''}{part}"


def readable(value: Fraction | int, digits: int = 4) -> str:
    """Write a number for people: like `decimal_text`, with digits in groups of three."""
    whole, point, part = decimal_text(value, digits).partition(".")
    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return f"{sign}{int(whole):,}".replace(",", " ") + point + part
