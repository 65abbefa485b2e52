"""What a whole process costs, as the operating system books it."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """One command: wall seconds, processor seconds of all its processes, and the largest one's memory in MB."""

    wall: float
    cpu: float
    memory: float


def run(command: Sequence[str], *, ends_with: Collection[int] = (0,)) -> Cost:
    """Run a command to its end and return its cost. Raises SystemExit for an exit code that is not expected."""
    _adopt_orphans()
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) not in ends_with:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    every = [usage, *_left_behind()]
    return Cost(wall, sum(one.ru_utime + one.ru_stime for one in every), max(one.ru_maxrss for one in every) / 1000)


def _adopt_orphans() -> None:
    """Become the parent of processes whose own parent ends before them, on Linux: nobody else books their time."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


_PR_SET_CHILD_SUBREAPER = 36  # of linux/prctl.h


def _left_behind() -> Iterator[resource.struct_rusage]:
    """Yield the cost of each process that a command left behind, once it has ended."""
    while True:
        try:
            yield os.wait4(-1, 0)[2]
        except ChildProcessError:
            return
