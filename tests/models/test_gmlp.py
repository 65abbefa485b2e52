from __future__ import annotations

from functools import partial

import pytest
import torch
from timm.layers import GatedMlp
from timm.models.mlp_mixer import SpatialGatingBlock
from timm.models.mlp_mixer import SpatialGatingUnit as TimmSpatialGatingUnit
from torch import nn
from torch.nn import functional as F

from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock, SpatialGatingUnit, TinyAttention, ToeplitzProjection, TokenProjection

WIDTH, HIDDEN, TOKENS = 6, 10, 5
TIMM_NAMES = {"mlp_channels.fc1": "u", "mlp_channels.gate": "sgu", "mlp_channels.fc2": "v"}


def _randomise(module: nn.Module) -> None:
    for parameter in module.parameters():
        nn.init.normal_(parameter)


def _renamed(theirs: nn.Module, names: dict[str, str]) -> dict[str, torch.Tensor]:
    """Their weights under our names."""
    state = dict(theirs.state_dict())
    for old, new in names.items():
        state = {key.replace(old, new): value for key, value in state.items()}
    return state


def test_unit_is_timms() -> None:
    torch.manual_seed(0)
    theirs = TimmSpatialGatingUnit(HIDDEN, TOKENS)
    _randomise(theirs)
    ours = SpatialGatingUnit(HIDDEN, TOKENS)
    ours.load_state_dict(theirs.state_dict(), strict=True)
    z = torch.randn(3, TOKENS, HIDDEN)
    torch.testing.assert_close(ours(z), theirs(z))


def test_unit_starts_like_timms() -> None:
    """Bias 1 exactly, weights of the same standard deviation."""
    torch.manual_seed(0)
    theirs = TimmSpatialGatingUnit(2, 100)
    theirs.init_weights()
    ours = SpatialGatingUnit(2, 100)
    assert torch.equal(ours.proj.bias, theirs.proj.bias)
    assert ours.proj.weight.std().item() == pytest.approx(theirs.proj.weight.std().item(), rel=0.05)


def test_block_is_timms() -> None:
    """Parameter for parameter and output for output; timm's own block norm alone has another eps, 1e-6."""
    torch.manual_seed(1)
    theirs = SpatialGatingBlock(WIDTH, TOKENS, mlp_ratio=HIDDEN / WIDTH, norm_layer=nn.LayerNorm)
    _randomise(theirs)
    ours = GmlpBlock(WIDTH, HIDDEN, TOKENS)
    ours.load_state_dict(_renamed(theirs, TIMM_NAMES), strict=True)
    x = torch.randn(3, TOKENS, WIDTH)
    torch.testing.assert_close(ours(x), theirs(x))


def test_channel_projections_around_the_unit_are_timms_gated_mlp() -> None:
    torch.manual_seed(2)
    theirs = GatedMlp(WIDTH, HIDDEN, gate_layer=partial(TimmSpatialGatingUnit, seq_len=TOKENS))
    _randomise(theirs)
    ours = GmlpBlock(WIDTH, HIDDEN, TOKENS)
    ours.norm = nn.Identity()
    ours.load_state_dict(_renamed(theirs, {"fc1": "u", "gate": "sgu", "fc2": "v"}), strict=True)
    x = torch.randn(3, TOKENS, WIDTH)
    torch.testing.assert_close(ours(x), theirs(x) + x)


@pytest.mark.parametrize("tokens", [1, 2, 5])
def test_toeplitz_projection_is_a_zero_padded_convolution(tokens: int) -> None:
    """torch's conv1d correlates, so its kernel is w reversed; every channel is one sequence."""
    torch.manual_seed(tokens)
    projection = ToeplitzProjection(tokens).double()
    _randomise(projection)
    z = torch.randn(2, tokens, 3, dtype=torch.float64)
    kernel = projection.weight.flip(0)[None, None]
    sequences = z.mT.reshape(-1, 1, tokens)
    expected = F.conv1d(sequences, kernel, padding=tokens - 1).view(2, 3, tokens).mT + projection.bias[:, None]
    assert torch.allclose(projection(z), expected, rtol=1e-12, atol=1e-12)


def test_toeplitz_matrix_written_out() -> None:
    projection = ToeplitzProjection(3)
    projection.weight.data = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0])
    assert projection.matrix().tolist() == [[0, -1, -2], [1, 0, -1], [2, 1, 0]]


