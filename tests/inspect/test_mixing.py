"""Blocks that mix patches: the derivative of an MLP against autograd, and what is measured of a block."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from timm.layers import Mlp

from imlp_audit.inspect.cross_patch import cross_patch_matrix, measure_layer
from imlp_audit.inspect.parts import find_parts

from .planted import resmlp, spike, stem


def mixer(bias: bool = True) -> tuple[Mlp, dict[str, torch.Tensor]]:
    torch.manual_seed(0)
    mlp = Mlp(16, 24, bias=bias)
    channels = {f"b.mlp_channels.{name}": value for name, value in Mlp(4, 8).state_dict().items()}
    return mlp, {**stem(), **{f"b.mlp_tokens.{name}": v for name, v in mlp.state_dict().items()}, **channels}


@pytest.mark.parametrize("bias", [True, False])
def test_an_mlp_stands_for_its_derivative_at_0(bias: bool) -> None:
    mlp, state = mixer(bias)
    (found,) = find_parts(state).mixing
    expected = torch.func.jacrev(mlp.double())(torch.zeros(16, dtype=torch.float64))
    matrix = cross_patch_matrix(found)
    assert matrix is not None
    np.testing.assert_allclose(matrix, expected.detach().numpy(), rtol=1e-12, atol=1e-12)


def test_a_shift_however_large_is_a_slope_of_0_or_1() -> None:
    _, state = mixer()
    state["b.mlp_tokens.fc1.bias"] = torch.cat((torch.full((12,), 1e30), torch.full((12,), -1e30)))
    (found,) = find_parts(state).mixing
    first, second = (state[f"b.mlp_tokens.fc{i}.weight"].double().numpy() for i in (1, 2))
    matrix = cross_patch_matrix(found)
    assert matrix is not None
    np.testing.assert_allclose(matrix, second[:, :12] @ first[:12], rtol=1e-12)


def test_the_cross_patch_matrix_of_resmlp_is_a() -> None:
    matrix = spike(4, own=2, seed=0)
    (found,) = find_parts(resmlp([matrix])).mixing
    np.testing.assert_array_equal(cross_patch_matrix(found), matrix.astype(np.float32))


def test_a_gated_mlp_has_no_derivative_here() -> None:
    _, state = mixer()
    state["b.mlp_tokens.fc2.weight"] = torch.ones(16, 12)  # a gated activation halves the width
    (found,) = find_parts(state).mixing
    assert cross_patch_matrix(found) is None
    measured = measure_layer(found, side=4)
    assert (measured.pattern, measured.why_no_pattern) == (None, "its activation is gated")
    assert [one.matrix for one in measured.sparsity] == ["W1", "W2", "W3", "W4"]


def test_a_block_without_a_grid() -> None:
    found = find_parts(resmlp([np.eye(15)]))
    measured = measure_layer(found.mixing[0], found.side(15))
    assert measured.pattern is None
    assert measured.why_no_pattern == "its 15 tokens are not the patches of a square grid of an image"
    assert [one.matrix for one in measured.sparsity] == ["A", "B", "C"]
    assert not measured.mlp
