"""Running the command line: in this process, or as a user does, in one of its own."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar
from unittest import mock

from imlp_audit.__main__ import main
from imlp_audit.processes import interrupts, workers

Made = TypeVar("Made")
SCRIPT = str(Path(sys.executable).parent / "imlp-audit")
MODULE = (sys.executable, "-m", "imlp_audit")


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and what it wrote."""

    code: int
    out: str
    err: str


class _Ended(BaseException):
    """Stands in for the end of the process."""


def call(*arguments: str, **changes: str) -> Outcome:
    """Run the command line in this process, with changes of the environment."""

    own, leave = os.getpid(), os._exit

    def end(code: int) -> None:
        if os.getpid() != own:  # a process that the command started
            leave(code)
        raise _Ended(code)

    out, err, code = StringIO(), StringIO(), -1
    handlers = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    with (
        mock.patch.object(sys, "argv", ["imlp-audit", *arguments]),
        mock.patch.object(os, "_exit", end),
        mock.patch.dict(os.environ, environment(**changes), clear=True),
        warnings.catch_warnings(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except _Ended as ended:
            code = int(ended.args[0])
        finally:
            gc.enable()
            for number, handler in handlers.items():
                signal.signal(number, handler)
            forget_interrupts()
    return Outcome(code, out.getvalue(), err.getvalue())


def call_apart(*arguments: str) -> Outcome:
    """Run the command line in a copy of this process."""
    return run_apart(call, *arguments)


def run_apart(work: Callable[..., Made], *given: object) -> Made:
    """Return what a function returns in a copy of this process; a hang or a crash fails."""
    ours, theirs = workers.start.Pipe(duplex=False)
    process = workers.start.Process(target=_send, args=(theirs, work, given))
    process.start()
    theirs.close()
    try:
        assert ours.poll(100), "it hangs"
        made: Made = ours.recv()
        return made
    finally:
        process.kill()
        process.join()


def _send(pipe: Connection, work: Callable[..., object], given: Sequence[object]) -> None:
    pipe.send(work(*given))


def forget_interrupts() -> None:
    """Undo what an interrupt leaves behind in a process that doesn't end."""
    interrupts._interrupts.arrived, interrupts._interrupts.ending = None, None


def environment(**changes: str) -> dict[str, str]:
    """The environment without what changes colours or widths."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return {**kept, **changes}


def spawn(*arguments: str, cwd: Path, command: Sequence[str] = (SCRIPT,), **changes: str) -> Outcome:
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [*command, *arguments],
        cwd=cwd,
        env=environment(**changes),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def forked(work: Callable[[], None]) -> int:
    """Return how a child that does some work ended: its exit code, or a signal's number below 0."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        work()
    finally:
        os._exit(99)
