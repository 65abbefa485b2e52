"""Functions of one number that are linear between kinks, in rational arithmetic: where their slope changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

Function = Callable[[Fraction], Fraction]


@dataclass(frozen=True)
class Relu:
    """x_c -> w ReLU(m x_c + n), with m and w other than zero."""

    m: Fraction
    n: Fraction
    w: Fraction

    def __call__(self, x: Fraction) -> Fraction:
        """Return the value."""
        return self.w * max(self.m * x + self.n, Fraction(0))

    @property
    def place(self) -> Fraction:
        """Where the argument is zero."""
        return -self.n / self.m

    @property
    def jump(self) -> Fraction:
        """By how much the slope grows there: from 0 to w m, or for m < 0 from w m to 0."""
        return self.w * abs(self.m)


def added(units: Sequence[Relu]) -> Function:
    """Return the sum of functions."""
    return lambda x: sum((unit(x) for unit in units), Fraction(0))


def kinks(function: Function, places: Iterable[Fraction]) -> list[Fraction]:
    """Return at which of some places the slope changes, of a function that is linear between them."""
    edges = _with_ends(places)
    slopes = [(function(right) - function(left)) / (right - left) for left, right in pairwise(edges)]
    return [edge for edge, (left, right) in zip(edges[1:], pairwise(slopes), strict=False) if left != right]


def linear_between(function: Function, places: Iterable[Fraction]) -> bool:
    """Return whether, from each place to the next and beyond the outermost, three inner points are on the chord."""
    for left, right in pairwise(_with_ends(places)):
        chord = function(right) - function(left)
        for part in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):
            if function(left + part * (right - left)) != function(left) + part * chord:
                return False
    return True


def _with_ends(places: Iterable[Fraction]) -> list[Fraction]:
    ordered = sorted(set(places))
    return [ordered[0] - 64, *ordered, ordered[-1] + 64]


def uncancelled(units: Sequence[Relu]) -> list[Fraction]:
    """Return the places at which the jumps of units do not cancel."""
    places = sorted({unit.place for unit in units})
    return [place for place in places if sum(unit.jump for unit in units if unit.place == place)]
