"""Running code from outside in a process of its own, with a time limit for each thing that it yields."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable
from multiprocessing.connection import Connection
from typing import TypeVar

from imlp_audit.processes.interrupts import on_interrupt
from imlp_audit.processes.workers import start_worker, terminate_workers

_BEGIN = 600.0  # seconds for a process to import torch, on however slow a machine
Given = TypeVar("Given")
Made = TypeVar("Made")


class StoppedError(Exception):
    """Code from outside ended its process, or took too long."""


def yield_apart(work: Callable[[Given], Iterable[Made]], given: Given, patience: float) -> Generator[Made]:
    """Yield what a function of a module yields in a process of its own; what it prints goes to standard error.

    The process ends with this iterator. Raises StoppedError where something takes longer than `patience` seconds, or
    where the process ends.
    """
    worker = start_worker(_serve)
    with on_interrupt(terminate_workers):
        try:
            worker.pipe.send((work, given))
            limit = _BEGIN
            while worker.pipe.poll(limit):
                made: tuple[Made, ...] | None = worker.pipe.recv()
                if made is None:
                    return
                limit = patience
                yield from made
            raise StoppedError(f"its code did not end within {limit:g} s")
        except (EOFError, OSError) as error:
            worker.kill()
            raise StoppedError(f"its code ended the process (exit code {worker.exit_code})") from error
        finally:
            worker.kill()


def _serve(pipe: Connection) -> None:
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    work, given = pipe.recv()
    everything = work(given)  # a function imports what it needs before it returns an iterator
    pipe.send(())
    for made in everything:
        pipe.send((made,))
    pipe.send(None)
    pipe.poll(None)  # the parent ends this process once it has read everything
