"""Softmax held against 40 digits."""

from __future__ import annotations

import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions_softmax import softmax
from imlp_audit.equations.strategies import NUMBERS, Vector

vectors = st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=5).map(tuple)
arguments = st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=5).map(tuple)


def _exact(x: list[mpf]) -> list[mpf]:
    powers = [mpmath.exp(number) for number in x]
    return [power / mpmath.fsum(powers) for power in powers]


@given(arguments)
def test_value_is_within_its_error(x: Vector) -> None:
    with mp.workdps(40):
        for number, exact in zip(softmax(Arithmetic().vector(x)), _exact([mpf(number) for number in x]), strict=True):
            assert abs(mpf(number.value) - exact) <= number.error


@given(vectors)
def test_twice_is_within_its_error(x: Vector) -> None:
    """The second takes numbers that carry an error."""
    with mp.workdps(40):
        twice = softmax(softmax(Arithmetic().vector(x)))
        for number, exact in zip(twice, _exact(_exact([mpf(number) for number in x])), strict=True):
            assert abs(mpf(number.value) - exact) <= number.error


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@given(x=arguments)
def test_torch_is_within_its_error(dtype: torch.dtype, x: Vector) -> None:
    arithmetic = Arithmetic(dtype)
    theirs = arithmetic.tensor(x).softmax(dim=0).tolist()
    with mp.workdps(40):
        exact = _exact([mpf(number) for number in x])
        for number, value, place in zip(softmax(arithmetic.vector(x)), theirs, exact, strict=True):
            assert abs(mpf(value) - place) <= number.error


@given(vectors, st.integers(0, 4), st.sampled_from((-(2.0**-20), 2.0**-20)))
def test_an_error_that_comes_in_is_allowed_for(x: Vector, place: int, off: float) -> None:
    """A number that is off by what it carries moves no result by more than its error."""
    place %= len(x)
    exact = Arithmetic().vector(x)
    carrying = [number.through(lambda value: value, 1.0, 2.0**-20) for number in exact]
    moved = [number + off if i == place else number for i, number in enumerate(exact)]
    for allowed, number in zip(softmax(carrying), softmax(moved), strict=True):
        assert abs(allowed.value - number.value) <= allowed.error


def test_error_is_small_for_small_numbers() -> None:
    assert max(number.error for number in softmax(Arithmetic().vector((1.0, 2.0, -1.0)))) < 1e-14


@pytest.mark.parametrize("error", [1.0, 400.0, 1e300, float("inf")])
def test_error_is_never_more_than_the_distance_of_two_shares(error: float) -> None:
    carrying = [number.through(lambda value: value, 1.0, error) for number in Arithmetic().vector((1.0, 2.0, -40.0))]
    assert max(number.error for number in softmax(carrying)) == pytest.approx(2.0)
