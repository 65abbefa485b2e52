"""Each error that is planted in the package makes a claim about spatial enhancement or about costs false."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.models import imlp as models_imlp
from imlp_audit.models.agelu import AGeLU
from imlp_audit.models.imlp import ChannelPart, DepthwiseBlock, Imlp
from imlp_audit.models.vanillanet import SeriesActivation
from specs.imlp.equations import _dw_block, _padding, _series, _sums, sec5_2_ablations
from tests.equations import papers

P = ParamSpec("P")
M = TypeVar("M", bound=nn.Module)


def _is_false(name: str) -> bool:
    return papers.is_false("imlp", name, 20)


def _changed(make: Callable[P, M], change: Callable[[M], object]) -> Callable[P, M]:
    """Make modules that are changed once they are made."""

    def make_and_change(*args: P.args, **options: P.kwargs) -> M:
        module = make(*args, **options)
        change(module)
        return module

    return make_and_change


Convolving = SeriesActivation | DepthwiseBlock


def _add_bias(module: Convolving) -> None:
    module.conv.bias = nn.Parameter(torch.ones(module.conv.out_channels))


def _pad_otherwise(module: Convolving) -> None:
    module.conv.padding_mode = "circular"


def _flip(module: Convolving) -> None:
    def turn_round(conv: nn.Module, _: object) -> None:
        assert isinstance(conv.weight, Tensor)
        conv.weight.data.copy_(conv.weight.flip(-1, -2))

    module.conv.register_forward_pre_hook(turn_round)


def _stretch(module: Convolving) -> None:
    module.conv.dilation, module.conv.padding = (2, 2), (module.conv.kernel_size[0] - 1,) * 2


def _mix_channels(block: DepthwiseBlock) -> None:
    channels, kernel = block.conv.out_channels, block.conv.kernel_size[0]
    block.conv = nn.Conv2d(channels, channels, kernel, padding=kernel // 2, bias=False)


def _add_coefficient(agelu: AGeLU) -> None:
    agelu.delta = nn.Parameter(torch.zeros(len(agelu.alpha)))


@pytest.mark.parametrize(
    ("change", "claims"),
    [
        (_add_bias, ("eq10_index_set_corrected", "eq10_borders")),
        (_pad_otherwise, ("eq10_borders",)),
        (_flip, ("eq10_index_set_corrected", "eq10_borders")),
        (_stretch, ("eq10_index_set_corrected", "eq10_borders")),
    ],
)
def test_series_activation(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Convolving], object], claims: tuple[str, ...]
) -> None:
    monkeypatch.setattr(_series, "SeriesActivation", _changed(SeriesActivation, change))
    for claim in claims:
        assert _is_false(claim)


@pytest.mark.parametrize("claim", ["eq10_index_set_corrected", "eq10_borders"])
def test_bias_behind_the_activation(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    """The bias with the convolution, where its weights do not multiply it."""

    def convolved(self: _series.Series, arithmetic: Arithmetic) -> Tensor:
        without = _series.Series(self.n, self.phi, (0.0,) * len(self.b), self.x, self.a)
        return honest(without, arithmetic) + arithmetic.tensor(self.b)[:, None, None]

    honest = _series.Series.convolved
    monkeypatch.setattr(_series.Series, "convolved", convolved)
    assert _is_false(claim)


def test_reflection_that_repeats_the_border(monkeypatch: pytest.MonkeyPatch) -> None:
    def symmetric(index: int, size: int) -> int:
        return size - 1 - abs(size - 1 - index) if index >= 0 else -index - 1

    monkeypatch.setitem(_padding._INDICES, "reflect", symmetric)
    assert _is_false("eq10_padding")


@pytest.mark.parametrize("claim", ["eq10_dw_block", "eq10_dw_block_batch_norm", "depthwise_block"])
@pytest.mark.parametrize("change", [_add_bias, _pad_otherwise, _flip, _stretch])
def test_convolution_of_the_depthwise_block(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Convolving], object], claim: str
) -> None:
    monkeypatch.setattr(_dw_block, "DepthwiseBlock", _changed(DepthwiseBlock, change))
    assert _is_false(claim)


FORWARDS: Mapping[str, Callable[[DepthwiseBlock, Tensor], Tensor]] = {
    "a skip": lambda block, x: x + block.act(block.norm(block.conv(x))),
    "no norm": lambda block, x: block.act(block.conv(x)),
    "no activation": lambda block, x: block.norm(block.conv(x)),
    "the norm last": lambda block, x: block.norm(block.act(block.conv(x))),
    "the norm first": lambda block, x: block.act(block.conv(block.norm(x))),
}


@pytest.mark.parametrize("forward", FORWARDS.values(), ids=FORWARDS)
def test_order_of_the_depthwise_block(
    monkeypatch: pytest.MonkeyPatch, forward: Callable[[DepthwiseBlock, Tensor], Tensor]
) -> None:
    monkeypatch.setattr(DepthwiseBlock, "forward", forward)
    assert _is_false("depthwise_block")


def test_parts_of_the_depthwise_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DepthwiseBlock, "forward", lambda block, x: block.act(block.norm(block.conv(x))))
    assert _is_false("eq10_dw_block_parts")


@pytest.mark.parametrize("claim", ["depthwise_global_corrected", "depthwise_stacked"])
def test_grid_lies_on_its_side(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    enhance = Imlp._enhance_spatially

    def turned(self: Imlp, x: Tensor) -> Tensor:
        assert self.grid is not None
        height, width = self.grid
        self.grid = width, height
        y = enhance(self, x)
        self.grid = height, width
        return y

    monkeypatch.setattr(Imlp, "_enhance_spatially", turned)
    assert _is_false(claim)


@pytest.mark.parametrize(
    "claim", ["depthwise_global_corrected", "depthwise_stacked", "depthwise_global_on_small_grids"]
)
def test_depthwise_block_that_is_global(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    monkeypatch.setattr(DepthwiseBlock, "forward", lambda block, x: block.conv(x) + x.mean((2, 3), keepdim=True))
    assert _is_false(claim)


def test_hidden_units_interleaved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ChannelPart, "forward", lambda part, x: torch.stack((part.agelu1(x), part.agelu2(x)), -1).flatten(-2)
    )
    assert _is_false("freedom_halved")


@pytest.mark.parametrize(
    "claim",
    [
        "complexity_amlp_multiply_accumulates",
        "complexity_amlp_parameters",
        "complexity_amlp_parameters_exact",
        "complexity_imlp_multiply_accumulates",
        "complexity_imlp_parameters",
        "complexity_imlp_reduces",
    ],
)
def test_hidden_width_not_halved(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    make = Imlp.__init__
    monkeypatch.setattr(
        Imlp, "__init__", lambda self, width, hidden, **options: make(self, width, 2 * hidden, **options)
    )
    assert _is_false(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "complexity_kernel_size",
        "complexity_imlp_multiply_accumulates",
        "complexity_imlp_parameters",
        "complexity_imlp_reduces",
    ],
)
def test_convolution_not_depthwise(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    monkeypatch.setattr(models_imlp, "DepthwiseBlock", _changed(DepthwiseBlock, _mix_channels))
    assert _is_false(claim)


@pytest.mark.parametrize("claim", ["complexity_amlp_parameters_exact", "complexity_imlp_parameters", "sums_parameters"])
def test_one_coefficient_too_many(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    for user in (models_imlp, sec5_2_ablations):
        monkeypatch.setattr(user, "AGeLU", _changed(AGeLU, _add_coefficient))
    assert _is_false(claim)


def test_agelu_that_mixes_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AGeLU, "forward", lambda agelu, x: agelu.beta * agelu.phi(agelu.alpha * x.mean() + agelu.gamma))
    assert _is_false("sums_bias_of_own_input")


def test_gelu_that_is_approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sums, "nn", type("nn", (), {"GELU": lambda: nn.GELU(approximate="tanh")}))
    assert _is_false("sums_of_gelus")
