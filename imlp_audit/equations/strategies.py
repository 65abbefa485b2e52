"""Examples: numbers that every floating-point type holds exactly.

Most are few and small, so that a person can check them by hand; others are from all over the range of those types.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

from imlp_audit.equations import draw as st
from imlp_audit.equations.choices import ChoiceList
from imlp_audit.equations.draw import Strategy

Vector = tuple[float, ...]
Matrix = tuple[Vector, ...]
T = TypeVar("T")

# In the order in which a counterexample is made simpler: towards the first.
NUMBERS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 0.25, -0.25)
# Thirds and tenths as float32 has them, sizes that swallow others, nearly nothing, and subnormal numbers of float32.
# Products of six are below its largest.
WIDE = (10.0, -7.25, 11184811 / 2**25, -13421773 / 2**27, 1000.0, -1048577.0, 3 * 2.0**-20, -(2.0**-40), 2.0**-149)


@cache
def numbers() -> Strategy[float]:
    """Any of NUMBERS or WIDE."""
    return _any_of(lambda number: True)


@cache
def nonzero() -> Strategy[float]:
    """Any of NUMBERS or WIDE except zero."""
    return _any_of(lambda number: number != 0)


@cache
def positive() -> Strategy[float]:
    """Any of NUMBERS or WIDE above zero."""
    return _any_of(lambda number: number > 0)


def _any_of(wanted: Callable[[float], bool]) -> Strategy[float]:
    plain, wide = tuple(filter(wanted, NUMBERS)), tuple(filter(wanted, WIDE))
    return Strategy(lambda choices: choices.number(plain, wide))


def plain(examples: Strategy[T]) -> Strategy[T]:
    """Draw examples of NUMBERS only: for what is decided by sums and differences that rounding must not touch."""

    def draw(choices: ChoiceList) -> T:
        before, choices.plain = choices.plain, True
        try:
            return examples.draw(choices)
        finally:
            choices.plain = before

    return Strategy(draw)


@cache
def vectors(size: int, elements: Strategy[float] | None = None) -> Strategy[Vector]:
    """Vectors of a size."""
    return st.tuples(*[numbers() if elements is None else elements] * size)


@cache
def matrices(rows: int, columns: int, elements: Strategy[float] | None = None) -> Strategy[Matrix]:
    """Matrices of a shape, as rows."""
    return st.tuples(*[vectors(columns, elements)] * rows)
