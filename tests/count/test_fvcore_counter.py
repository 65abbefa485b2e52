from __future__ import annotations

import logging

import pytest
import torch
from torch import nn

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.fvcore import count_with_fvcore, unfuse_attention
from imlp_audit.count.ledger import measure


def test_counts_one_flop_for_a_multiply_accumulate() -> None:
    assert count_with_fvcore(nn.Linear(6, 10), torch.zeros(5, 6)) == 300


def test_counts_in_evaluation_mode_and_prints_nothing(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.GELU(), nn.Dropout()).train()
    with caplog.at_level(logging.DEBUG):
        count = count_with_fvcore(model, torch.zeros(1, 3, 5, 5))
    assert count == 25 * 3 * 4 + 25 * 4 * 2
    assert capsys.readouterr() == ("", "")
    assert caplog.records == []


class _InVain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.unused, self.used = nn.Linear(4, 7), nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.unused(x)
        scores: torch.Tensor = self.used(x)
        return scores


def test_fvcore_does_not_see_a_call_whose_result_is_not_used() -> None:
    with torch.device("meta"):
        ledger = measure(_InVain(), torch.zeros(1, 4))
    assert count_with_fvcore(_InVain(), torch.zeros(1, 4)) == 4 * 5
    assert total(ledger, FLOPS_CONVENTIONS["fvcore"]) == 4 * 5 + 4 * 7


def test_unfusing_touches_only_modules_that_fuse() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].fused_attn = True  # type: ignore[assignment]
    assert unfuse_attention(model) is model
    assert not model[1].fused_attn
    assert not hasattr(model[0], "fused_attn")