def test_token_projection_has_a_bias_for_each_token() -> None:
    projection = TokenProjection(2)
    projection.weight.data.zero_()
    projection.bias.data = torch.tensor([1.0, 2.0])
    assert projection(torch.zeros(2, 3)).tolist() == [[1, 1, 1], [2, 2, 2]]


@pytest.mark.parametrize("d_attn", [1, 2, 64])
def test_tiny_attention_is_scaled_dot_product_attention_with_one_head(d_attn: int) -> None:
    torch.manual_seed(d_attn)
    attention = TinyAttention(WIDTH, 4, d_attn).double()
    x = torch.randn(3, TOKENS, WIDTH, dtype=torch.float64)
    q, k, v = attention.qkv(x).split(d_attn, dim=-1)
    expected = attention.out(F.scaled_dot_product_attention(q, k, v))
    assert torch.allclose(attention(x), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("gate", Gate)
def test_attention_is_added_to_the_gate(gate: Gate) -> None:
    """aMLP: what the attention gives for the normed input stands beside W Z + b."""
    torch.manual_seed(3)
    block = GmlpBlock(WIDTH, HIDDEN, TOKENS, gate, d_attn=2).double()
    _randomise(block)
    x = torch.randn(2, TOKENS, WIDTH, dtype=torch.float64)
    normed = block.norm(x)
    assert block.attention is not None
    z = F.gelu(block.u(normed))
    z1, z2 = z.chunk(2, dim=-1) if gate is Gate.SPLIT else (z, z)
    f = block.sgu.proj(block.sgu.norm(z2)) + block.attention(normed)
    gated = {Gate.LINEAR: f, Gate.SUM: z1 + f, Gate.PRODUCT: z1 * f, Gate.SPLIT: z1 * f}[gate]
    assert torch.allclose(block(x), block.v(gated) + x, rtol=1e-12, atol=1e-12)


def test_odd_channels_are_not_split() -> None:
    with pytest.raises(ValueError, match="5 channels cannot be split into halves"):
        SpatialGatingUnit(5, TOKENS)


@pytest.mark.parametrize("gate", Gate)
@pytest.mark.parametrize("projection", [TokenProjection, ToeplitzProjection])
def test_parameters_follow_the_closed_formula(gate: Gate, projection: type[TokenProjection]) -> None:
    with torch.device("meta"):
        block = GmlpBlock(WIDTH, HIDDEN, TOKENS, gate, projection)
    inner = HIDDEN // 2 if gate is Gate.SPLIT else HIDDEN
    spatial = TOKENS**2 if projection is TokenProjection else 2 * TOKENS - 1
    norms = 2 * WIDTH + 2 * inner
    layers = (WIDTH + 1) * HIDDEN + spatial + TOKENS + (inner + 1) * WIDTH
    assert sum(p.numel() for p in block.parameters()) == norms + layers


@pytest.mark.parametrize("gate", Gate)
def test_gate_without_a_norm(gate: Gate) -> None:
    """The norm before U stays; of the one inside the gate neither parameters nor effect are left."""
    block = GmlpBlock(WIDTH, HIDDEN, TOKENS, gate, gate_norm_layer=nn.Identity).double()
    _randomise(block)
    assert [name for name, _ in block.named_parameters() if "norm" in name] == ["norm.weight", "norm.bias"]
    x = torch.randn(2, TOKENS, WIDTH, dtype=torch.float64)
    z = F.gelu(block.u(block.norm(x)))
    z1, z2 = z.chunk(2, dim=-1) if gate is Gate.SPLIT else (z, z)
    f = torch.einsum("ij,bjc->bic", block.sgu.proj.weight, z2) + block.sgu.proj.bias[:, None]
    gated = {Gate.LINEAR: f, Gate.SUM: z1 + f, Gate.PRODUCT: z1 * f, Gate.SPLIT: z1 * f}[gate]
    torch.testing.assert_close(block(x), block.v(gated) + x)


def test_gate_with_a_norm_of_its_own() -> None:
    block = GmlpBlock(WIDTH, HIDDEN, TOKENS, gate_norm_layer=partial(nn.LayerNorm, eps=1e-3))
    assert isinstance(block.norm, nn.LayerNorm)
    assert isinstance(block.sgu.norm, nn.LayerNorm)
    assert (block.norm.eps, block.sgu.norm.eps) == (1e-5, 1e-3)
    assert block.sgu.norm.normalized_shape == (HIDDEN // 2,)
