"""Processes of our own that are copies of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

import pytest

from imlp_audit.processes.workers import EndedError, Pool, open_pool

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no copies are made here")
_prepared: list[int] = []


def _prepare() -> None:
    _prepared.append(os.getpid())


def _tell(_given: None, send: Callable[[tuple[int, list[int]]], None]) -> None:
    send((os.getpid(), _prepared))


def _leave(_given: None, send: Callable[[int], None]) -> None:
    send(os.getpid())
    os._exit(1)


@pytest.fixture
def pool() -> Iterator[Pool]:
    with open_pool(3, _prepare) as started:
        yield started


def _take_all(pool: Pool) -> list[tuple[int, list[int]]]:
    """Ask each of the processes, none of which is idle before all have answered."""
    asked = [pool.run(_tell, None) for _ in range(3)]
    answers = [next(one) for one in asked]
    for one in asked:
        assert list(one) == []
    return answers


def test_one_process_prepares_what_all_have(pool: Pool) -> None:
    (first, prepared), *others = _take_all(pool)
    assert prepared == [first]
    assert [known for _, known in others] == [[first], [first]]
    assert len({first, *(process for process, _ in others)}) == 3


def test_a_copy_that_ends_is_not_replaced_and_the_others_go_on(pool: Pool) -> None:
    (first, _), *_ = _take_all(pool)
    asked = pool.run(_tell, None)
    next(asked)  # the first one goes on
    ended = pool.run(_leave, None)
    assert next(ended) != first
    with pytest.raises(EndedError):
        next(ended)
    assert list(asked) == []
