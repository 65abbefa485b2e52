"""Testing many claims, in this process or in others beside it. Torch-free: the processes that test import it."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.outcome import Outcome
from imlp_audit.equations.settings import Settings
from imlp_audit.errors import BuildError

Outcomes = Mapping[str, Outcome]
Progress = Callable[[str], None]


@contextmanager
def running(claims: Sequence[ClaimText], settings: Settings) -> Iterator[Callable[[Progress], Outcomes]]:
    """Begin testing claims; what is yielded waits for what each gave, by its id, and tells of each.

    With `settings.jobs` they are tested in that many processes from now on, without in this one when waited for.
    """
    if not claims or not settings.jobs:
        yield lambda progress: {claim.id: _told(claim, settings, progress) for claim in claims}
        return
    # those that need a solver take longest: they go first, so that no process is left alone with them
    ordered = sorted(claims, key=lambda claim: claim.needs is None)
    fresh = multiprocessing.get_context("spawn")  # a fork would inherit torch's threads, or a CUDA context
    pool = ProcessPoolExecutor(settings.jobs, mp_context=fresh, initializer=_prepare)
    try:
        waiting = {pool.submit(_tested, claim.module, settings): claim.id for claim in ordered}
        yield lambda progress: _gathered(waiting, progress)
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _gathered(waiting: Mapping[Future[Outcome], str], progress: Progress) -> Outcomes:
    try:
        for done in as_completed(waiting):
            progress(waiting[done])
        return {name: done.result() for done, name in waiting.items()}
    except BrokenProcessPool as error:
        raise BuildError("a process that tests claims was ended from outside; try again with --jobs 1") from error


def _told(claim: ClaimText, settings: Settings, progress: Progress) -> Outcome:
    progress(claim.id)
    return _tested(claim.module, settings)


def _tested(module: str, settings: Settings) -> Outcome:
    from imlp_audit.equations.testing import tested

    return tested(module, settings)


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    gc.set_threshold(100_000)  # importing torch makes many objects and no garbage
