"""The bound of a rounded number holds for every order of evaluation, checked against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import fsum, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.equations.rounded import Rounded, gamma, total

UNIT = 2.0**-24  # of float32, whose rounding can be watched in float64
floats32 = st.one_of(
    st.floats(-8, 8, width=32), st.floats(-(2.0**20), 2.0**20, width=32), st.floats(-(2.0**-70), 2.0**-70, width=32)
)


def exact(value: float) -> Rounded:
    return Rounded.exact(value, UNIT)


@given(st.lists(st.tuples(floats32, floats32), min_size=1, max_size=4))
def test_a_dot_product_in_any_order_stays_within_the_bound(pairs: list[tuple[float, float]]) -> None:
    formula = total(exact(a) * b for a, b in pairs)
    truth = sum(Fraction(a) * Fraction(b) for a, b in pairs)
    assert abs(Fraction(formula.value) - truth) <= Fraction(formula.error)
    for order in permutations(pairs):
        found = np.float32(0)
        for a, b in order:
            found = np.float32(found + np.float32(np.float32(a) * np.float32(b)))
        assert abs(Fraction(float(found)) - truth) <= Fraction(formula.error)


@given(floats32, floats32, floats32)
def test_distributing_a_product_stays_within_the_bound(a: float, b: float, c: float) -> None:
    formula = exact(a) * (exact(b) + c)
    x, y, z = np.float32(a), np.float32(b), np.float32(c)
    for found in (np.float32(x * np.float32(y + z)), np.float32(np.float32(x * y) + np.float32(x * z))):
        assert abs(float(found) - formula.value) <= 2 * formula.error


@given(floats32, floats32)
def test_an_error_that_comes_in_is_carried_through(x: float, weight: float) -> None:
    """A function of slope 3 of a rounded product, times a weight: the error triples and is weighed."""
    inner = exact(x) * exact(0.1)
    outer = weight * inner.through(lambda value: 3 * value, 3.0, 0.0)
    assert outer.error >= abs(weight) * 3 * inner.error * (1 - 1e-6)
    moved = weight * 3 * (inner.value + inner.error)
    assert abs(moved - outer.value) <= outer.error * (1 + 1e-6)


@given(st.floats(0, 16, width=32), st.floats(0, 1e-3))
def test_the_root_of_a_number_with_an_error(value: float, error: float) -> None:
    root = Rounded(value, value, 0, error, UNIT).square_root()
    for near in (max(value - error, 0.0), value + error):
        assert abs(sqrt(near) - root.value) <= root.error


def test_exact_numbers_have_no_error() -> None:
    assert exact(0.1).error == 0
    assert (-exact(3.0)).value == -3
    assert (2 - exact(0.5)).value == 1.5
    assert (1 + exact(0.5)).value == 1.5


def test_the_bound_of_a_sum_is_the_classical_one() -> None:
    """Adding n numbers rounds n - 1 times: gamma_{n-1} times the sum of magnitudes (Higham, Sec. 4.2)."""
    terms = [1.0, -2.0, 3.0, -4.0]
    found = total(map(exact, terms))
    assert found.value == fsum(terms)
    assert found.error == pytest.approx(gamma(3, UNIT) * 10, rel=1e-8)
