from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.models.blocks import Activation
from imlp_audit.models.imlp import BASE_ACTIVATIONS, AGeLU

scalars = st.floats(-3, 3)


@given(scalars, scalars, scalars, scalars, scalars)
def test_equation_4_element_by_element(alpha: float, beta: float, gamma: float, theta: float, x: float) -> None:
    module = AGeLU(1).double()
    for name, value in (("alpha", alpha), ("beta", beta), ("gamma", gamma), ("theta", theta)):
        getattr(module, name).data.fill_(value)
    inside = torch.tensor(alpha * x + gamma, dtype=torch.float64)
    expected = beta * (inside * 0.5 * (1 + torch.erf(inside / 2**0.5))) + theta
    assert torch.allclose(module(torch.tensor([x], dtype=torch.float64)), expected, rtol=1e-12, atol=1e-12)


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
    module = AGeLU(1, BASE_ACTIVATIONS[activation])
    assert module(torch.tensor([-1.0])).item() == pytest.approx(at_minus_one, abs=1e-6)
