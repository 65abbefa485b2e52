"""Each error that is planted in the package makes a claim about gMLP, tMLP or aMLP false."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import (
    GmlpBlock,
    SpatialGatingUnit,
    TinyAttention,
    ToeplitzProjection,
    TokenProjection,
)
from specs.mixer_gmlp_coursework.equations import _gmlp, sec3_1_gmlp
from tests.equations import papers


def _is_false(name: str) -> bool:
    return papers.is_false("mixer_gmlp_coursework", name, 30)


PROJECTIONS: dict[str, Callable[[TokenProjection, Tensor], Tensor]] = {
    "no bias": lambda f, z: f.matrix() @ z,
    "one bias for all tokens": lambda f, z: f.matrix() @ z + f.bias[0],
    "W transposed": lambda f, z: f.matrix().T @ z + f.bias[:, None],
    "only the first channel mixed": lambda f, z: torch.cat((f.matrix() @ z[..., :1], z[..., 1:]), -1) + f.bias[:, None],
}


@pytest.mark.parametrize("claim", ["sgu_projection", "sgu_linear", "sgu_sum", "sgu_product", "sgu_split", "gmlp_block"])
@pytest.mark.parametrize("forward", PROJECTIONS.values(), ids=PROJECTIONS)
def test_projection(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor], claim: str) -> None:
    monkeypatch.setattr(TokenProjection, "forward", forward)
    assert _is_false(claim)


@pytest.mark.parametrize(
    ("claim", "gate"),
    [("sgu_linear", Gate.SUM), ("sgu_sum", Gate.PRODUCT), ("sgu_product", Gate.LINEAR), ("gmlp_block", Gate.SUM)],
)
def test_another_gate(monkeypatch: pytest.MonkeyPatch, claim: str, gate: Gate) -> None:
    """The unit does what another row of Table 6 says."""
    forward = SpatialGatingUnit.forward

    def other(unit: SpatialGatingUnit, z: Tensor) -> Tensor:
        unit.gate = gate
        return forward(unit, z)

    monkeypatch.setattr(SpatialGatingUnit, "forward", other)
    assert _is_false(claim)


def _halves_exchanged(unit: SpatialGatingUnit, z: Tensor) -> Tensor:
    z2, z1 = z.chunk(2, dim=-1)
    gated: Tensor = z1 * unit.proj(z2)
    return gated


def _parts_that_overlap(unit: SpatialGatingUnit, z: Tensor) -> Tensor:
    z1, _ = z.chunk(2, dim=-1)
    gated: Tensor = z1 * unit.proj(z1)
    return gated


@pytest.mark.parametrize("forward", [_halves_exchanged, _parts_that_overlap])
@pytest.mark.parametrize("claim", ["sgu_split", "sgu_split_parts"])
def test_split(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor], claim: str) -> None:
    monkeypatch.setattr(SpatialGatingUnit, "forward", forward)
    assert _is_false(claim)


BLOCKS: dict[str, Callable[[GmlpBlock, Tensor], Tensor]] = {
    "no skip": lambda block, x: block.v(block.sgu(F.gelu(block.u(x)))),
    "no GELU": lambda block, x: block.v(block.sgu(block.u(x))) + x,
    "GELU after the unit": lambda block, x: block.v(F.gelu(block.sgu(block.u(x)))) + x,
    "GELU's tanh form": lambda block, x: block.v(block.sgu(F.gelu(block.u(x), approximate="tanh"))) + x,
    "no unit": lambda block, x: block.v(F.gelu(block.u(x))) + x,
}


@pytest.mark.parametrize("forward", BLOCKS.values(), ids=BLOCKS)
def test_block(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor]) -> None:
    monkeypatch.setattr(GmlpBlock, "forward", forward)
    assert _is_false("gmlp_block")


def test_norm_over_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(block: GmlpBlock, x: Tensor) -> Tensor:
        normed = F.layer_norm(x.mT, x.shape[:1]).mT
        y: Tensor = block.v(block.sgu(F.gelu(block.u(normed))))
        return y + x

    monkeypatch.setattr(GmlpBlock, "forward", forward)
    assert _is_false("gmlp_other_steps_per_token")


def _starting_with(bias: float) -> Callable[[TokenProjection, int], None]:
    def init(f: TokenProjection, tokens: int) -> None:
        nn.Module.__init__(f)
        f.weight = nn.Parameter(torch.zeros(f.weight_shape(tokens)))
        f.bias = nn.Parameter(torch.full((tokens,), bias))

    return init


def test_initial_bias_of_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenProjection, "__init__", _starting_with(0.0))
    assert _is_false("gmlp_starts_as_transformer_ffn")


@pytest.mark.parametrize("claim", ["sgu_starts_near_identity", "sgu_starts_token_by_token"])
def test_start_with_the_sum_unit(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    """At W = 0 it gives Z + 1."""
    monkeypatch.setattr(SpatialGatingUnit, "forward", lambda unit, z: z + unit.proj(z))
    assert _is_false(claim)


def test_mean_over_tokens_tells_no_positions_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenProjection, "forward", lambda f, z: z.mean(-2, keepdim=True) + z)
    assert _is_false("sgu_sees_positions")


def test_unit_that_mixes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenProjection, "forward", lambda f, z: z + f.bias[:, None])
    assert _is_false("sgu_mixes_tokens")
    assert _is_false("gmlp_three_layers")


def test_unit_for_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenProjection, "forward", lambda f, z: z * f.weight.sum())
    assert _is_false("sgu_fixed_length")


def test_w_that_is_not_square(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenProjection, "weight_shape", staticmethod(lambda tokens: (2 * tokens, tokens)))
    assert _is_false("sgu_square_matrix")


TOEPLITZ: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {
    "transposed": lambda i, j, tokens: j - i + tokens - 1,
    "along the other diagonals": lambda i, j, tokens: i + j,
    "around": lambda i, j, tokens: (i - j) % tokens,
}


@pytest.mark.parametrize(
    "claim",
    ["tmlp_convolution", "tmlp_shift_equivariance", "tmlp_pooled_shift_invariance", "tmlp_circulant_equivariance"],
)
@pytest.mark.parametrize("index", TOEPLITZ.values(), ids=TOEPLITZ)
def test_toeplitz(monkeypatch: pytest.MonkeyPatch, index: Callable[[Tensor, Tensor, int], Tensor], claim: str) -> None:
    def matrix(f: ToeplitzProjection) -> Tensor:
        places = torch.arange(len(f.bias))
        return f.weight[index(places[:, None], places, len(f.bias))]

    monkeypatch.setattr(ToeplitzProjection, "matrix", matrix)
    assert _is_false(claim)


def test_toeplitz_weights_that_are_not_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToeplitzProjection, "weight_shape", staticmethod(lambda tokens: (tokens, tokens)))
    assert _is_false("tmlp_fewer_weights")


@pytest.mark.parametrize("claim", ["gmlp_cost", "gmlp_split_cost_corrected"])
def test_projection_that_works_twice(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    forward = TokenProjection.forward
    monkeypatch.setattr(TokenProjection, "forward", lambda f, z: forward(f, forward(f, z)))
    assert _is_false(claim)


@pytest.mark.parametrize("claim", ["gmlp_split_shapes_corrected", "gmlp_keeps_shape"])
def test_another_v(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    """V of one column too many, and no skip that would refuse it."""
    init = GmlpBlock.__init__

    def build(block: GmlpBlock, width: int, hidden: int, tokens: int, gate: Gate) -> None:
        init(block, width, hidden, tokens, gate)
        block.v = nn.Linear(gate.width(hidden), width + 1)

    monkeypatch.setattr(GmlpBlock, "__init__", build)
    monkeypatch.setattr(GmlpBlock, "forward", BLOCKS["no skip"])
    assert _is_false(claim)


def test_cost_cubic_in_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenProjection, "forward", lambda f, z: F.linear(z.mT, f.weight @ f.weight, f.bias).mT)
    assert _is_false("gmlp_cost_growth")


def test_attention_without_its_last_projection(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(attention: SelfAttention, x: Tensor) -> Tensor:
        q, k, v = attention.qkv(x).chunk(3, dim=-1)
        y: Tensor = (q @ k.mT).softmax(dim=-1) @ v
        return y

    monkeypatch.setattr(SelfAttention, "forward", forward)
    assert _is_false("attention_cost_in_channels_corrected")


def test_attention_linear_in_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(attention: SelfAttention, x: Tensor) -> Tensor:
        q, k, v = attention.qkv(x).chunk(3, dim=-1)
        y: Tensor = attention.proj(q @ (k.mT @ v))
        return y

    monkeypatch.setattr(SelfAttention, "forward", forward)
    assert _is_false("attention_cost_in_tokens")


def _tiny(
    scale: float = 1.0, softmax_over: int = -1, order: tuple[int, int, int] = (0, 1, 2)
) -> Callable[[TinyAttention, Tensor], Tensor]:
    def forward(attention: TinyAttention, x: Tensor) -> Tensor:
        thirds = attention.qkv(x).chunk(3, dim=-1)
        q, k, v = (thirds[place] for place in order)
        a = (q @ k.mT * attention.scale * scale).softmax(dim=softmax_over)
        y: Tensor = attention.out(a @ v)
        return y

    return forward


@pytest.mark.parametrize("forward", [_tiny(scale=0.5), _tiny(softmax_over=-2), _tiny(order=(0, 2, 1))])
def test_tiny_attention(monkeypatch: pytest.MonkeyPatch, forward: Callable[..., Tensor]) -> None:
    monkeypatch.setattr(TinyAttention, "forward", forward)
    assert _is_false("attention_pseudo_code")


def test_softmax_over_the_other_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TinyAttention, "forward", _tiny(softmax_over=-2))
    assert _is_false("attention_weights_sum_to_one")


def test_attention_that_knows_places(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = TinyAttention.forward
    monkeypatch.setattr(
        TinyAttention, "forward", lambda attention, x: forward(attention, x + torch.arange(x.shape[1])[:, None])
    )
    assert _is_false("attention_follows_shifts")


def test_w_that_looks_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenProjection, "matrix", lambda f: f.weight.T)
    assert _is_false("gmlp_language_model")


def test_w_that_is_not_triangular() -> None:
    one, two = ((1.0,),), ((1.0,), (1.0,))
    leaking = _gmlp.Block(x=two, u=one, w=((1.0, 1.0), (1.0, 1.0)), b=(1.0, 1.0), v=one)
    assert not sec3_1_gmlp.gmlp_language_model.judge(leaking, Arithmetic()).holds


def test_unit_of_twice_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gate, "width", lambda gate, hidden: 2 * hidden)
    assert _is_false("gmlp_table6_widths_corrected")
