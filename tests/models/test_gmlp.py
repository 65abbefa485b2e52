from __future__ import annotations

import pytest
import torch
from timm.models.mlp_mixer import SpatialGatingBlock
from timm.models.mlp_mixer import SpatialGatingUnit as TimmSpatialGatingUnit
from torch import nn
from torch.nn import functional as F

from imlp_audit.models.gmlp import GmlpBlock, SpatialGatingUnit, ToeplitzProjection

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


def test_odd_channels_are_not_split() -> None:
    with pytest.raises(ValueError, match="5 channels cannot be split into halves"):
        SpatialGatingUnit(5, TOKENS)
