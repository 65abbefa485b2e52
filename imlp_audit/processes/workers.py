"""Processes that work for this one. They end with it, and leave interrupts to it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import ParamSpec, TypeVar

from imlp_audit.processes.compiler import leave_compiler_out
from imlp_audit.processes.interrupts import hold_interrupts, on_interrupt

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
_changing_the_environment = threading.RLock()


class Workers(ProcessPoolExecutor):
    """A pool of processes that were started with interrupts blocked."""

    def submit(
        self, function: Callable[Parameters, Returned], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Future[Returned]:
        """Schedule a call. This may start a process, which inherits the signals that are blocked meanwhile."""
        with hold_interrupts(), _blocked_interrupts(), _safe_path():
            return super().submit(function, *args, **kwargs)


@contextmanager
def workers(count: int) -> Iterator[Workers]:
    """Yield processes of our own. If the block ends with an error, work that hasn't begun is cancelled."""
    fresh = multiprocessing.get_context("spawn")  # a fork would inherit torch's threads, or a CUDA context
    _start_quiet_tracker()
    pool = Workers(count, mp_context=fresh, initializer=_begin)
    with on_interrupt(terminate_workers):
        try:
            yield pool
        except BaseException:
            terminate_workers()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class Worker:
    """A process of our own, and the pipe to talk with it."""

    process: BaseProcess
    pipe: connection.Connection

    @property
    def exit_code(self) -> int | None:
        """Return the exit code of the process once it has ended."""
        return self.process.exitcode

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()


def start_worker(serve: Callable[[connection.Connection], None]) -> Worker:
    """Start a process that runs a function of a module on its end of a pipe."""
    _start_quiet_tracker()
    fresh = multiprocessing.get_context("spawn")
    ours, theirs = fresh.Pipe()
    process = fresh.Process(target=_serve, args=(serve, theirs), daemon=True)
    _start(process)
    theirs.close()
    return Worker(process, ours)


def start_copies(
    serve: Callable[[connection.Connection], None], prepare: Callable[[], None], count: int
) -> list[Worker]:
    """Start so many processes that call `prepare` and run a function, each on its end of a pipe; they end together.

    On Linux only the first one calls `prepare`, and the others are copies of it: they share what it has imported.
    """
    if sys.platform != "linux":  # where copies of a process with libraries of the system in it may not work
        return [start_worker(partial(_serve_prepared, serve, prepare)) for _ in range(count)]
    _start_quiet_tracker()
    fresh = multiprocessing.get_context("spawn")
    ours, theirs = zip(*(fresh.Pipe() for _ in range(count)), strict=True)
    process = fresh.Process(target=_serve_copies, args=(serve, prepare, theirs))  # a daemon could not start copies
    _start(process)
    for pipe in theirs:
        pipe.close()
    return [Worker(process, pipe) for pipe in ours]


def _start_quiet_tracker() -> None:
    """Start the process that removes a pool's semaphores, so that it doesn't warn when an interrupt leaves it some.

    The first process of our own would start it too, but while we block interrupts, and it unblocks them once it runs.
    """
    if os.name != "posix":
        return
    from multiprocessing import resource_tracker

    quiet = "ignore::UserWarning:multiprocessing.resource_tracker"
    before = os.environ.get("PYTHONWARNINGS")
    with _safe_path(), _environment("PYTHONWARNINGS", f"{before},{quiet}" if before else quiet):
        resource_tracker.ensure_running()


def _start(process: BaseProcess) -> None:
    with hold_interrupts(), _blocked_interrupts(), _safe_path():  # one left half started writes a traceback
        process.start()


def _safe_path() -> AbstractContextManager[None]:
    """Start processes that import nothing from the current folder: they begin as `python -c`, which would.

    Once begun, they get this process' import path.
    """
    return _environment("PYTHONSAFEPATH", "1")


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable for processes that are started in the block."""
    with _changing_the_environment:
        before = os.environ.get(name)
        os.environ[name] = value
        try:
            yield
        finally:
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before


def _serve(serve: Callable[[connection.Connection], None], pipe: connection.Connection) -> None:
    _begin()
    serve(pipe)


def _serve_prepared(
    serve: Callable[[connection.Connection], None], prepare: Callable[[], None], pipe: connection.Connection
) -> None:
    prepare()
    serve(pipe)


def _serve_copies(
    serve: Callable[[connection.Connection], None],
    prepare: Callable[[], None],
    pipes: Sequence[connection.Connection],
) -> None:
    _settle()
    prepare()
    gc.freeze()  # a collection would write to the memory that is shared
    context = multiprocessing.get_context("fork")
    copies = [context.Process(target=_serve_copy, args=(serve, pipes, at), daemon=True) for at in range(1, len(pipes))]
    for copy in copies:
        copy.start()
    _watch_the_parent()  # not before: a process with threads should not be copied
    for pipe in pipes[1:]:
        pipe.close()
    serve(pipes[0])
    for copy in copies:
        copy.join()


def _serve_copy(
    serve: Callable[[connection.Connection], None], pipes: Sequence[connection.Connection], at: int
) -> None:
    for number, pipe in enumerate(pipes):
        if number != at:
            pipe.close()  # so that it is closed once the process that uses it has ended
    _serve(serve, pipes[at])


def terminate_workers() -> None:
    """End all processes of our own."""
    for process in multiprocessing.active_children():
        process.terminate()


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    leave_compiler_out()
    gc.set_threshold(100_000)  # importing torch makes many objects and no garbage


def _watch_the_parent() -> None:
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
