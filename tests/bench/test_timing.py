"""Models as they are run, and which is timed when."""

from __future__ import annotations

import time
from pathlib import Path
from typing import get_args

import pytest
import torch

from imlp_audit.bench import run as running
from imlp_audit.bench.planning import ModelDtype, Setup
from imlp_audit.bench.run import Forward, images_for, in_turns, prepare_model, seconds
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
    monkeypatch.setattr(running, "LEAST", 0.02)
    calls: list[tuple[bool, int]] = []

    def forward() -> None:
        calls.append((torch.is_inference_mode_enabled(), torch.get_num_threads()))
        time.sleep(0.002)

    found = seconds(forward, 2)
    assert 0.002 <= found < 0.02
    assert len(calls) > 1
    assert set(calls) == {(True, 2)}


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recipe]:
    rows = (row("mixer", SMALL, "1"), row("vit", VIT, "1"), row("block", BLOCK, "1"))
    found = paper(tmp_path_factory.mktemp("models"), *rows).tables[0].value.rows
    return {one.id: one.model for one in found if one.model is not None}


@pytest.mark.parametrize("dtype", get_args(ModelDtype))
def test_weights_and_images_are_of_the_type_asked_for(recipes: dict[str, Recipe], dtype: ModelDtype) -> None:
    setup = Setup(dtype=dtype, batch=3)
    with prepare_model(recipes["mixer"], None, setup) as model, torch.inference_mode():
        (images,) = images_for(model, setup)
        assert {p.dtype for p in model.parameters()} == {images.dtype} == {getattr(torch, dtype)}
        assert not model.training
        assert images.shape == (3, 3, 32, 32)
        out = model(images)
        assert isinstance(out, torch.Tensor)
        assert out.shape == (3, 1000)


def test_images_are_noise_and_the_same_every_time(recipes: dict[str, Recipe]) -> None:
    with prepare_model(recipes["mixer"], None, setup := Setup(batch=2)) as model:
        state = torch.get_rng_state()
        (one,), (other,) = images_for(model, setup), images_for(model, setup)
    assert torch.equal(one, other)
    assert one.std().item() == pytest.approx(1, abs=0.05)
    assert torch.equal(state, torch.get_rng_state())


def test_token_ids_stay_ids() -> None:
    class Model(torch.nn.Module):
        def example_inputs(self, batch: int) -> tuple[torch.Tensor, ...]:
            return (torch.zeros(batch, 5, dtype=torch.long),)

    (ids,) = images_for(Model(), Setup(dtype="bfloat16", batch=2))
    assert (ids.dtype, ids.sum().item()) == (torch.long, 0)


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
