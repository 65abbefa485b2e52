"""Examples: few, small numbers that every floating-point type holds exactly and a person can check by hand."""

from __future__ import annotations

from functools import cache

from imlp_audit.equations import draw as st
from imlp_audit.equations.draw import Strategy

Vector = tuple[float, ...]
Matrix = tuple[Vector, ...]

# In the order in which a counterexample is made simpler: towards the first.
NUMBERS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 0.25, -0.25)


@cache
def numbers() -> Strategy[float]:
    """Any of NUMBERS."""
    return _any_of(NUMBERS)


@cache
def nonzero() -> Strategy[float]:
    """Any of NUMBERS except zero."""
    return _any_of(NUMBERS[1:])


@cache
def positive() -> Strategy[float]:
    """Any of NUMBERS above zero."""
    return _any_of(tuple(number for number in NUMBERS if number > 0))


def _any_of(values: Vector) -> Strategy[float]:
    return Strategy(lambda choices: choices.number(values))


@cache
def vectors(size: int, elements: Strategy[float] | None = None) -> Strategy[Vector]:
    """Vectors of a size."""
    return st.tuples(*[numbers() if elements is None else elements] * size)


@cache
def matrices(rows: int, columns: int, elements: Strategy[float] | None = None) -> Strategy[Matrix]:
    """Matrices of a shape, as rows."""
    return st.tuples(*[vectors(columns, elements)] * rows)
