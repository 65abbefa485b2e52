"""The proofs that claims about the degree of non-linearity rest on: minors, relations, kinks."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.strategies import Matrix
from specs.imlp.equations._kinks import Relu, added, kinks, linear_between, uncancelled
from specs.imlp.equations._units import (
    UndecidedError,
    Unit,
    apart,
    determinant,
    different,
    independent,
    nonlinear,
)
from tests.strategies import number_matrices


@given(number_matrices(3, 3))
def test_a_determinant_is_the_cofactor_expansion(rows: Matrix) -> None:
    (a, b, c), (d, e, f), (g, h, i) = rows
    found = determinant(Arithmetic().matrix(rows))
    assert found.value == a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    assert found.error < 1e-12


def test_units_of_equal_arguments_are_dependent_unless_theta_tells_them_apart() -> None:
    assert not independent([Unit(1, 2), Unit(1, 2, beta=3)])
    assert not independent([Unit(1, 2, theta=1), Unit(1, 2, beta=3, theta=3)])
    assert independent([Unit(1, 2), Unit(1, 2, theta=1)])


def test_opposite_units_are_independent_until_there_are_two_proportional_pairs() -> None:
    assert independent([Unit(1, 1), Unit(-1, -1)])
    assert independent([Unit(1, 1), Unit(-1, -1), Unit(2, 2)])
    assert not independent([Unit(1, 1), Unit(-1, -1), Unit(2, 2), Unit(-2, -2)])
    assert independent([Unit(1, 1), Unit(-1, -1), Unit(2, 1), Unit(-2, -1)])


def test_three_opposite_pairs_are_dependent_too_and_that_is_not_guessed_at() -> None:
    pairs = [Unit(sign * m, sign * n) for m, n in ((1, 0), (1, 1), (1, 2)) for sign in (1, -1)]
    with pytest.raises(UndecidedError, match="whether independent"):
        independent(pairs)


def test_units_are_apart_when_their_arguments_are_neither_equal_nor_opposite_nor_constant() -> None:
    assert apart([Unit(1, 0), Unit(1, 1), Unit(-1, 1)])
    assert not apart([Unit(1, 2), Unit(1, 2, beta=2)])
    assert not apart([Unit(1, 2), Unit(-1, -2)])
    assert not apart([Unit(0, 2)])


def test_a_unit_that_beta_makes_constant_is_dependent() -> None:
    bent, zero, one, two = Unit(1, 0), Unit(2, 0, 0, 0), Unit(2, 0, 0, 1), Unit(3, 0, 0, 2)
    assert not apart((bent, zero))
    assert not independent((bent, zero))
    assert not independent((bent, one, two))
    assert independent((bent, one))


def test_functions_are_different_by_scale_and_by_bias_and_not_linear_unless_constant() -> None:
    assert different(Unit(1, 0), Unit(2, 0))
    assert different(Unit(0.25, -18), Unit(0.25, -17.75))
    assert not different(Unit(1, 2), Unit(1, 2))
    assert nonlinear(Unit(0.25, 18))
    assert not nonlinear(Unit(0, 1))


def test_kinks_of_an_absolute_value_and_of_a_line() -> None:
    up, down = Relu(Fraction(1), Fraction(-3), Fraction(1)), Relu(Fraction(-1), Fraction(3), Fraction(1))
    assert kinks(added([up, down]), [Fraction(3)]) == uncancelled([up, down]) == [3]
    minus = Relu(Fraction(-1), Fraction(3), Fraction(-1))
    assert kinks(added([up, minus]), [Fraction(3)]) == uncancelled([up, minus]) == []


_SMALL = st.integers(-3, 3).map(Fraction)


@given(st.lists(st.builds(Relu, _SMALL.filter(bool), _SMALL, _SMALL.filter(bool)), min_size=1, max_size=3))
def test_a_sum_of_relus_is_linear_between_their_kinks_and_not_across_them(units: list[Relu]) -> None:
    places = {unit.place for unit in units}
    assert linear_between(added(units), places)
    for kink in uncancelled(units):
        assert not linear_between(added(units), (places - {kink}) or {kink + 1})
