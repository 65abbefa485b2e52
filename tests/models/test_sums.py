from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import count_parameters
from imlp_audit.models.agelu import AGeLU, SumOfFunctions


def randomised(module: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


def gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def test_gelus_by_hand() -> None:
    """Table 4, row GeLU: 4 C times GeLU(x), here with C = 3."""
    y = SumOfFunctions(3)(torch.tensor([[-1.0, 0.0, 2.0]]))
    torch.testing.assert_close(y, torch.tensor([[12 * gelu(-1), 0.0, 12 * gelu(2)]]))


@pytest.mark.parametrize("ratio", [1, 4])
def test_agelus_are_added_up_as_printed(ratio: int) -> None:
    """y = AGeLU_1(x) + ... + AGeLU_4C(x) (Sec. 5.2), with modules of their own."""
    sums = SumOfFunctions(3, ratio, agelu=True)
    randomised(sums)
    agelus = []
    for number in range(3 * ratio):
        agelu = AGeLU(3)
        agelu.load_state_dict(
            {n.removeprefix("agelus."): p.view(3, -1)[:, number] for n, p in sums.state_dict().items()}
        )
        agelus.append(agelu)
    x = torch.randn(2, 5, 3)
    torch.testing.assert_close(sums(x), sum((agelu(x) for agelu in agelus), torch.zeros(())))


@pytest.mark.parametrize("agelu", [False, True])
def test_layouts_agree(agelu: bool) -> None:
    tokens, convolutional = SumOfFunctions(3, agelu=agelu), SumOfFunctions(3, agelu=agelu, channels_first=True)
    randomised(tokens)
    convolutional.load_state_dict(tokens.state_dict(), strict=True)
    x = torch.randn(2, 4, 5, 3)
    torch.testing.assert_close(convolutional(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1), tokens(x))


@pytest.mark.parametrize("channels_first", [False, True])
@pytest.mark.parametrize("ratio", [1, 4])
def test_closed_formulas(ratio: int, channels_first: bool) -> None:
    """16 C^2 coefficients for 4 C AGeLUs of C channels, 4 C GeLUs for each number, and no multiply-accumulates."""
    channels, shape = 8, (2, 8, 5, 5) if channels_first else (2, 25, 8)
    with torch.device("meta"):
        gelus = SumOfFunctions(channels, ratio, channels_first=channels_first)
        agelus = SumOfFunctions(channels, ratio, agelu=True, channels_first=channels_first)
        ledger = measure(agelus, torch.zeros(shape))
    assert (count_parameters(gelus), count_parameters(agelus)) == (0, 4 * ratio * channels * channels)
    assert not ledger.unknown
    assert total(ledger, FLOPS_CONVENTIONS["macs"]) == 0
    activations = sum(amount for (_, operation), amount in ledger.work.items() if operation is Operation.ACTIVATION)
    assert activations == 2 * 25 * channels * ratio * channels
