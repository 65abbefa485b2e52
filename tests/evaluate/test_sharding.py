"""Processes that share an evaluation: who takes what, what they tell each other, and who says what went wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.run import Group, open_group, processes_here

TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """What each of two processes saw."""
    folder = tmp_path_factory.mktemp("told")
    subprocess.run(
        [*TORCHRUN, "-m", "tests.evaluate.sharing", str(folder)],
        cwd=Path(__file__).parents[2],
        check=True,
        timeout=120,
        capture_output=True,
    )
    return [json.loads((folder / f"{rank}.json").read_text(encoding="utf-8")) for rank in (0, 1)]


def both(told: list[dict[str, object]], name: str) -> tuple[object, object]:
    return told[0][name], told[1][name]


@pytest.mark.slow
def test_processes_know_their_numbers(told: list[dict[str, object]]) -> None:
    assert both(told, "who") == ([0, 2, 0, 2], [1, 2, 1, 2])
    assert both(told, "leads") == (True, False)


@pytest.mark.slow
def test_what_is_exchanged_is_the_same_everywhere(told: list[dict[str, object]]) -> None:
    expected = [{"from": 0}, {"from": 1}]
    assert both(told, "exchanged") == (expected, expected)
    assert both(told, "share") == ([0, 2, 4], [1, 3])


@pytest.mark.slow
def test_one_process_says_what_went_wrong(told: list[dict[str, object]]) -> None:
    assert both(told, "none fails") == ("done", "done")
    assert both(told, "both fail") == ("UsageError: wrong", "ElsewhereError: ")
    assert both(told, "the first fails") == ("UsageError: wrong", "ElsewhereError: ")
    assert both(told, "the second fails") == ("ElsewhereError: ", "CheckpointError: broken")


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("batches", [0, 1, 2, 5, 21])
def test_each_batch_is_taken_once(size: int, batches: int) -> None:
    taken = [number for rank in range(size) for number in Group(rank, size).share(batches)]
    assert sorted(taken) == list(range(batches))


def test_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    with open_group("cpu") as ours:
        assert ours == Group()
        assert ours.leads
        assert ours.exchange(3) == [3]
        assert ours.agree_on(lambda: 4) == 4
        with pytest.raises(UsageError, match="wrong"):
            ours.agree_on(_wrong)
    assert processes_here() == 1


def _wrong() -> None:
    raise UsageError("wrong")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"WORLD_SIZE": "abc"}, "WORLD_SIZE is 'abc', which is not a whole number from 1 on; start the processes with"),
        ({"WORLD_SIZE": "2"}, "there are several processes, but RANK is not set"),
        ({"WORLD_SIZE": "2", "RANK": "5"}, "RANK is '5', which is not a whole number from 0 to 1"),
        ({"WORLD_SIZE": "2", "RANK": "1"}, "LOCAL_RANK is not set"),
        ({"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1"}, "MASTER_ADDR is not set"),
    ],
)
def test_a_variable_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch, given: dict[str, str], words: str) -> None:
    for name in ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=words), open_group("cpu"):
        pass
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "0")
    with pytest.raises(UsageError, match="LOCAL_WORLD_SIZE is '0'"):
        processes_here()
