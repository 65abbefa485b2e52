"""Which model is timed when, and how."""

from __future__ import annotations

import time

import pytest
import torch

from imlp_audit.bench import timing
from imlp_audit.bench.timing import Forward, in_turns, seconds, with_threads


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


def test_threads_are_given_back() -> None:
    before = torch.get_num_threads()

    def fail() -> None:
        with with_threads(before + 1):
            assert torch.get_num_threads() == before + 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert torch.get_num_threads() == before


def test_a_measurement_uses_the_threads_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "LEAST", 0.001)
    used: set[int] = set()
    seconds(lambda: used.add(torch.get_num_threads()), 2)
    assert used == {2}
