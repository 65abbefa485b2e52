"""Testing many claims, in this process or in others. Torch-free: the processes that test import it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from threading import Lock

from imlp_audit.equations.catalogue import ClaimCode, ClaimText
from imlp_audit.equations.outcome import AnyOutcome, NotRun, Outcome
from imlp_audit.equations.settings import Settings
from imlp_audit.equations.trust import explain_distrust, is_trusted
from imlp_audit.processes.installed import is_bundled
from imlp_audit.processes.interrupts import on_interrupt
from imlp_audit.processes.workers import Worker, start_worker, terminate_workers

Outcomes = Mapping[str, AnyOutcome]
Progress = Callable[[str], None]
_BEGIN = 600.0  # seconds for a process to import torch, on however slow a machine


@contextmanager
def running(claims: Sequence[ClaimText], settings: Settings) -> Iterator[Callable[[Progress], Outcomes]]:
    """Begin testing claims; call what is yielded to wait for the outcomes, by claim id.

    With `settings.jobs` the claims are tested in that many processes from now on; without, in this process when the
    outcomes are asked for. Claims that do not come with this package are always tested in other processes. The Python
    of folders that are not trusted is not run.
    """
    trusted = [claim for claim in claims if settings.trust_code or is_trusted(claim.code.folder)]
    folders = {claim.code.folder: claim.code.shown_as for claim in claims if claim not in trusted}
    reasons = {folder: NotRun(explain_distrust(folder, shown_as)) for folder, shown_as in folders.items()}
    refused = {claim.id: reasons[claim.code.folder] for claim in claims if claim not in trusted}
    if not settings.jobs and all(is_bundled(claim.code.folder) for claim in trusted):
        yield lambda progress: {**refused, **_run_here(trusted, settings, progress)}
        return
    # those that need a solver take longest: they go first, so that no process is left alone with them
    ordered = sorted(_by_code(trusted).values(), key=lambda same: same[0].needs is None)
    processes, jobs = _Processes(settings), max(1, settings.jobs)
    threads = ThreadPoolExecutor(jobs)
    with on_interrupt(terminate_workers):
        try:
            waiting = {threads.submit(processes.test, same[0]): same for same in ordered}
            yield lambda progress: {**refused, **_gather(waiting, progress)}
        finally:
            processes.end()
            threads.shutdown(cancel_futures=True)


def _run_here(claims: Sequence[ClaimText], settings: Settings, progress: Progress) -> Outcomes:
    outcomes: dict[str, AnyOutcome] = {}
    for code, same in _by_code(claims).items():
        from imlp_audit.equations.testing import run_claim

        for claim in same:
            progress(claim.id)
        outcome = run_claim(code, settings)
        outcomes |= {claim.id: outcome for claim in same}
    return outcomes


def _gather(waiting: Mapping[Future[Outcome], Sequence[ClaimText]], progress: Progress) -> Outcomes:
    for done in as_completed(waiting):
        for claim in waiting[done]:
            progress(claim.id)
    return {claim.id: done.result() for done, same in waiting.items() for claim in same}


def _by_code(claims: Iterable[ClaimText]) -> Mapping[ClaimCode, list[ClaimText]]:
    """Return the claims that each function tests: papers that make the same claim share it, and it is run once."""
    found: dict[ClaimCode, list[ClaimText]] = {}
    for claim in claims:
        found.setdefault(claim.code, []).append(claim)
    return found


class _Processes:
    """Processes that test claims, one claim at a time each; a process that hangs or dies takes one claim with it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        self._all: list[Worker] = []
        self._lock, self._ended = Lock(), False

    def test(self, claim: ClaimText) -> Outcome:
        """Test a claim in an idle process, or in a new one."""
        worker = self._worker()
        try:
            outcome = self._ask(worker, claim)
        except TimeoutError:  # before OSError, of which it is one
            worker.kill()
            seconds = self._settings.limits.patience
            return Outcome(0, problem=f"{_place(claim)}: did not respond for {seconds:g} s and was stopped")
        except (EOFError, OSError):
            worker.kill()
            return Outcome(0, problem=f"{_place(claim)}: its process ended (exit code {worker.exit_code})")
        self._idle.put(worker)
        return outcome

    def end(self) -> None:
        """End all processes."""
        with self._lock:
            self._ended = True
            for worker in self._all:
                worker.kill()

    def _worker(self) -> Worker:
        try:
            return self._idle.get_nowait()
        except Empty:
            with self._lock:
                if self._ended:
                    raise EOFError from None
                worker = start_worker(_serve)
                self._all.append(worker)
            return worker

    def _ask(self, worker: Worker, claim: ClaimText) -> Outcome:
        worker.pipe.send((claim.code, self._settings))
        patience = _BEGIN
        while worker.pipe.poll(patience):
            message = worker.pipe.recv()
            if isinstance(message, Outcome):
                return message
            patience = self._settings.limits.patience
        raise TimeoutError


def _place(claim: ClaimText) -> str:
    return f"{claim.file}:{claim.line}"


def _serve(pipe: Connection) -> None:
    """Test the claims that arrive through a pipe. What their code prints goes to standard error."""
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    from imlp_audit.equations.testing import run_claim

    while True:
        code: ClaimCode
        code, settings = pipe.recv()
        pipe.send(None)
        pipe.send(run_claim(code, settings, beat=lambda: pipe.send(None)))
