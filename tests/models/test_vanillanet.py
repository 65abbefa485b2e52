from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from imlp_audit.models.vanillanet import SeriesActivation


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


def _ours(name: str) -> str:
    return "conv.weight" if name == "weight" else name.replace("bn.", "norm.")


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("act_num", [0, 1, 3])
def test_is_the_released_activation(act_num: int, training: bool) -> None:
    torch.manual_seed(act_num)
    theirs = Released(4, act_num).train(training)
    nn.init.uniform_(theirs.bn.weight)
    nn.init.normal_(theirs.bn.bias)
    assert theirs.bn.running_mean is not None
    nn.init.normal_(theirs.bn.running_mean)
    ours = SeriesActivation(4, act_num).train(training)
    ours.load_state_dict({_ours(name): value for name, value in theirs.state_dict().items()})
    x = torch.randn(2, 4, 5, 3)
    torch.testing.assert_close(ours(x), theirs(x))


def test_default_reaches_three_positions_to_each_side() -> None:
    x = torch.zeros(1, 1, 9, 9, requires_grad=True)
    activation = SeriesActivation(1, act_layer=nn.Identity).eval()
    (reached,) = torch.autograd.grad(activation(x)[0, 0, 4, 4], x)
    rows, columns = reached[0, 0].nonzero().T
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (1, 7, 1, 7)


def test_channels_stay_apart() -> None:
    activation = SeriesActivation(2).eval()
    x = torch.ones(1, 2, 3, 3)
    first_is_other = torch.stack((2 * x[:, 0], x[:, 1]), dim=1)
    y, other = activation(x), activation(first_is_other)
    torch.testing.assert_close(y[:, 1], other[:, 1])
    assert not torch.equal(y[:, 0], other[:, 0])


def test_parameters_by_hand() -> None:
    """7 x 7 weights and BatchNorm's 2 a channel."""
    assert sum(p.numel() for p in SeriesActivation(5).parameters()) == 5 * (49 + 2)
