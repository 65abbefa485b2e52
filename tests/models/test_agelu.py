from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from imlp_audit.models.agelu import AGeLU, base_activation
from imlp_audit.models.blocks import Activation

scalars = st.floats(-3, 3)


@given(scalars, scalars, scalars, scalars, scalars)
def test_equation_4_element_by_element(alpha: float, beta: float, gamma: float, theta: float, x: float) -> None:
    module = AGeLU(1).double()
    for name, value in (("alpha", alpha), ("beta", beta), ("gamma", gamma), ("theta", theta)):
        getattr(module, name).data.fill_(value)
    inside = torch.tensor(alpha * x + gamma, dtype=torch.float64)
    expected = beta * (inside * 0.5 * (1 + torch.erf(inside / 2**0.5))) + theta
    assert torch.allclose(module(torch.tensor([x], dtype=torch.float64)), expected, rtol=1e-12, atol=1e-12)


def test_initialised_as_its_base_activation() -> None:
    x = torch.randn(4, 7)
    torch.testing.assert_close(AGeLU(7)(x), F.gelu(x))


def test_each_channel_has_its_own_coefficients_in_both_layouts() -> None:
    last, first = AGeLU(5).double(), AGeLU(5, channels_first=True).double()
    for parameter, other in zip(last.parameters(), first.parameters(), strict=True):
        parameter.data = other.data = torch.randn(5, dtype=torch.float64)
    x = torch.randn(2, 5, 3, 4, dtype=torch.float64)
    assert torch.allclose(first(x), last(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2))


@pytest.mark.parametrize(
    ("activation", "at_minus_one"),
    [
        (Activation.GELU, -0.15865525),
        (Activation.RELU, 0.0),
        (Activation.PRELU, -0.25),
        (Activation.SOFTPLUS, 0.31326169),
    ],
)
def test_base_activations(activation: Activation, at_minus_one: float) -> None:
    module = AGeLU(1, base_activation(activation))
    assert module(torch.tensor([-1.0])).item() == pytest.approx(at_minus_one, abs=1e-6)
