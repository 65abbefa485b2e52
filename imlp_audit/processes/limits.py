"""What work may take of this machine: processor cores, memory, and seconds of its processor."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY_OF_CODE = 8 * 1024**3  # of a model that is somebody's own Python, which runs in a process of its own
_NO_MEMORY = ("can't allocate", "not enough memory", "out of memory")
_AGAIN = 0.5  # seconds: an error that is raised in a destructor is lost, so it is raised again


class LimitError(Exception):
    """A block took more than it may."""


class TimeIsUp(BaseException):
    """Ends a block that takes too long. No Exception: libraries would catch it and go on."""


@contextmanager
def limited(memory: int, seconds: float) -> Iterator[None]:
    """Raise LimitError where a block takes more bytes of memory than it found in use, or more seconds of processor.

    Seconds are limited in the main thread, outside of another such block and where the system has such timers; memory
    is on Linux.
    """
    try:
        with _limited_memory(memory), _limited_time(seconds):
            yield
    except TimeIsUp as error:
        raise LimitError(f"it takes more than {seconds:g} s") from error
    except Exception as error:
        if isinstance(error, LimitError) or not is_of_memory(error):
            raise
        raise LimitError(f"it takes more than {memory // 1024**2} MiB of memory") from error


def is_of_memory(error: BaseException | None) -> bool:
    """Say whether an error is, or comes from, memory that was refused; torch raises RuntimeError, on any device."""
    while error is not None:
        refused = isinstance(error, RuntimeError) and any(words in str(error) for words in _NO_MEMORY)
        if isinstance(error, MemoryError) or refused:
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def _limited_memory(memory: int) -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    import resource

    used = re.search(r"(?m)^VmData:\s*(\d+) kB", Path("/proc/self/status").read_text())
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [limit for limit in (before, most) if limit != resource.RLIM_INFINITY]
    if used is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (min(int(used[1]) * 1024 + memory, *limits, sys.maxsize), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))


@contextmanager
def _limited_time(seconds: float) -> Iterator[None]:
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_PROF)[0]:
        yield
        return

    def stop(_number: int, _frame: object) -> None:
        raise TimeIsUp

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
