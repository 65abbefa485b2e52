"""Measuring models: a few in this process, many in several at once. Torch is imported where the measuring is done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING

from imlp_audit.count.facts import Failure, Measured, ModelFacts, ModelKey, Need
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.interrupts import on_interrupt
from imlp_audit.processes.workers import EndedError, Pool, terminate_workers

if TYPE_CHECKING:
    from imlp_audit.count.ledger import CallCache

Needed = Mapping[ModelKey, Need]
Progress = Callable[[str], None]

WORTH_A_PROCESS = 5  # hosts: building and counting as many takes longer than starting a process


@contextmanager
def counting(jobs: int) -> Iterator[ModelCounter]:
    """Yield what measures models; the processes that it starts end with this block."""
    found = ModelCounter(jobs)
    with on_interrupt(terminate_workers):
        try:
            yield found
        finally:
            found.end()


class ModelCounter:
    """Measures models: in this process, or, once there are many, in `jobs` and one more, for which this one waits."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool: Pool | None = None
        self._threads: ThreadPoolExecutor | None = None

    def processes_for(self, needed: Collection[ModelKey]) -> Pool | None:
        """Return the processes that measure so many models, which others may use too; None if this one does."""
        more = min(self._jobs, len({key.recipe.with_own_mlps() for key in needed}) // WORTH_A_PROCESS - 1)
        if self._pool is None and more > 0:
            self._pool = Pool(more + 1, _import_torch)
            self._threads = ThreadPoolExecutor(more + 1)  # as many: each finds an idle process until one has died
        return self._pool

    def measure(self, needed: Needed, progress: Progress) -> Iterator[Measured]:
        """Measure models, those with one host, which is built once, one after another and in one process.

        What a process that dies has left to do is done here.
        """
        pool, threads = self.processes_for(needed), self._threads
        if pool is None or threads is None:
            yield from measure_here(needed, progress)
            return
        shares = _by_host(needed)
        waiting = [threads.submit(_collect, pool, share, progress) for share in shares]
        for share, collected in zip(shares, waiting, strict=True):
            found = collected.result()
            yield from found.items()
            yield from measure_here({key: need for key, need in share.items() if key not in found}, progress)

    def end(self) -> None:
        """End the processes."""
        if self._pool is not None and self._threads is not None:
            self._pool.end()
            self._threads.shutdown(cancel_futures=True)


def _collect(pool: Pool, share: Needed, progress: Progress) -> dict[ModelKey, ModelFacts | Failure]:
    """Return what a process measures of its share before it ends."""
    found: dict[ModelKey, ModelFacts | Failure] = {}
    with suppress(EndedError):
        for facts, key in zip(pool.run(_measure, share), share, strict=True):
            found[key] = facts
            progress(key.recipe.name)
    return found


def measure_here(needed: Needed, progress: Progress, fvcore_device: str | None = None) -> Iterator[Measured]:
    """Measure models in this process; torch, which takes seconds to import, is imported if there are any."""
    if needed:
        from imlp_audit.count.models import measure_models

        yield from measure_models(needed, progress, fvcore_device)


def _by_host(needed: Needed) -> list[Needed]:
    """Put models with one host, which is built once, together, in the order of the first of each."""
    shares: defaultdict[Recipe, dict[ModelKey, Need]] = defaultdict(dict)
    for key, need in needed.items():
        shares[key.recipe.with_own_mlps()][key] = need
    return list(shares.values())


def _import_torch() -> None:
    import imlp_audit.count.models  # noqa: F401


def _measure(needed: Needed, send: Callable[[ModelFacts | Failure], None]) -> None:
    """Measure models in their order."""
    from imlp_audit.count.models import measure_models

    for _, facts in measure_models(needed, lambda _: None, cache=_calls()):
        send(facts)


@cache
def _calls() -> CallCache:
    """Return the calls of operations that this process has measured."""
    from imlp_audit.count.ledger import CallCache

    return CallCache()
