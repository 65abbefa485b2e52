"""Whose time is whose, and whose work."""

from __future__ import annotations

from itertools import count

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.bench import modules
from imlp_audit.bench.modules import CUDA, Clock, _own_seconds, kind, macs_by_kind, seconds_by_kind
from imlp_audit.models.hosts import Mixer
from imlp_audit.models.recipe import Recipe


class Branch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.GELU()

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.second(self.first(x)) + self.first(x)
        return out


def ticking() -> Clock[int]:
    ticks = count()
    return Clock(lambda: next(ticks), lambda begun, ended: float(ended - begun))


def test_time_between_instants_is_that_of_the_module_that_runs() -> None:
    model = nn.Sequential(Branch(), nn.ReLU())
    own = _own_seconds(model, (torch.ones(1, 2),), ticking())
    # before, between and after what it calls: Sequential two modules, Branch three, of which one is called twice
    assert own == {"": 3, "0": 4, "0.first": 2, "0.second": 1, "1": 1}


def test_kinds_are_summed_over_modules_and_averaged_over_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "CPU", ticking())
    found = seconds_by_kind(nn.Sequential(Branch(), nn.ReLU()), (torch.ones(1, 2),))
    assert found == pytest.approx({"Sequential": 3, "Branch": 4, "Linear": 2, "GELU": 1, "ReLU": 1})


def test_no_hook_stays_even_when_the_model_fails() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(3, 3))
    with pytest.raises(RuntimeError):
        _own_seconds(model, (torch.ones(1, 2),), ticking())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_a_planted_slow_kind_takes_most_of_the_time() -> None:
    class Slow(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            for _ in range(200):
                x = x + 1
            return x

    model = nn.Sequential(nn.Linear(16, 16), Slow(), nn.Linear(16, 16))
    found = seconds_by_kind(model, (torch.ones(64, 16),))
    assert set(found) == {"Sequential", "Linear", "Slow"}
    assert found["Slow"] > sum(found.values()) / 2


def test_multiply_accumulates_by_kind_are_the_closed_formula() -> None:
    tokens, width, wide, long_ = 16, 32, 64, 8  # an image of 32 in patches of 8
    host = Mixer(layers=3, patch=8, width=width, tokens_hidden=long_, channels_hidden=wide)
    found = macs_by_kind(Recipe.of(mixer=host, image=(32, 32), classes=10), None)
    mixing = 3 * 2 * tokens * width * (long_ + wide)
    assert {name: macs for name, macs in found.items() if macs} == {
        "Linear": mixing + 10 * width,
        "Conv2d": tokens * width * 3 * 8 * 8,
    }


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (nn.Conv2d(4, 4, 3), "Conv2d"),
        (nn.Conv2d(4, 4, 3, groups=4), "Conv2d (depthwise)"),
        (nn.Conv2d(4, 8, 3, groups=2), "Conv2d"),
        (nn.Conv2d(1, 4, 3), "Conv2d"),
        (nn.LayerNorm(2), "LayerNorm"),
    ],
)
def test_kinds(module: nn.Module, name: str) -> None:
    assert kind(module) == name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device here")
def test_on_a_gpu_time_is_the_gpus() -> None:
    model = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU()).cuda()
    own = _own_seconds(model, (torch.ones(4096, 4096, device="cuda"),), CUDA)
    assert own["0"] > own["1"] > 0
