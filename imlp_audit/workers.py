"""Processes that work beside this one: they end with it, and leave an interrupt to it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess


@contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """Yield processes of our own; whatever is still waiting when this ends with an error is given up."""
    fresh = multiprocessing.get_context("spawn")  # a fork would inherit torch's threads, or a CUDA context
    pool = ProcessPoolExecutor(count, mp_context=fresh, initializer=_begin)
    try:
        yield pool
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class Worker:
    """A process of our own, and the pipe to talk with it."""

    process: BaseProcess
    pipe: connection.Connection

    @property
    def exit_code(self) -> int | None:
        """Return the exit code of the process once it has ended."""
        return self.process.exitcode

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()


def start_worker(serve: Callable[[connection.Connection], None]) -> Worker:
    """Start a process that runs a function of a module on its end of a pipe."""
    fresh = multiprocessing.get_context("spawn")
    ours, theirs = fresh.Pipe()
    process = fresh.Process(target=_serve, args=(serve, theirs), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serve(serve: Callable[[connection.Connection], None], pipe: connection.Connection) -> None:
    _begin()
    serve(pipe)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    gc.set_threshold(100_000)  # importing torch makes many objects and no garbage
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
