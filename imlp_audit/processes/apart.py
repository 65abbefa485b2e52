"""Running code from outside in a process of its own, with a time limit for each thing that it yields."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import Connection
from typing import TypeVar

from imlp_audit.processes.interrupts import on_interrupt
from imlp_audit.processes.workers import start_worker, terminate_workers

_BEGIN = 600.0  # seconds for a process to import torch, on however slow a machine
_GRACE = 3.0  # seconds for code that took too long to be left by its error
Given = TypeVar("Given")
Made = TypeVar("Made")


class StoppedError(Exception):
    """Code from outside ended its process, or took too long.

    Python that takes too long gets this error where it is, so that its traceback names the line.
    """


def yield_apart(work: Callable[[Given], Iterable[Made]], given: Given, patience: float) -> Generator[Made]:
    """Yield what a function of a module yields in a process of its own; what it prints goes to standard error.

    The process ends with this iterator. Raises StoppedError where something takes longer than `patience` seconds, or
    where the process ends.
    """
    worker = start_worker(_serve)
    with on_interrupt(terminate_workers):
        try:
            worker.pipe.send((work, given, patience))
            limit = _BEGIN
            while worker.pipe.poll(limit):
                made: tuple[Made, ...] | None = worker.pipe.recv()
                if made is None:
                    return
                limit = patience + _GRACE
                yield from made
            raise _too_slow(patience)
        except (EOFError, OSError) as error:
            worker.kill()
            raise StoppedError(f"its code ended the process (exit code {worker.exit_code})") from error
        finally:
            worker.kill()


def _too_slow(patience: float) -> StoppedError:
    return StoppedError(f"its code did not end within {patience:g} s")


@contextmanager
def _alarm(patience: float) -> Iterator[None]:
    """Raise StoppedError in Python that takes longer; code that holds the interpreter is ended by the parent."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_number: int, _frame: object) -> None:
        raise _too_slow(patience)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _serve(pipe: Connection) -> None:
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    work, given, patience = pipe.recv()
    everything = iter(work(given))  # a function imports what it needs before it returns an iterator
    pipe.send(())
    made: tuple[object, ...] = (None,)
    while made:
        with _alarm(patience):
            made = tuple(islice(everything, 1))
        pipe.send(made or None)
    pipe.poll(None)  # the parent ends this process once it has read everything
