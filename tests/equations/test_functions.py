"""Activations against 40 digits: their values, their slopes, and the errors that are allowed for."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import pytest
import torch
import torch.nn.functional as F
from mpmath import mp, mpf
from torch import Tensor

from imlp_audit.equations import functions
from imlp_audit.equations.functions import Activation
from imlp_audit.equations.rounded import Rounded

PLACES = [step / 16 for step in range(-160, 161)] + [-40.0, -20.5, 20.0, 20.5, 40.0]


def gelu(x: mpf) -> mpf:
    return x * mpmath.ncdf(x)


def gelu_tanh(x: mpf) -> mpf:
    return x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpf("0.044715") * x**3)))


def gelu_slope(x: mpf) -> mpf:
    return mpmath.ncdf(x) + x * mpmath.npdf(x)


def softplus(x: mpf) -> mpf:
    return mpmath.log1p(mpmath.exp(x))


def silu(x: mpf) -> mpf:
    return x / (1 + mpmath.exp(-x))


def hard_swish(x: mpf) -> mpf:
    return x * min(max(x + 3, mpf(0)), mpf(6)) / 6


def slope_of_torch(x: Tensor) -> Tensor:
    x = x.clone().requires_grad_()
    return torch.autograd.grad(F.gelu(x).sum(), x)[0]


CASES: dict[str, tuple[Activation, Callable[[mpf], mpf], Callable[[Tensor], Tensor]]] = {
    "gelu": (functions.gelu, gelu, F.gelu),
    "gelu_tanh": (functions.gelu_tanh, gelu_tanh, lambda x: F.gelu(x, approximate="tanh")),
    "gelu_slope": (functions.gelu_slope, gelu_slope, slope_of_torch),
    "silu": (functions.silu, silu, F.silu),
    "hard_swish": (functions.hard_swish, hard_swish, F.hardswish),
    "softplus": (functions.softplus, softplus, F.softplus),
    "relu": (functions.relu, lambda x: max(x, mpf(0)), F.relu),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", CASES)
def test_what_torch_computes_stays_within_the_error_that_is_allowed(name: str, dtype: torch.dtype) -> None:
    function, truth, ours = CASES[name]
    unit = torch.finfo(dtype).eps / 2
    found = ours(torch.tensor(PLACES, dtype=dtype)).tolist()
    with mp.workdps(40):
        for x, y in zip(PLACES, found, strict=True):
            bound = function(Rounded.exact(x, unit))
            assert abs(mpf(y) - truth(mpf(x))) <= bound.error, x
            assert abs(mpf(bound.value) - truth(mpf(x))) <= bound.error, x


@pytest.mark.parametrize("slope", [-2.0, 0.0, 0.25])
def test_prelu(slope: float) -> None:
    for x in PLACES:
        bound = functions.prelu(Rounded.exact(x, 2.0**-53), slope)
        assert bound.value == F.prelu(torch.tensor([x]).double(), torch.tensor([slope]).double()).item()


def test_slopes_are_the_derivatives() -> None:
    with mp.workdps(40):
        for x in PLACES:
            assert functions.gelu_slope_value(x) == pytest.approx(float(mpmath.diff(gelu, x)), abs=1e-14)
