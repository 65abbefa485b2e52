from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.explain.polynomial import Polynomial, symbol

C, HIDDEN, KERNEL, GRID = (symbol(name) for name in ("C", "C'", "n", "N"))
small = st.integers(-4, 4)


@given(a=small, b=small, c=st.integers(0, 9), n=st.integers(0, 9))
def test_sums_and_products_have_the_values_of_their_parts(a: int, b: int, c: int, n: int) -> None:
    values = {"C": c, "n": n}
    one, other = a * C * C + b * KERNEL + 3, C * KERNEL + a
    assert (one + other).at(values) == one.at(values) + other.at(values)
    assert (one * other).at(values) == one.at(values) * other.at(values)
    assert one.at(values) == a * c * c + b * n + 3


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (C * HIDDEN * Fraction(3, 2) + KERNEL * KERNEL * HIDDEN + 3 * C, "n² C' + 3/2 C C' + 3 C"),
        (2 * KERNEL + Polynomial.of(-1), "2 n - 1"),
        (C * C + -2 * C, "C² - 2 C"),
        (C + -1 * C, "0"),
        (Polynomial.of(4), "4"),
        (GRID * KERNEL * KERNEL * HIDDEN, "N n² C'"),
    ],
)
def test_terms_are_written_highest_degree_first(formula: Polynomial, text: str) -> None:
    assert str(formula) == text


def test_terms_that_cancel_are_gone() -> None:
    assert (C * 2 + C * -2).terms == {}


def test_half_of_an_odd_number_is_rejected() -> None:
    assert (C * Fraction(1, 2)).at({"C": 6}) == 3
    with pytest.raises(ValueError, match="1/2 C is not a whole number"):
        (C * Fraction(1, 2)).at({"C": 7})


def test_formulas_are_written_in_known_dimensions() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        symbol("X")
