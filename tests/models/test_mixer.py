from __future__ import annotations

from functools import partial
from typing import TypeVar

import pytest
import timm
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from timm.layers import PatchEmbed
from timm.models.mlp_mixer import MixerBlock
from timm.models.mlp_mixer import MlpMixer as TimmMixer
from torch import Tensor, nn

from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.models.available_hosts import Mixer
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.mixer import MixerLayer, PatchEmbedding
from tests.models.wholes import macs, parameters


def build_mixer(host: Mixer, size: tuple[int, int], classes: int) -> nn.Module:
    return host.build(BuildRequest(size, classes))


_TIMM_NAMES = {
    "token_mixing.norm": "norm1",
    "token_mixing.mlp": "mlp_tokens",
    "channel_mixing.norm": "norm2",
    "channel_mixing.mlp": "mlp_channels",
}


Module = TypeVar("Module", bound=nn.Module)


def _randomised(module: Module) -> Module:
    """Weights, norms and biases that all matter."""
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module.double().eval()


def _renamed(weights: dict[str, Tensor], names: dict[str, str]) -> dict[str, Tensor]:
    return {
        name.replace(theirs, ours, 1): weight
        for ours, theirs in names.items()
        for name, weight in weights.items()
        if name.startswith(theirs + ".")
    }


def _copied(ours: Module, weights: dict[str, Tensor]) -> Module:
    ours.double().load_state_dict(weights)
    return ours.eval()


@pytest.mark.parametrize(("tokens", "channels"), [(4, 6), (5, 8), (1, 2)])
def test_layer_is_timms_mixer_block(tokens: int, channels: int) -> None:
    theirs = _randomised(MixerBlock(channels, tokens))
    weights = _renamed(theirs.state_dict(), _TIMM_NAMES)
    ours = _copied(MixerLayer(tokens, channels, channels // 2, 4 * channels), weights)
    x = torch.randn(3, tokens, channels, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x))


def test_patch_embedding_is_timms() -> None:
    theirs = _randomised(PatchEmbed(img_size=(8, 12), patch_size=4, in_chans=3, embed_dim=5))
    ours = _copied(PatchEmbedding(4, 5), dict(theirs.state_dict()))
    image = torch.randn(2, 3, 8, 12, dtype=torch.float64)
    assert ours(image).shape == (2, 6, 5)
    torch.testing.assert_close(ours(image), theirs(image))


def mixer(layers: int, patch: int, c: int, d_c: int, d_s: int) -> Mixer:
    """The columns of Table 1, in its order."""
    return Mixer(layers=layers, patch=patch, width=c, channels_hidden=d_c, tokens_hidden=d_s)


# arXiv 2105.01601, Table 1: the sizes, and the millions of parameters "without the weights of the classifier head".
TABLE_1 = {
    "s32": (mixer(8, 32, 512, 2048, 256), 19),
    "s16": (mixer(8, 16, 512, 2048, 256), 18),
    "b32": (mixer(12, 32, 768, 3072, 384), 60),
    "b16": (mixer(12, 16, 768, 3072, 384), 59),
    "l32": (mixer(24, 32, 1024, 4096, 512), 206),
    "l16": (mixer(24, 16, 1024, 4096, 512), 207),
    "h14": (mixer(32, 14, 1280, 5120, 640), 431),
}
SMALL = mixer(layers=2, patch=4, c=6, d_c=10, d_s=3)


def of_timm(name: str) -> nn.Module:
    """timm's registered model; H/14 is not registered, but timm's class builds it."""
    h14 = partial(TimmMixer, patch_size=14, num_blocks=32, embed_dim=1280)
    model: nn.Module = h14() if name == "h14" else timm.create_model(f"mixer_{name}_224", pretrained=False)
    return model


def parameters_by_formula(m: Mixer, s: int, classes: int) -> int:
    stem = 3 * m.patch**2 * m.width + m.width
    tokens = s * m.tokens_hidden + m.tokens_hidden + m.tokens_hidden * s + s
    channels = m.width * m.channels_hidden + m.channels_hidden + m.channels_hidden * m.width + m.width
    norm = 2 * m.width
    return stem + m.layers * (norm + tokens + norm + channels) + norm + m.width * classes + classes


def macs_by_formula(m: Mixer, s: int, classes: int) -> int:
    stem = s * 3 * m.patch**2 * m.width
    layer = 2 * m.tokens_hidden * s * m.width + 2 * m.channels_hidden * s * m.width
    return stem + m.layers * layer + m.width * classes


@pytest.mark.daily(2)
@pytest.mark.parametrize("name", TABLE_1)
def test_sizes_of_table_1_are_timms_models(name: str) -> None:
    """Parameters and multiply-accumulates are timm's and the formulas'; without the head, the printed millions."""
    sizes, printed = TABLE_1[name]
    build = partial(build_mixer, sizes, (224, 224), 1000)
    tokens = (224 // sizes.patch) ** 2
    assert parameters(build) == parameters(partial(of_timm, name)) == parameters_by_formula(sizes, tokens, 1000)
    assert macs(build) == macs(partial(of_timm, name)) == macs_by_formula(sizes, tokens, 1000)
    assert round(parameters(build, ParameterConvention.NO_HEAD) / 1e6) == printed


@pytest.mark.parametrize("image", [(8, 8), (8, 12)])
def test_mixer_is_timms(image: tuple[int, int]) -> None:
    tokens = image[0] * image[1] // 16
    theirs = _randomised(TimmMixer(5, image, 3, 4, num_blocks=2, embed_dim=6, mlp_ratio=(0.5, 2)))
    sizes = mixer(layers=2, patch=4, c=6, d_c=12, d_s=3)
    own = {"stem": "stem", "norm": "norm", "head": "head"}
    names = own | {f"blocks.{i}.{ours}": f"blocks.{i}.{timms}" for i in range(2) for ours, timms in _TIMM_NAMES.items()}
    ours = _copied(build_mixer(sizes, image, 5), _renamed(theirs.state_dict(), names))
    x = torch.randn(3, 3, *image, dtype=torch.float64)
    assert ours(x).shape == (3, 5)
    assert parameters(lambda: build_mixer(sizes, image, 5)) == parameters_by_formula(sizes, tokens, 5)
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.slow
@given(
    sizes=st.builds(mixer, *[st.integers(1, 5)] * 5),
    grid=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    classes=st.integers(1, 9),
)
@settings(max_examples=50, deadline=None)
def test_mixers_of_any_size_follow_the_closed_formulas(sizes: Mixer, grid: tuple[int, int], classes: int) -> None:
    build = partial(build_mixer, sizes, (grid[0] * sizes.patch, grid[1] * sizes.patch), classes)
    assert parameters(build) == parameters_by_formula(sizes, grid[0] * grid[1], classes)
    assert macs(build) == macs_by_formula(sizes, grid[0] * grid[1], classes)
