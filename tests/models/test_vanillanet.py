from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import count_parameters
from imlp_audit.errors import BuildError
from specs.imlp.vanillanet import SeriesActivation, VanillaNetBlock, build_block


class Released(nn.ReLU):
    """The released class `activation`, stated again: a ReLU that has the weights of the convolution itself."""

    def __init__(self, dim: int, act_num: int = 3) -> None:
        super().__init__()
        self.act_num, self.dim = act_num, dim
        self.weight = nn.Parameter(torch.randn(dim, 1, act_num * 2 + 1, act_num * 2 + 1))
        self.bn = nn.BatchNorm2d(dim, eps=1e-6)

    def forward(self, input: Tensor) -> Tensor:
        bent = super().forward(input)
        y: Tensor = self.bn(F.conv2d(bent, self.weight, padding=self.act_num, groups=self.dim))
        return y


class ReleasedBlock(nn.Module):
    """The released class `Block` as it is trained, at the end, where the activation between is the identity."""

    def __init__(self, dim: int, act_num: int) -> None:
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(dim, dim, 1), nn.BatchNorm2d(dim, eps=1e-6))
        self.conv2 = nn.Sequential(nn.Conv2d(dim, 2 * dim, 1), nn.BatchNorm2d(2 * dim, eps=1e-6))
        self.pool = nn.MaxPool2d(2)
        self.act = Released(2 * dim, act_num)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.act(self.pool(self.conv2(F.leaky_relu(self.conv1(x), 1.0))))
        return y


def _ours(name: str) -> str:
    return "conv.weight" if name == "weight" else name.replace("bn.", "norm.")


def _randomise(module: nn.Module) -> None:
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d):
            assert norm.running_mean is not None
            assert norm.running_var is not None
            for values in (norm.weight, norm.running_var):
                nn.init.uniform_(values, 0.5, 2)
            for values in (norm.bias, norm.running_mean):
                nn.init.normal_(values)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("act_num", [0, 1, 3])
def test_is_the_released_activation(act_num: int, training: bool) -> None:
    torch.manual_seed(act_num)
    theirs = Released(4, act_num).train(training)
    _randomise(theirs)
    ours = SeriesActivation(4, act_num).train(training)
    ours.load_state_dict({_ours(name): value for name, value in theirs.state_dict().items()})
    x = torch.randn(2, 4, 5, 3)
    torch.testing.assert_close(ours(x), theirs(x))


def test_starts_as_the_released_activation_does() -> None:
    """Normal with a deviation of 0.02, cut off at 2 (trunc_normal_'s bounds, 100 deviations); the norm as identity."""
    torch.manual_seed(0)
    start = SeriesActivation(64).state_dict()
    weight, error = start["conv.weight"], 0.02 / start["conv.weight"].numel() ** 0.5
    assert abs(weight.mean()) <= 5 * error
    assert abs(weight.std() - 0.02) <= 5 * error / 2**0.5
    for name, value in (("weight", 1), ("bias", 0), ("running_mean", 0), ("running_var", 1)):
        assert (start[f"norm.{name}"] == value).all()


def _affine(layer: nn.Sequential, channels: int) -> tuple[Tensor, Tensor]:
    """The matrix and the offset of a 1x1 convolution and its norm, from what they make of unit vectors and of zero."""
    units = torch.cat((torch.eye(channels), torch.zeros(1, channels)))[..., None, None].double()
    made = layer(units)[..., 0, 0]
    return (made[:-1] - made[-1]).T, made[-1]


@pytest.mark.parametrize("act_num", [1, 3])
def test_block_is_the_released_one_with_its_convolutions_merged(act_num: int) -> None:
    torch.manual_seed(act_num)
    theirs = ReleasedBlock(3, act_num).double().eval()
    _randomise(theirs)
    ours = VanillaNetBlock(3, act_num).double().eval()
    weight, bias = _affine(nn.Sequential(*theirs.conv1, *theirs.conv2), 3)
    state = {_ours(name): value for name, value in theirs.act.state_dict().items()}
    merged = {"conv.weight": weight[..., None, None], "conv.bias": bias}
    ours.load_state_dict({**merged, **{f"act.{name}": value for name, value in state.items()}}, strict=True)
    x = torch.randn(2, 3, 14, 14, dtype=torch.float64)
    assert ours(x).shape == (2, 6, 7, 7)
    torch.testing.assert_close(ours(x), theirs(x))


def _parameters(width: int, act_num: int) -> int:
    return width * 2 * width + 2 * width + 2 * width * ((2 * act_num + 1) ** 2 + 2)


def _macs(width: int, side: int, act_num: int) -> int:
    """The convolution runs on the map, the activation on what is pooled of it."""
    return side * side * width * 2 * width + (side // 2) ** 2 * 2 * width * (2 * act_num + 1) ** 2


@pytest.mark.parametrize(("width", "side", "act_num"), [(512, 56, 3), (64, 14, 1), (3, 15, 2)])
def test_block_follows_closed_formulas(width: int, side: int, act_num: int) -> None:
    with torch.device("meta"):
        block = build_block(width, (side, side), act_num).eval()
        ledger = measure(block, torch.empty(1, width, side, side))
    assert count_parameters(block) == _parameters(width, act_num)
    assert not ledger.unknown
    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == _macs(width, side, act_num)


def test_three_blocks_make_vanillanet_5_as_published() -> None:
    """15.5 M and 5.2 G (the release's README), with a stem of 4x4 patches and its activation, and 1000 classes."""
    stages = [(512, 56), (1024, 28), (2048, 14)]
    parameters = 4 * 4 * 3 * 512 + 512 * (49 + 2) + sum(_parameters(width, 3) for width, _ in stages) + 4096 * 1000
    macs = 56 * 56 * 512 * (4 * 4 * 3 + 49) + sum(_macs(width, side, 3) for width, side in stages) + 4096 * 1000
    assert (round(parameters / 1e6, 1), round(macs / 1e9, 1)) == (15.5, 5.2)


@pytest.mark.parametrize(("size", "told"), [((56, 13), "7x7 is larger than the pooled map, 28x6"), ((1, 1), "0x0")])
def test_block_refuses_a_map_smaller_than_its_kernel(size: tuple[int, int], told: str) -> None:
    with pytest.raises(BuildError, match=f"act_num: .*{told}"):
        build_block(8, size)
