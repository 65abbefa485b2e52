"""Layer normalisation held against 60 decimal digits."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.strategies import NUMBERS, Vector

EPS = 1e-6
vectors = st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=5).map(tuple)


def _exact(x: list[Decimal]) -> list[Decimal]:
    mean = sum(x, Decimal(0)) / len(x)
    variance = sum(((number - mean) ** 2 for number in x), Decimal(0)) / len(x)
    return [(number - mean) / (variance + Decimal(EPS)).sqrt() for number in x]


@given(vectors)
def test_value_is_within_its_error(x: Vector) -> None:
    with localcontext(prec=60):
        ours = layer_norm(Arithmetic().vector(x), EPS)
        for number, exact in zip(ours, _exact([Decimal(number) for number in x]), strict=True):
            assert abs(Decimal(number.value) - exact) <= Decimal(number.error)


@given(vectors)
def test_twice_is_within_its_error(x: Vector) -> None:
    """The second takes numbers that carry an error."""
    with localcontext(prec=60):
        ours = layer_norm(layer_norm(Arithmetic().vector(x), EPS), EPS)
        for number, exact in zip(ours, _exact(_exact([Decimal(number) for number in x])), strict=True):
            assert abs(Decimal(number.value) - exact) <= Decimal(number.error)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@given(x=vectors)
def test_torch_is_within_its_error(dtype: torch.dtype, x: Vector) -> None:
    arithmetic = Arithmetic(dtype)
    with localcontext(prec=60):
        theirs = F.layer_norm(arithmetic.tensor(x), (len(x),), eps=EPS).tolist()
        exact = _exact([Decimal(number) for number in x])
        for number, value, place in zip(layer_norm(arithmetic.vector(x), EPS), theirs, exact, strict=True):
            assert abs(Decimal(value) - place) <= Decimal(number.error)


def test_error_is_small_where_numbers_differ() -> None:
    assert max(number.error for number in layer_norm(Arithmetic().vector((1.0, 2.0, -1.0)), EPS)) < 1e-11


def test_scale_and_shift_come_last() -> None:
    arithmetic = Arithmetic()
    x, weight, bias = (1.0, 3.0), (2.0, -1.0), (0.5, 1.0)
    ours = layer_norm(arithmetic.vector(x), EPS, arithmetic.vector(weight), arithmetic.vector(bias))
    unit = 1 / (1 + EPS) ** 0.5
    assert [number.value for number in ours] == pytest.approx([-2 * unit + 0.5, -unit + 1.0])
