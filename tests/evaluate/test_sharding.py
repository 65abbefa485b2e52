"""Processes that share an evaluation: who takes what, and variables that are wrong."""

from __future__ import annotations

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.run import Group, open_group, read_number

VARIABLES = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("batches", [0, 2, 21])
def test_each_batch_is_taken_once(size: int, batches: int) -> None:
    taken = [number for rank in range(size) for number in Group(rank, size).share(batches)]
    assert sorted(taken) == list(range(batches))


def test_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with open_group("cpu") as ours:
        assert ours == Group()
        assert ours.exchange(3) == [3]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"WORLD_SIZE": "abc"}, "WORLD_SIZE is 'abc', which is not a whole number; start the processes with torchrun"),
        ({"WORLD_SIZE": "2"}, "RANK expected, but not set; start the processes with torchrun"),
        ({"WORLD_SIZE": "2", "RANK": "1"}, "MASTER_ADDR expected, but not set"),
    ],
)
def test_a_variable_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch, given: dict[str, str], words: str) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=words), open_group("cpu"):
        pass
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "-1")
    with pytest.raises(UsageError, match="LOCAL_WORLD_SIZE is '-1'"):
        read_number("LOCAL_WORLD_SIZE", 1)
