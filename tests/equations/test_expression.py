"""Expressions held against sympy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import add, mul, sub

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.equations.expression import Expression

SYMBOLS = ("x", "y", "z")
Pair = tuple[Expression, sympy.Expr]


def applied(name: str) -> Callable[[Pair], Pair]:
    """Return what applies a function of which only the name is known to both."""
    return lambda pair: (pair[0].apply(name), sympy.Function(name)(sympy.expand(pair[1])))


leaves = st.one_of(
    st.sampled_from(SYMBOLS).map(lambda name: (Expression.symbol(name), sympy.Symbol(name))),
    st.fractions(-3, 3, max_denominator=4).map(lambda value: (Expression.of(value), sympy.Rational(value))),
)
pairs: st.SearchStrategy[Pair] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from((add, sub, mul)), inner, inner).map(
            lambda drawn: (drawn[0](drawn[1][0], drawn[2][0]), drawn[0](drawn[1][1], drawn[2][1]))
        ),
        st.tuples(st.sampled_from(("f", "g")), inner).map(lambda drawn: applied(drawn[0])(drawn[1])),
    ),
    max_leaves=8,
)


@given(pairs, pairs)
def test_two_are_equal_where_sympy_says_so(one: Pair, other: Pair) -> None:
    assert (one[0] == other[0]) == (sympy.expand(one[1] - other[1]) == 0)


@given(pairs)
def test_each_is_what_sympy_makes_of_how_it_is_written(pair: Pair) -> None:
    assert sympy.expand(sympy.sympify(str(pair[0])) - pair[1]) == 0


@given(pairs, pairs, pairs)
def test_products_of_sums_are_multiplied_out(one: Pair, other: Pair, factor: Pair) -> None:
    assert factor[0] * (one[0] + other[0]) == one[0] * factor[0] + other[0] * factor[0]


def test_what_is_divided_by_cancels() -> None:
    x, y = map(Expression.symbol, ("x", "y"))
    assert x * (y / x) == y
    assert (x * y / x) / y == Expression.of(1)
    assert y / (2 * x) * x == y * Fraction(1, 2)
    with pytest.raises(ValueError, match="too many values"):
        y / (x + y)


def test_numbers_are_taken_for_what_they_are_in_binary() -> None:
    assert Expression.of(0.1) == Expression.of(Fraction(0.1)) != Expression.of(Fraction(1, 10))
    assert str(Expression.of(0.25) * Expression.symbol("x") - 3) == "-3 + 1/4*x"
