"""Models as they are run, which is timed when, and whose time and work is whose."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from imlp_audit.bench import timing
from imlp_audit.bench.setup import ModelDtype, Setup
from imlp_audit.bench.timing import (
    CUDA,
    Clock,
    Forward,
    _own_seconds,
    forward_of,
    images_for,
    in_turns,
    kind,
    macs_by_kind,
    prepare_model,
    seconds,
    seconds_by_kind,
)
from imlp_audit.models.hosts import Mixer
from imlp_audit.models.recipe import Recipe

from .papers import BLOCK, SMALL, VIT, paper, row


def test_models_take_turns_in_alternating_order() -> None:
    order: list[str] = []
    takes = {"base": 20.0, "variant": 30.0}

    def forward(name: str) -> Forward:
        return lambda: name

    def measure(run: Forward) -> float:
        name = str(run())
        order.append(name)
        return takes[name] + len(order)

    found = in_turns(forward("base"), forward("variant"), 3, measure, lambda: order.append("-"))
    assert order == ["-", "base", "variant", "-", "variant", "base", "-", "base", "variant"]
    assert found == [(20 + 2, 30 + 3), (20 + 6, 30 + 5), (20 + 8, 30 + 9)]  # each under its own name


def test_seconds_are_those_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "LEAST", 0.02)
    calls: list[bool] = []

    def forward() -> None:
        calls.append(torch.is_inference_mode_enabled())
        time.sleep(0.002)

    found = seconds(forward, 1)
    assert 0.002 <= found < 0.02
    assert len(calls) > 0.02 / 0.02
    assert all(calls)


def test_a_measurement_uses_the_threads_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "LEAST", 0.001)
    used: set[int] = set()
    seconds(lambda: used.add(torch.get_num_threads()), 2)
    assert used == {2}


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recipe]:
    rows = (row("mixer", SMALL, "1"), row("vit", VIT, "1"), row("block", BLOCK, "1"))
    found = paper(tmp_path_factory.mktemp("models"), *rows).tables[0].value.rows
    return {one.id: one.model for one in found if one.model is not None}


@pytest.mark.parametrize("dtype", list(ModelDtype))
def test_weights_and_images_are_of_the_type_asked_for(recipes: dict[str, Recipe], dtype: ModelDtype) -> None:
    setup = Setup(dtype=dtype)
    with prepare_model(recipes["mixer"], None, setup) as model, torch.inference_mode():
        (images,) = images_for(model, setup, 3)
        assert {p.dtype for p in model.parameters()} == {images.dtype} == {getattr(torch, dtype)}
        assert not model.training
        assert images.shape == (3, 3, 32, 32)
        out = forward_of(model, (images,), setup)()
        assert isinstance(out, torch.Tensor)
        assert out.shape == (3, 1000)


def test_images_are_noise_and_the_same_every_time(recipes: dict[str, Recipe]) -> None:
    with prepare_model(recipes["mixer"], None, Setup()) as model:
        state = torch.get_rng_state()
        (one,), (other,) = images_for(model, Setup(), 2), images_for(model, Setup(), 2)
    assert torch.equal(one, other)
    assert one.std().item() == pytest.approx(1, abs=0.05)
    assert torch.equal(state, torch.get_rng_state())


def test_token_ids_stay_ids() -> None:
    class Model(torch.nn.Module):
        def example_inputs(self, batch: int) -> tuple[torch.Tensor, ...]:
            return (torch.zeros(batch, 5, dtype=torch.long),)

    (ids,) = images_for(Model(), Setup(dtype=ModelDtype.BFLOAT16), 2)
    assert (ids.dtype, ids.sum().item()) == (torch.long, 0)


def test_channels_last(recipes: dict[str, Recipe]) -> None:
    setup = Setup(channels_last=True)
    with prepare_model(recipes["vit"], None, setup) as model:
        (images,) = images_for(model, setup, 2)
        kernels = [p for p in model.parameters() if p.dim() == 4]
    assert images.is_contiguous(memory_format=torch.channels_last)
    assert not images.is_contiguous()
    assert kernels
    assert all(p.is_contiguous(memory_format=torch.channels_last) for p in kernels)


def test_two_models_of_one_host_are_there_at_once(recipes: dict[str, Recipe], tmp_path: Path) -> None:
    about = paper(tmp_path, row("a", VIT, "1")).about.value
    reading = about.readings["plain"].reading()
    block = recipes["block"]
    with (
        prepare_model(recipes["vit"], None, Setup()) as base,
        prepare_model(block, block.part_of(reading), Setup()) as variant,
    ):
        kinds = [{type(module).__name__ for module in model.modules()} for model in (base, variant)]
    assert ["Imlp" in kind for kind in kinds] == [False, True]
    assert ["Mlp" in kind for kind in kinds] == [True, False]


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
    monkeypatch.setattr(timing, "CPU", ticking())
    found = seconds_by_kind(nn.Sequential(Branch(), nn.ReLU()), (torch.ones(1, 2),))
    assert found == pytest.approx({"Sequential": 3, "Branch": 4, "Linear": 2, "GELU": 1, "ReLU": 1})


def test_no_hook_stays_even_when_the_model_fails() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(3, 3))
    with pytest.raises(RuntimeError):
        _own_seconds(model, (torch.ones(1, 2),), ticking())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


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
