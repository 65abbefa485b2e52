"""What AGeLUs have learned, against the module itself."""

from __future__ import annotations

from math import erf, exp, pi, sqrt

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.inspect.agelu import curves, quantiles, summarise_coefficients
from imlp_audit.inspect.parts import AgeluPart
from imlp_audit.models.agelu import AGeLU

STEEPEST = 0.5 + erf(1) / 2 + exp(-1) / sqrt(pi)  # the slope of GeLU at the root of two


def agelu(alpha: list[float], beta: list[float], gamma: list[float], theta: list[float]) -> AgeluPart:
    return AgeluPart("a", tuple(map(torch.tensor, (alpha, beta, gamma, theta))))


def test_curves_are_what_the_module_computes() -> None:
    torch.manual_seed(0)
    module = AGeLU(5).double()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    x = np.linspace(-3, 3, 7)
    found = AgeluPart("a", (module.alpha, module.beta, module.gamma, module.theta))
    expected = module(torch.from_numpy(x)[:, None].expand(7, 5)).detach().numpy().T
    np.testing.assert_allclose(curves(found, x), expected, rtol=1e-13)


@settings(max_examples=40)
@given(st.floats(-4, 4, width=32), st.floats(-4, 4, width=32), st.floats(-2, 2, width=32))
def test_slopes_hold_every_slope_and_no_more(alpha: float, beta: float, gamma: float) -> None:
    found = agelu([alpha], [beta], [gamma], [0.5])
    low, high = summarise_coefficients(found).slopes
    x = np.linspace(-60, 60, 2001)
    steps = np.diff(curves(found, x)[0]) / np.diff(x)
    assert low - 1e-9 <= steps.min()
    assert steps.max() <= high + 1e-9
    assert high - low == pytest.approx(abs(alpha * beta) * (2 * STEEPEST - 1), rel=1e-9, abs=1e-12)


def test_counts_of_turned_and_flat_units() -> None:
    found = summarise_coefficients(agelu([-1.0, 2.0, 0.0, -3.0], [1.0, -1.0, 1.0, -2.0], [0.0] * 4, [0.0] * 4))
    assert (found.units, found.mirrored, found.reflected, found.flat) == (4, 2, 2, 1)
    assert found.slopes == pytest.approx((-2 * STEEPEST, 6 * STEEPEST), rel=1e-9)


def test_one_coefficient_for_all_units() -> None:
    found = summarise_coefficients(agelu([2.0], [1.0, -1.0, 1.0], [0.0], [0.0]))
    assert (found.units, found.reflected, found.alpha.least, found.alpha.largest) == (3, 1, 2, 2)


def test_quantiles_of_known_numbers() -> None:
    found = quantiles(np.arange(101.0))
    assert tuple(found.model_dump().values()) == (0, 5, 25, 50, 75, 95, 100)
