from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import timm
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from timm.layers import GatedMlp
from timm.models.mlp_mixer import MlpMixer as TimmMixer
from timm.models.mlp_mixer import SpatialGatingBlock
from torch import nn

from imlp_audit.models.available_hosts import Gmlp
from imlp_audit.models.blocks import Gate
from imlp_audit.models.host import BuildRequest, Host
from imlp_audit.models.readings import SpatialMatrix
from tests.models.wholes import macs, parameters, randomised


def build_gmlp(host: Host, size: tuple[int, int], classes: int) -> Any:  # noqa: ANN401  # each class has parts of its own
    return host.build(BuildRequest(size, classes))


# The coursework's Table 4: 30 blocks, C and D_C. timm's name, and its parameters in millions.
TABLE_4 = {
    "ti": (Gmlp(layers=30, patch=16, width=128, hidden=768), 5.867328),
    "s": (Gmlp(layers=30, patch=16, width=256, hidden=1536), 19.422656),
    "b": (Gmlp(layers=30, patch=16, width=512, hidden=3072), 73.075392),
}
SMALL = Gmlp(layers=2, patch=4, width=6, hidden=10)
TIMM_NAMES = {"mlp_channels.fc1": "u", "mlp_channels.gate": "sgu", "mlp_channels.fc2": "v"}


def of_timm(name: str) -> nn.Module:
    model: nn.Module = timm.create_model(f"gmlp_{name}16_224", pretrained=False)
    return model


def parameters_by_formula(m: Gmlp, s: int, classes: int) -> int:
    inner = m.gate.width(m.hidden)
    block = 2 * m.width + (m.width + 1) * m.hidden + 2 * inner + s * s + s + (inner + 1) * m.width
    return (3 * m.patch**2 + 1) * m.width + m.layers * block + 2 * m.width + (m.width + 1) * classes


def macs_by_formula(m: Gmlp, s: int, classes: int) -> int:
    inner = m.gate.width(m.hidden)
    block = s * m.width * m.hidden + s * s * inner + s * inner * m.width
    return s * 3 * m.patch**2 * m.width + m.layers * block + m.width * classes


@pytest.mark.daily(1)
@pytest.mark.parametrize("name", TABLE_4)
def test_sizes_of_table_4_are_timms_models(name: str) -> None:
    sizes, millions = TABLE_4[name]
    build = partial(build_gmlp, sizes, (224, 224), 1000)
    assert parameters(build) == parameters(partial(of_timm, name)) == parameters_by_formula(sizes, 196, 1000)
    assert parameters(build) == round(millions * 1e6)
    assert macs(build) == macs(partial(of_timm, name)) == macs_by_formula(sizes, 196, 1000)


@pytest.mark.parametrize("image", [(8, 8), (8, 12)])
def test_gmlp_is_timms(image: tuple[int, int]) -> None:
    """Output for output, in double precision: the epsilons are timm's too."""
    options = {"mlp_ratio": 10 / 6, "block_layer": SpatialGatingBlock, "mlp_layer": GatedMlp}
    theirs = randomised(TimmMixer(5, image, 3, 4, num_blocks=2, embed_dim=6, **options))
    weights = dict(theirs.state_dict())
    for old, new in TIMM_NAMES.items():
        weights = {name.replace(old, new): weight for name, weight in weights.items()}
    ours = build_gmlp(SMALL, image, 5).double().eval()
    ours.load_state_dict(weights, strict=True)
    x = torch.randn(3, 3, *image, dtype=torch.float64)
    assert ours(x).shape == (3, 5)
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-10, atol=1e-10)


@pytest.mark.slow
@given(
    sizes=st.builds(
        lambda layers, patch, width, half, gate: Gmlp(
            layers=layers, patch=patch, width=width, hidden=2 * half, gate=gate
        ),
        *[st.integers(1, 4)] * 4,
        st.sampled_from(Gate),
    ),
    grid=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    classes=st.integers(1, 9),
)
@settings(max_examples=50, deadline=None)
def test_gmlps_of_any_size_follow_the_closed_formulas(sizes: Gmlp, grid: tuple[int, int], classes: int) -> None:
    build = partial(build_gmlp, sizes, (grid[0] * sizes.patch, grid[1] * sizes.patch), classes)
    assert parameters(build) == parameters_by_formula(sizes, grid[0] * grid[1], classes)
    assert macs(build) == macs_by_formula(sizes, grid[0] * grid[1], classes)


def test_patches_have_no_toeplitz_matrix() -> None:
    with pytest.raises(ValidationError, match="patches lie on a 2-D grid"):
        Gmlp(layers=1, patch=4, width=6, hidden=10, spatial_matrix=SpatialMatrix.TOEPLITZ)


def test_an_odd_width_is_not_split() -> None:
    with pytest.raises(ValidationError, match="hidden: a split gate needs an even number of channels, not 9"):
        Gmlp(layers=1, patch=4, width=6, hidden=9)
    assert Gmlp(layers=1, patch=4, width=6, hidden=9, gate=Gate.PRODUCT).hidden == 9
