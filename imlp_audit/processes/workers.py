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
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import inf
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Literal, TypeAlias, TypeVar

from imlp_audit.processes.compiler import leave_compiler_out
from imlp_audit.processes.interrupts import hold_interrupts, on_interrupt
from imlp_audit.processes.written import journal_in, removing_created

Given = TypeVar("Given")
Made = TypeVar("Made")
Work: TypeAlias = Callable[[Given, Callable[[Made], None]], None]
"""A function of a module that sends what it makes of what it is given."""
BEGIN = 600.0  # seconds for a process to import torch, on however slow a machine
_GRACE = 3.0  # seconds for code that took too long to be left by its error
_MOMENT = 1.0  # seconds until a process is looked at again, and for one that was killed to end
_changing_the_environment = threading.RLock()
_fresh = multiprocessing.get_context("spawn")  # a fork would inherit torch's threads, or a CUDA context


@dataclass(frozen=True)
class Worker:
    """A process of our own, and the pipe to talk with it."""

    process: BaseProcess
    pipe: connection.Connection

    @property
    def exit_code(self) -> int | None:
        """Return the exit code of the process once it has ended."""
        return self.process.exitcode

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
        """End the process at once, and those that code in it has started."""
        _kill_group(self.process)
        self.process.join()


class EndedError(Exception):
    """A process ended before its work; the message gives its exit code."""


class StoppedError(Exception):
    """Code from outside ended its process, or took too long.

    Python that takes too long gets this error where it is, so that its traceback names the line.
    """


class Pool:
    """Processes that each do one piece of work at a time; a new one is started where none is idle.

    With `prepare` they are, on Linux, so many `copies` of one that has called it; they end together, and are not
    replaced.
    """

    def __init__(self, copies: int = 0, prepare: Callable[[], None] | None = None) -> None:
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        # not elsewhere: copies of a process with libraries of the system in it may not work
        copied = prepare is not None and sys.platform == "linux"
        self._workers = _start_copies(prepare, copies) if prepare is not None and copied else []
        self._lock, self._full, self.copies = threading.Lock(), copied, copies
        for worker in self._workers:
            self._idle.put(worker)

    def run(self, work: Work[Given, Made], given: Given, patience: float | None = None) -> Generator[Made]:
        """Yield what work sends in a process, where what it prints goes to standard error.

        A process whose work is left unfinished is ended. Raises TimeoutError where something after the first takes
        longer than `patience` seconds, EndedError where the process ends, or none is left.
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
            raise EndedError(f"exit code {worker.exit_code}") from error
        finally:
            if not done:
                worker.kill()
        raise TimeoutError

    def end(self) -> None:
        """End all processes."""
        with self._lock:
            self._full = True
            self.kill()

    def kill(self) -> None:
        """End those that have been started."""
        for worker in self._workers:
            worker.kill()

    def _take(self) -> Worker:
        while True:
            with suppress(Empty):
                return self._idle.get(timeout=0.1 if self._full else 0)
            with self._lock:
                if not self._full:
                    self._workers.append(_start_worker())
                    return self._workers[-1]
            if not any(worker.process.is_alive() for worker in self._workers):
                raise EndedError("no process is left")


@contextmanager
def open_pool(copies: int = 0, prepare: Callable[[], None] | None = None) -> Iterator[Pool]:
    """Yield processes that end with this block."""
    pool = Pool(copies, prepare)
    with on_interrupt(terminate_workers), on_interrupt(pool.kill):
        try:
            yield pool
        finally:
            pool.end()


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


def _start_worker() -> Worker:
    ours, theirs = _fresh.Pipe()
    process = _start(_serve, theirs, daemon=True)
    theirs.close()
    return Worker(process, ours)


def _start_copies(prepare: Callable[[], None], count: int) -> list[Worker]:
    """Start so many processes, of which the first calls `prepare` and the others are copies; they end together.

    They share what it has imported.
    """
    ours, theirs = zip(*(_fresh.Pipe() for _ in range(count)), strict=True)
    process = _start(_serve_copies, prepare, theirs, daemon=False)  # a daemon could not start copies
    for pipe in theirs:
        pipe.close()
    return [Worker(process, pipe) for pipe in ours]


def _start(target: Callable[..., None], *given: object, daemon: bool) -> BaseProcess:
    _start_tracker()
    process = _fresh.Process(target=target, args=given, daemon=daemon)
    with hold_interrupts(), _blocked_interrupts(), _safe_path():  # one left half started writes a traceback
        process.start()
    return process


def _start_tracker() -> None:
    """Start the tracker of multiprocessing: the first process would while we block interrupts, and it unblocks them."""
    if os.name == "posix":
        from multiprocessing import resource_tracker

        with _safe_path():
            resource_tracker.ensure_running()


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start processes that import nothing from the current folder: they begin as `python -c`, which would.

    Once begun, they get this process' import path.
    """
    with _changing_the_environment:
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ["PYTHONSAFEPATH"]
            else:
                os.environ["PYTHONSAFEPATH"] = before


def _serve(pipe: connection.Connection) -> None:
    _begin()
    _work(pipe)


def _work(pipe: connection.Connection) -> None:
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


def _serve_copies(prepare: Callable[[], None], pipes: Sequence[connection.Connection]) -> None:
    _settle()
    prepare()
    gc.freeze()  # a collection would write to the memory that is shared
    context = multiprocessing.get_context("fork")
    copies = [context.Process(target=_serve_copy, args=(pipes, at), daemon=True) for at in range(1, len(pipes))]
    for copy in copies:
        copy.start()
    _watch_the_parent()  # not before: a process with threads should not be copied
    for pipe in pipes[1:]:
        pipe.close()
    _work(pipes[0])
    for copy in copies:
        copy.join()


def _serve_copy(pipes: Sequence[connection.Connection], at: int) -> None:
    for number, pipe in enumerate(pipes):
        if number != at:
            pipe.close()  # so that it is closed once the process that uses it has ended
    _serve(pipes[at])


def terminate_workers() -> None:
    """End all processes of our own: nothing runs in them any more."""
    processes = multiprocessing.active_children()
    for process in processes:
        _kill_group(process)
    for process in processes:
        process.join(_MOMENT)


def _kill_group(process: BaseProcess) -> None:
    """End a process of ours and all that code in it has started, which may outlive it."""
    if hasattr(os, "killpg") and process.pid is not None and _state(process) != "reaped":
        with suppress(ProcessLookupError, PermissionError):  # it has not begun, so it has started none
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


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


def _begin() -> None:
    _settle()
    _watch_the_parent()


def _settle() -> None:
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    leave_compiler_out()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # as in the process that began this one
    gc.set_threshold(100_000)  # importing torch makes many objects and no garbage


def _watch_the_parent() -> None:
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)
