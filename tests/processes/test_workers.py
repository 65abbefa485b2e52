"""Processes of our own, each of which does one piece of work at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from imlp_audit.processes.workers import EndedError, Pool, open_pool

Send = Callable[[int], None]


def _answer(times: int, send: Send) -> None:
    for _ in range(times):
        send(os.getpid())


def _leave(_given: None, send: Send) -> None:
    send(os.getpid())
    os._exit(3)


def _sleep(seconds: float, send: Send) -> None:
    send(os.getpid())
    time.sleep(seconds)
    send(os.getpid())


def _list(pool: Pool, times: int) -> list[int]:
    return [*pool.run(_answer, times)]


def test_a_process_that_is_idle_is_used_again_and_a_new_one_is_started_where_none_is() -> None:
    with open_pool() as pool:
        (first,) = _list(pool, 1)
        assert _list(pool, 2) == [first, first]
        busy = pool.run(_answer, 1)
        assert next(busy) == first
        assert _list(pool, 1) != [first]


def test_a_process_that_ends_is_replaced() -> None:
    with open_pool(1) as pool:
        ended = pool.run(_leave, None)
        first = next(ended)
        with pytest.raises(EndedError, match="exit code 3"):
            next(ended)
        (second,) = pool.submit(_list, 1).result()
        assert second not in (first, os.getpid())


def test_what_takes_longer_than_the_patience_after_its_first_answer_is_ended() -> None:
    with open_pool() as pool:
        slow = pool.run(_sleep, 600.0, patience=0.2)
        process = next(slow)
        with pytest.raises(TimeoutError):
            next(slow)
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_pool_that_has_ended_starts_nothing() -> None:
    with open_pool() as pool:
        pass
    with pytest.raises(EndedError):
        _list(pool, 1)


KILLED = """
import os, signal
from imlp_audit.processes.workers import Pool
from tests.processes.test_workers import _sleep
print(next(Pool().run(_sleep, 600.0)), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="looks at a process by its number")
def test_processes_end_with_the_one_that_started_them_however_it_ends() -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            os.kill(int(done.stdout), 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("it still runs")
