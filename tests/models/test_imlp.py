from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from imlp_audit.models.blocks import Activation, Part
from imlp_audit.models.imlp import BASE_ACTIVATIONS, Imlp
from imlp_audit.models.readings import ConcatNorm, Presence, Reading
from tests.models.formulas import imlp as imlp_parameters
from tests.models.readings import AS_WRITTEN, RELEASED, readings
from tests.models.released import ReleasedBlock, renamed

widths = st.integers(1, 12)


def _randomise(module: nn.Module) -> None:
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d) and norm.running_mean is not None and norm.running_var is not None:
            nn.init.normal_(norm.running_mean)
            nn.init.uniform_(norm.running_var, 0.5, 2)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("kernel", [3, 5])
def test_released_reading_is_the_released_block(kernel: int, training: bool) -> None:
    """Parameter for parameter and output for output, class token removed."""
    torch.manual_seed(kernel)
    theirs = ReleasedBlock(6, 12, kernel).train(training)
    _randomise(theirs)
    ours = Imlp(6, 12, reading=RELEASED, kernel=kernel).train(training)
    ours.load_state_dict(renamed(theirs.state_dict()), strict=True)
    x = torch.randn(3, 16, 6)
    assert torch.allclose(ours(x), theirs(x), atol=1e-6)
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


@given(widths, widths, st.sampled_from([1, 3, 5, 7]), st.sampled_from(Part), readings, st.booleans())
@settings(max_examples=60, deadline=None)
def test_parameters_follow_the_closed_formula(
    width: int, hidden: int, kernel: int, part: Part, reading: Reading, use_conv: bool
) -> None:
    with torch.device("meta"):
        block = Imlp(width, hidden, use_conv=use_conv, reading=reading, kernel=kernel, part=part)
    assert sum(p.numel() for p in block.parameters()) == imlp_parameters(width, hidden, kernel, part, reading)


@given(readings, st.sampled_from(Part), st.sampled_from([1, 3, 5]), st.integers(0, 2))
@settings(max_examples=40, deadline=None)
def test_layouts_agree(reading: Reading, part: Part, kernel: int, prefix: int) -> None:
    """Tokens, channels last and channels first are one function; prefix tokens take the channel part alone."""
    torch.manual_seed(0)
    make = partial(Imlp, 4, 8, reading=reading, kernel=kernel, part=part)
    tokens = make(grid=(2, 3), prefix_tokens=prefix).eval()
    _randomise(tokens)
    grid = make().eval()
    grid.load_state_dict(tokens.state_dict())
    convolutional = make(use_conv=True).eval()
    state = {k: v[..., None, None] if v.ndim == 2 else v for k, v in tokens.state_dict().items()}
    convolutional.load_state_dict(state)
    x = torch.randn(2, prefix + 6, 4)
    patches = x[:, prefix:].reshape(2, 2, 3, 4)
    y = tokens(x)
    assert y.shape == x.shape
    assert torch.allclose(y[:, prefix:], grid(patches).reshape(2, 6, 4), atol=1e-4)
    assert torch.allclose(grid(patches), convolutional(patches.permute(0, 3, 1, 2)).permute(0, 2, 3, 1), atol=1e-4)


@pytest.mark.parametrize("part", Part)
@pytest.mark.parametrize("activation", Activation)
def test_gradient_reaches_every_parameter(part: Part, activation: Activation) -> None:
    block = Imlp(4, 8, act_layer=BASE_ACTIVATIONS[activation], reading=RELEASED, part=part)
    (block(torch.randn(2, 9, 4)) * torch.randn(2, 9, 4)).sum().backward()
    assert [name for name, p in block.named_parameters() if p.grad is None] == []


def test_equation_5_symbol_by_symbol() -> None:
    """Y' = concat(AGeLU(X W^d), AGeLU'(X W^d)) W^e: the channel part without biases and norms."""
    reading = replace(AS_WRITTEN, fc1_bias=Presence.NO, fc2_bias=Presence.NO)
    block = Imlp(3, 5, reading=reading, part=Part.CHANNEL).double()
    _randomise(block)
    weights = block.state_dict()
    x = torch.randn(2, 4, 3, dtype=torch.float64)
    hidden = x @ weights["fc1.weight"].T
    two = []
    for name in ("act.agelu1", "act.agelu2"):
        alpha, beta, gamma, theta = (weights[f"{name}.{letter}"] for letter in ("alpha", "beta", "gamma", "theta"))
        two.append(beta * F.gelu(alpha * hidden + gamma) + theta)
    assert torch.allclose(block(x), torch.cat(two, -1) @ weights["fc2.weight"].T)


def test_prefix_tokens_pass_by_the_convolution() -> None:
    block = Imlp(4, 8, reading=AS_WRITTEN, prefix_tokens=1).eval()
    x = torch.randn(1, 10, 4)
    moved = x.clone()
    moved[:, 1:] += 1
    torch.testing.assert_close(block(x)[:, 0], block(moved)[:, 0])


def test_timms_constructor_contract() -> None:
    block = Imlp(6, out_features=3, bias=(False, True), drop=(0.1, 0.2), norm_layer=nn.LayerNorm, reading=AS_WRITTEN)
    shapes = {name: tuple(p.shape) for name, p in block.named_parameters() if name.startswith("fc")}
    assert shapes == {"fc1.weight": (6, 6), "fc2.weight": (3, 12), "fc2.bias": (3,)}
    assert (block.drop1.p, block.drop2.p) == (0.1, 0.2)
    assert isinstance(block.act.norm, nn.LayerNorm)


def test_batch_norm_after_the_concatenation_sees_every_token() -> None:
    reading = replace(AS_WRITTEN, concat_norm=ConcatNorm.BATCH)
    block = Imlp(4, 8, reading=reading, part=Part.CHANNEL).train()
    hidden = block.act(block.fc1(torch.randn(5, 9, 4)))
    assert torch.allclose(hidden.mean((0, 1)), torch.zeros(16), atol=1e-5)
