"""Conventions named after packages equal them, difference 0; `pip install '.[counters]'` has those that `dev` lacks."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.count.from_python import measure_model
from imlp_audit.count.parameters import parameter_counts
from imlp_audit.count.record import Ledger

from .packages import MODELS, PACKAGES, ledger_of, on_meta, on_processor, quiet

OWN = {title: package for title, package in PACKAGES.items() if package.own}
ALWAYS_FUSED = "tv:vit_b_16"
TRANSPOSED = (
    "pvt_v2_b1"  # on some processors torch adds the biases of its transposed tokens apart, which ptflops leaves out
)
NOT_CALLED = "tv:swin_t"  # functions use the weights of its linear layers, which thop then leaves out


def _skip_without(package: str) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


@cache
def _ledger(name: str) -> Ledger:
    return ledger_of(name)


def _adds_biases_apart() -> bool:
    tokens = torch.ones(1, 8, 16).transpose(1, 2)
    with FlopCounterMode(display=False) as counter:
        nn.functional.linear(tokens, torch.ones(8, 8), torch.ones(8))
    return "addmm" not in str(counter.get_flop_counts())


@pytest.mark.parametrize("title", OWN)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "resnet50" else pytest.mark.slow) for name in MODELS.split()],
)
def test_a_convention_equals_its_package(name: str, title: str) -> None:
    package = OWN[title]
    if package.unfused and name == ALWAYS_FUSED:
        pytest.skip("torch's own attention is always fused")
    if package.convention == "ptflops" and name == TRANSPOSED and _adds_biases_apart():
        pytest.skip("this processor adds biases of transposed tokens apart")
    _skip_without(title.partition(",")[0])
    assert total(_ledger(name), FLOPS_CONVENTIONS[package.convention]) == package(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODELS.split() if name != NOT_CALLED])
def test_parameters_of_layers_are_those_of_thop(name: str) -> None:
    _skip_without("thop")
    model, image = on_processor(name)
    with quiet():
        from thop import profile

        _, parameters = profile(model, inputs=(image,), verbose=False)
    assert parameter_counts(on_meta(name)[0])[ParameterConvention.LAYERS] == int(parameters)


def test_frozen_parameters_and_those_of_no_layer_are_left_out() -> None:
    layer = nn.Linear(3, 4)
    layer.bias.requires_grad_(False)
    model = nn.Sequential(layer, nn.LayerNorm(4), nn.GroupNorm(2, 4))
    model.token = nn.Parameter(torch.zeros(5))
    counts = parameter_counts(model)
    assert counts[ParameterConvention.TRAINABLE] == 12 + 8 + 8 + 5
    assert counts[ParameterConvention.LAYERS] == 16 + 8  # thop has no rule for a group norm


def test_thop_counts_a_slope_for_each_number_and_a_mean_for_each_pool() -> None:
    """thop 0.1.1: one for each number that PReLU or an average of 2 x 2 gives, 3 n - 1 for a softmax of n."""
    layers = nn.Sequential(nn.PReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Softmax(1))
    assert measure_model(layers, torch.ones(1, 3, 4, 4)).flops["thop"] == 48 + 12 + 3 * 12 - 1
