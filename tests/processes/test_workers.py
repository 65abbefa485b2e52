"""Processes of our own that are copies of one."""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Connection

import pytest

from imlp_audit.processes.workers import Worker, start_copies

_prepared: list[int] = []


def _prepare() -> None:
    _prepared.append(os.getpid())


def _tell(pipe: Connection) -> None:
    pipe.send((os.getpid(), _prepared))
    if pipe.recv() == "leave":
        os._exit(1)


def end(started: list[Worker]) -> None:
    for worker in started:
        worker.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="no copies are made here")
def test_one_process_prepares_what_all_have() -> None:
    started = start_copies(_tell, _prepare, 3)
    try:
        (first, prepared), *others = [worker.pipe.recv() for worker in started]
        assert prepared == [first]
        assert [known for _, known in others] == [[first], [first]]
        assert len({first, *(process for process, _ in others)}) == 3
    finally:
        end(started)
    for worker in started:  # the copies end with the first
        with pytest.raises(EOFError):
            worker.pipe.recv()


@pytest.mark.skipif(sys.platform != "linux", reason="no copies are made here")
@pytest.mark.parametrize("leaving", [1, 2])
def test_the_pipe_of_a_copy_that_ends_is_closed_while_others_go_on(leaving: int) -> None:
    started = start_copies(_tell, _prepare, 3)
    try:
        for worker in started:
            worker.pipe.recv()
        started[leaving].pipe.send("leave")
        assert started[leaving].pipe.poll(20)
        with pytest.raises(EOFError):
            started[leaving].pipe.recv()
        assert not any(worker.pipe.poll() for worker in started if worker is not started[leaving])
    finally:
        end(started)


@pytest.mark.skipif(sys.platform != "linux", reason="this is what happens there anyway")
def test_elsewhere_each_prepares_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    started = start_copies(_tell, _prepare, 2)
    try:
        answers = [worker.pipe.recv() for worker in started]
        assert [prepared for _, prepared in answers] == [[process] for process, _ in answers]
        assert len({process for process, _ in answers}) == 2
    finally:
        end(started)
