"""Processes that work beside this one: they end with it, and leave an interrupt to it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection


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


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    gc.set_threshold(100_000)  # importing torch makes many objects and no garbage
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
