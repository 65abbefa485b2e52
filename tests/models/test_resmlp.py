from __future__ import annotations

import pytest
import torch
from timm.layers import Mlp
from timm.models.mlp_mixer import Affine, ResBlock

from imlp_audit.models.resmlp import Aff, FeedForward
from specs.resmlp.models import AlgorithmLayer, ClassMlp
from tests.models.resmlp_helpers import RES_BLOCK, loaded, parameters, randomised, renamed


@pytest.mark.parametrize(("patches", "channels"), [(4, 6), (9, 2), (2, 3)])
def test_algorithm_1_is_timms_res_block(patches: int, channels: int) -> None:
    theirs = randomised(ResBlock(channels, patches))
    ours = loaded(AlgorithmLayer(channels, patches), renamed(theirs, RES_BLOCK))
    x = torch.randn(3, patches, channels, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-12, atol=1e-12)  # timm multiplies and adds in one step


@pytest.mark.parametrize(("patches", "channels"), [(4, 6), (196, 384)])
def test_algorithm_1_starts_as_timms_res_block(patches: int, channels: int) -> None:
    ours, theirs = AlgorithmLayer(channels, patches), ResBlock(channels, patches)
    assert parameters(ours) == parameters(theirs)
    theirs_by_name = renamed(theirs, RES_BLOCK)
    for name, weight in ours.state_dict().items():
        if not name.startswith("across"):
            assert torch.equal(weight, theirs_by_name[name])


def test_aff_and_feedforward_are_timms() -> None:
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    affine, mlp = randomised(Affine(6)), randomised(Mlp(6, 24))
    aff, feedforward = Aff(6).double(), FeedForward(6, bias=True).double()
    aff.load_state_dict({name: weight.flatten() for name, weight in affine.state_dict().items()})
    weights = {name.replace("fc1", "b").replace("fc2", "c"): weight for name, weight in mlp.state_dict().items()}
    feedforward.load_state_dict(weights)
    torch.testing.assert_close(aff(x), affine(x), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(feedforward(x), mlp(x))


def test_parameters_of_s12_as_published() -> None:
    """Twelve layers, patches of 16 x 16 x 3, the Aff before the mean and 1000 classes: 15.4 M; class-MLP: 17.7 M."""
    width, patches = 384, 196
    ends = (16 * 16 * 3 + 1) * width + 2 * width + (width + 1) * 1000
    average = 12 * parameters(AlgorithmLayer(width, patches)) + ends
    assert round(average / 1e6, 1) == 15.4
    assert round((average + parameters(ClassMlp(width, patches))) / 1e6, 1) == 17.7
