"""Processes that work for this one. They end with it, and leave interrupts to it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import inf
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Literal, TypeAlias, TypeVar

from imlp_audit.processes.compiler import leave_compiler_out
from imlp_audit.processes.created_files import journal_in, removing_created
from imlp_audit.processes.interrupts import hold_interrupts, on_interrupt

Given = TypeVar("Given")
Made = TypeVar("Made")
Work: TypeAlias = Callable[[Given, Callable[[Made], None]], None]
"""A function of a module that sends what it makes of what it is given."""
BEGIN = 600.0  # seconds for a process to import torch, on however slow a machine
_GRACE = 3.0  # seconds for code that took too long to be left by its error
_MOMENT = 1.0  # seconds until a process is looked at again
_changing_the_environment = threading.Lock()
start = multiprocessing.get_context("spawn")  # a fork would inherit torch's threads, or a CUDA context


@dataclass(frozen=True)
class Worker:
    """A process of our own, and the pipe to talk with it."""

    process: BaseProcess
    pipe: connection.Connection

    def wait(self, limit: float | None) -> bool:
        """Wait for a message, at most so many seconds. Raises EOFError where the process has ended.

        A copy of it that its code has made may outlive it, and keep the pipe open.
        """
        until = inf if limit is None else time.monotonic() + limit
        while not self.pipe.poll(max(0.0, min(_MOMENT, until - time.monotonic()))):
            if _state(self.process) != "running" and not self.pipe.poll():
                raise EOFError
            if time.monotonic() >= until:
                return False
        return True

    def kill(self) -> None:
        """End the process at once, and what code in it has started, which may outlive it."""
        process = self.process
        if hasattr(os, "killpg") and process.pid is not None and _state(process) != "reaped":
            with suppress(ProcessLookupError, PermissionError):  # it has not begun, so it has started none
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.join()


class EndedError(Exception):
    """A process ended before its work; the message gives its exit code."""


class StoppedError(Exception):
    """Code from outside ended its process, or took too long.

    Python that takes too long gets this error where it is, so that its traceback names the line.
    """


class Pool:
    """Processes that each do one piece of work at a time; a new one is started where none is idle.

    `size` is how many share what is submitted.
    """

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self._threads = ThreadPoolExecutor(max(1, size))  # each waits for a process
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        self._workers: list[Worker] = []
        self._lock, self._ended = threading.Lock(), False

    def submit(self, function: Callable[[Pool, Given], Made], given: Given) -> Future[Made]:
        """Call a function that runs work in these processes, in a thread of its own."""
        return self._threads.submit(function, self, given)

    def run(self, work: Work[Given, Made], given: Given, patience: float | None = None) -> Generator[Made]:
        """Yield what work sends in a process, where what it prints goes to standard error.

        A process whose work is left unfinished is ended. Raises TimeoutError where something after the first takes
        longer than `patience` seconds, and EndedError where the process ends.
        """
        worker, done = self._take(), False
        try:
            worker.pipe.send((work, given))
            limit = BEGIN if patience is not None else None
            while worker.wait(limit):
                message: tuple[Made] | None = worker.pipe.recv()
                if message is None:
                    done = True
                    self._idle.put(worker)
                    return
                yield message[0]
                limit = patience
        except (EOFError, OSError) as error:
            worker.kill()
            raise EndedError(f"exit code {worker.process.exitcode}") from error
        finally:
            if not done:
                worker.kill()
        raise TimeoutError

    def end(self) -> None:
        """End all processes."""
        with self._lock:
            self._ended = True
            self.kill()
        self._threads.shutdown(cancel_futures=True)

    def kill(self) -> None:
        """End those that have been started."""
        for worker in self._workers:
            worker.kill()

    def _take(self) -> Worker:
        with suppress(Empty):
            return self._idle.get_nowait()
        with self._lock:
            if self._ended:
                raise EndedError("no process is left")
            self._workers.append(_start())
            return self._workers[-1]


@contextmanager
def open_pool(size: int = 0) -> Iterator[Pool]:
    """Yield processes that end with this block."""
    pool = Pool(size)
    with on_interrupt(pool.kill):
        try:
            yield pool
        finally:
            pool.end()


def gather(
    waiting: dict[Future[Made], Given], here: Callable[[Given], Made] | None = None
) -> Iterator[tuple[Given, Made]]:
    """Yield what was submitted with its result; what no process has begun is done by `here`, from the end."""
    for future, given in reversed(waiting.items()):
        if here is not None and future.cancel():
            yield given, here(given)
    for done in as_completed([future for future in waiting if not future.cancelled()]):
        yield waiting[done], done.result()


def yield_apart(work: Callable[[Given], Iterable[Made]], given: Given, patience: float) -> Generator[Made]:
    """Yield what a function of a module yields in a process of its own, which ends with this iterator.

    Files that code from outside creates there are removed. Raises StoppedError where something takes longer than
    `patience` seconds, or where the process ends.
    """
    with removing_created() as journal, open_pool() as pool:
        try:
            for made in pool.run(partial(_send_each, work, patience, journal), given, patience + _GRACE):
                yield from made
        except TimeoutError as error:
            raise _too_slow(patience) from error
        except EndedError as error:
            raise StoppedError(f"its code ended the process ({error})") from error


def _send_each(
    work: Callable[[Given], Iterable[Made]],
    patience: float,
    journal: Path,
    given: Given,
    send: Callable[[tuple[Made, ...]], None],
) -> None:
    journal_in(journal)
    everything = iter(work(given))  # a function imports what it needs before it returns an iterator
    send(())
    made: tuple[Made, ...] = ()
    while True:
        with _alarm(patience):
            made = tuple(islice(everything, 1))
        if not made:
            return
        send(made)


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


def _start() -> Worker:
    ours, theirs = start.Pipe()
    process = start.Process(target=_serve, args=(theirs,), daemon=True)
    with _safe_path():
        if os.name == "posix":  # its tracker would be started while we block interrupts, and unblocks them
            resource_tracker.ensure_running()
        with hold_interrupts(), _blocked_interrupts():  # one left half started writes a traceback
            process.start()
    theirs.close()
    return Worker(process, ours)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start processes that import nothing from the current folder; once begun, they get this one's import path."""
    with _changing_the_environment:
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            yield
        finally:
            del os.environ["PYTHONSAFEPATH"]
            if before is not None:
                os.environ["PYTHONSAFEPATH"] = before


def _serve(pipe: connection.Connection) -> None:
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    leave_compiler_out()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # as in the process that began this one
    gc.set_threshold(100_000)  # importing torch makes many objects and no garbage
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    own = os.getpid()

    def send(message: tuple[object] | None) -> None:
        if os.getpid() != own:  # a copy that code from outside has made of us, and lets go on
            os._exit(0)
        pipe.send(message)

    with suppress(EOFError, BrokenPipeError):  # nobody reads any more: the parent was interrupted
        while True:
            work, given = pipe.recv()
            work(given, lambda made: send((made,)))
            send(None)


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)


def _state(process: BaseProcess) -> Literal["running", "ended", "reaped"]:
    """Return the state of a process; once its end was waited for, its number may be another's."""
    if not hasattr(os, "waitid") or process.pid is None:
        return "running" if process.is_alive() else "reaped"
    try:
        found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return "reaped"
    return "running" if found is None else "ended"


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Block interrupts in this thread; one that arrives is handled when the block ends."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
