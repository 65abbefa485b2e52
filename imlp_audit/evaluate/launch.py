"""Starts the processes of an evaluation on this machine, and ends with the exit code of the one that reports.

torchrun does the same, and more, but takes any exit code above 0 for a crash: after a finding it prints a traceback.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from imlp_audit.errors import BuildError
from imlp_audit.processes.interrupts import EXIT_CODE, on_interrupt

_SIZE = "WORLD_SIZE"  # torch's own variables, which torchrun sets too
_OURS = "IMLP_AUDIT_LAUNCHED"  # set where standard input ends with the process that launched this one
_STEP = 0.05  # seconds between looks at the processes
_GRACE = 20.0  # seconds that the others have to end by themselves


def is_launched() -> bool:
    """Say whether this process is one of several: of ours, of torchrun's, or of a cluster's scheduler."""
    return os.environ.get(_SIZE, "1") != "1"  # containers often set 1


def end_with_launcher() -> None:
    """From now on, end this process as an interrupt does once the one that launched it is gone, even if killed."""
    if _OURS in os.environ:
        threading.Thread(target=_end_after_input, daemon=True).start()


def _end_after_input() -> None:
    with suppress(OSError):
        while os.read(0, 1):
            pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(_GRACE)  # the main thread may wait for another process for ever
    os._exit(EXIT_CODE)


def command_again(arguments: Sequence[str]) -> list[str]:
    """Return the command that runs this program with other arguments.

    `python -m` would also import modules from the working directory, where others' files may lie; this does so only if
    this process does.
    """
    own = [] if str(Path.cwd()) in sys.path else ["-P"]
    return [sys.executable, *own, "-m", "imlp_audit", *arguments]


def launch(count: int, command: Sequence[str]) -> int:
    """Run a command in so many processes that share its work, and return the exit code of the first that fails.

    Once one has failed, those that do not end by themselves are ended. An interrupt is passed on to all. Raises
    BuildError if a signal ended one of them.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    processes = [_start(rank, count, port, command) for rank in range(count)]
    with _passing_on(processes):
        failed = _wait(processes)
    if failed is None:
        return 0
    rank, code = failed
    if code < 0:
        name = signal.Signals(-code).name
        raise BuildError(
            f"process {rank + 1} of {count} was ended by {name}; with --predictions, --resume continues what was done"
        )
    return code


def _start(rank: int, count: int, port: int, command: Sequence[str]) -> subprocess.Popen[bytes]:
    own = {"RANK": rank, "LOCAL_RANK": rank, _SIZE: count, "LOCAL_WORLD_SIZE": count, "MASTER_PORT": port, _OURS: 1}
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", **{name: str(value) for name, value in own.items()}}
    return subprocess.Popen([*command], env=environment, start_new_session=True, stdin=subprocess.PIPE)


def _wait(processes: Sequence[subprocess.Popen[bytes]]) -> tuple[int, int] | None:
    """Wait for all, and return the number and the exit code of the first that failed, if one did."""
    failed: tuple[int, int] | None = None
    until = float("inf")
    while any(process.poll() is None for process in processes) and time.monotonic() < until:
        if failed is None and (failed := _find_failed(processes)) is not None:
            until = time.monotonic() + _GRACE
        time.sleep(_STEP)
    for process in processes:
        process.kill()
        process.wait()
    return failed or _find_failed(processes)


def _find_failed(processes: Sequence[subprocess.Popen[bytes]]) -> tuple[int, int] | None:
    return next(((rank, code) for rank, process in enumerate(processes) if (code := process.poll())), None)


@contextmanager
def _passing_on(processes: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Pass an interrupt on to the processes, and wait for them; end them if this process is to end."""

    def stop() -> None:
        for process in processes:
            process.send_signal(signal.SIGINT)
        _wait(processes)

    def end(number: int, _frame: FrameType | None) -> None:
        stop()
        sys.exit(128 + number)

    earlier = signal.signal(signal.SIGTERM, end)
    try:
        with on_interrupt(stop):
            yield
    finally:
        signal.signal(signal.SIGTERM, earlier)
        for process in processes:
            process.kill()
            if process.stdin is not None:
                process.stdin.close()
