"""The intervals of slopes against 40 digits."""

from __future__ import annotations

import mpmath
import pytest
from mpmath import mp, mpf

from imlp_audit.equations.lipschitz.slopes import (
    GELU,
    GELU_STEEPEST,
    GELU_TANH,
    GELU_TANH_STEEPEST,
    Slopes,
    agelu_slopes,
)


def test_the_extremes_of_gelus_slope_are_at_the_root_of_two() -> None:
    with mp.workdps(40):
        at = mpmath.findroot(lambda x: mpmath.diff(lambda y: y * mpmath.ncdf(y), x, 2), 1.4)
        high = mpmath.ncdf(at) + at * mpmath.npdf(at)
        assert abs(at - mpmath.sqrt(2)) < mpf(10) ** -30
        assert mpf(GELU_STEEPEST) == pytest.approx(float(at), rel=1e-15)
        assert high < mpf(GELU.high) < high + mpf(2) ** -48
        assert 1 - high - mpf(2) ** -48 < mpf(GELU.low) < 1 - high


def test_the_extremes_of_the_tanh_form() -> None:
    def form(x: mpf) -> mpf:
        return x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpf("0.044715") * x**3)))

    with mp.workdps(40):
        at = mpmath.findroot(lambda x: mpmath.diff(form, x, 2), 1.4)
        high = mpmath.diff(form, at)
        assert mpf(GELU_TANH_STEEPEST) == pytest.approx(float(at), rel=1e-15)
        assert high < mpf(GELU_TANH.high) < high + mpf(2) ** -48
        assert 1 - high - mpf(2) ** -48 < mpf(GELU_TANH.low) < 1 - high


@pytest.mark.parametrize(
    ("alpha", "beta", "expected"),
    [(1, 1, (-0.125, 1.25)), (2, 1, (-0.25, 2.5)), (-1, 1, (-1.25, 0.125)), (-2, -1, (-0.25, 2.5)), (0, 3, (0, 0))],
)
def test_a_negative_product_swaps_the_ends(alpha: float, beta: float, expected: tuple[float, float]) -> None:
    found = agelu_slopes(alpha, beta, Slopes(-0.125, 1.25))
    assert (found.low, found.high) == expected
