"""The rate of weights below 5 % of the maximum against exact fractions and simulated normal numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.inspect import arrays
from imlp_audit.inspect.cross_patch import measure_sparsity, rate_of_normal

NUMBERS = st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=40)


def below(values: Tensor) -> int:
    return measure_sparsity("A", "a", values).below


@pytest.mark.parametrize("n", [1, 2, 30])
def test_the_identity_is_zero_but_for_one_in_n(n: int) -> None:
    found = measure_sparsity("A", "a", torch.eye(n))
    assert found.rate == pytest.approx(1 - 1 / n)
    assert (found.zeros, found.of) == (n * n - n, n * n)


def test_five_percent_is_not_below_five_percent() -> None:
    """1 of 20 is 5 %; the next number of that type towards 0 is below."""
    less = torch.nextafter(torch.tensor(1.0), torch.tensor(0.0))
    assert below(torch.tensor([20.0, 1.0, -1.0])) == 0
    assert below(torch.tensor([-20.0, float(less), -float(less)])) == 2


@settings(max_examples=40)
@given(NUMBERS)
def test_the_count_is_that_of_exact_fractions(values: list[float]) -> None:
    weights = torch.tensor(values)
    exact = [abs(Fraction(value)) for value in weights.tolist()]
    assert below(weights) == sum(20 * value < max(exact) for value in exact)


@settings(max_examples=40)
@given(NUMBERS, st.integers(-20, 20))
def test_neither_scale_nor_sign_nor_order_matter(values: list[float], power: int) -> None:
    weights = torch.tensor(values, dtype=torch.float64)
    assert below(weights) == below(-weights) == below(weights.flip(0)) == below(weights * 2.0**power)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_any_precision(dtype: torch.dtype) -> None:
    assert below(torch.tensor([[64.0, 2.0], [4.0, 0.0]], dtype=dtype)) == 2


def test_weights_are_counted_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = torch.arange(100.0).reshape(4, 25)
    whole = below(weights)
    monkeypatch.setattr(arrays, "_CHUNK", 7)
    assert below(weights) == whole == 5  # 0 to 4 are below 99 / 20 = 4.95


def test_zeros_alone() -> None:
    found = measure_sparsity("A", "a", torch.zeros(2, 3))
    assert (found.below, found.zeros, found.rate) == (0, 6, 0)


def test_normal_numbers_have_about_the_rate_of_normal_numbers() -> None:
    draws = torch.from_numpy(np.random.default_rng(1).normal(size=(300, 2000)))
    rates = [measure_sparsity("A", "a", one).rate for one in draws]
    assert np.median(rates) == pytest.approx(rate_of_normal(2000), rel=0.02)


def test_the_rate_of_normal_numbers_in_40_digits() -> None:
    import mpmath

    with mpmath.mp.workdps(40):
        largest = mpmath.findroot(lambda z: (2 * mpmath.ncdf(z) - 1) ** 1000 - 0.5, 3.4)
        rate = mpmath.ncdf(largest / 20) - mpmath.ncdf(-largest / 20)
    assert rate_of_normal(1000) == pytest.approx(float(rate), rel=1e-12)
    assert rate_of_normal(1) < rate_of_normal(2) < rate_of_normal(10**7)
