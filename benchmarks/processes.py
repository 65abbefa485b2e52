"""What a whole process costs, as the operating system books it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """One command: wall seconds, processor seconds of all its processes, and the largest one's memory in MB."""

    wall: float
    cpu: float
    memory: float


def run(command: Sequence[str], *, ends_with: Collection[int] = (0,)) -> Cost:
    """Run a command to its end and return its cost. Raises SystemExit for an exit code that is not expected."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in ends_with:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)
