from __future__ import annotations

import pytest
import torch
from timm.layers import Mlp
from timm.models.mlp_mixer import Affine, ResBlock
from torch import nn

from imlp_audit.models.resmlp import (
    Aff,
    AlgorithmLayer,
    ClassMlp,
    ClassMlpLayer,
    CrossPatch,
    CrossPatchMlp,
    EquationLayer,
    FeedForward,
)
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


def test_parameters_of_the_communication_mlp_as_published() -> None:
    """ResMLP-S12 with it has 18.6 M; a linear layer, with bias, 15.4 M."""
    added = 12 * (parameters(CrossPatchMlp(196)) - parameters(CrossPatch(196, bias=True)))
    assert added == 12 * (7 * 196**2 + 4 * 196)
    assert round(15.35 + added / 1e6, 1) == 18.6


def test_layer_of_the_equations_has_no_biases_but_those_of_aff() -> None:
    names = [name for name, _ in EquationLayer(2, 4).named_parameters()]
    assert not any(name.endswith("bias") for name in names)
    assert [name for name in names if name.endswith("beta")] == ["pre1.beta", "post1.beta", "pre2.beta", "post2.beta"]


def test_shorter_sequences_take_the_first_rows_and_columns() -> None:
    layer = randomised(CrossPatch(4, bias=True))
    x = torch.randn(2, 3, 5, dtype=torch.float64)
    expected = layer.a.weight[:3, :3] @ x + layer.a.bias[:3, None]
    torch.testing.assert_close(layer(x), expected, rtol=1e-12, atol=1e-12)


def test_class_mlp_layer_by_hand() -> None:
    """One channel: the aggregator's sum with bias, scaled, and no MLP."""
    layer = ClassMlpLayer(1, 2, scale=0.5)
    layer.aggregate.load_state_dict({"weight": torch.tensor([[1.0, 2.0, 3.0]]), "bias": torch.tensor([4.0])})
    nn.init.zeros_(layer.post2.alpha)
    tokens = torch.tensor([[[10.0], [1.0], [-1.0]]])
    assert layer(tokens).tolist() == [[[10 + 0.5 * (10 + 2 - 3 + 4)], [1.0], [-1.0]]]


def test_class_mlp_starts_from_one_token_for_all_images() -> None:
    module = randomised(ClassMlp(3, 4))
    pooled = module(torch.randn(5, 4, 3, dtype=torch.float64))
    assert pooled.shape == (5, 3)
    alike = module(torch.ones(2, 4, 3, dtype=torch.float64))
    torch.testing.assert_close(alike[0], alike[1], rtol=1e-12, atol=1e-12)
