"""Testing many claims, in this process or in others beside it. Torch-free: the processes that test import it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from imlp_audit.equations.catalogue import ClaimText
from imlp_audit.equations.outcome import Outcome
from imlp_audit.equations.settings import Settings
from imlp_audit.errors import BuildError
from imlp_audit.workers import workers

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
    with workers(settings.jobs) as pool:
        waiting = {pool.submit(_tested, claim.module, settings): claim.id for claim in ordered}
        yield lambda progress: _gathered(waiting, progress)


def _gathered(waiting: Mapping[Future[Outcome], str], progress: Progress) -> Outcomes:
    try:
        for done in as_completed(waiting):
            progress(waiting[done])
        return {name: done.result() for done, name in waiting.items()}
    except BrokenProcessPool as error:
        raise BuildError("a process that tests claims was ended from outside, perhaps for want of memory") from error


def _told(claim: ClaimText, settings: Settings, progress: Progress) -> Outcome:
    progress(claim.id)
    return _tested(claim.module, settings)


def _tested(module: str, settings: Settings) -> Outcome:
    from imlp_audit.equations.testing import tested

    return tested(module, settings)
