"""Measuring many models in several processes at once. Torch is imported where the measuring is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection

from imlp_audit.count.facts import Failure, Measured, ModelFacts, ModelKey, Need
from imlp_audit.processes.interrupts import on_interrupt
from imlp_audit.processes.workers import Worker, start_copies, terminate_workers

Needed = Mapping[ModelKey, Need]
Progress = Callable[[str], None]

WORTH_A_PROCESS = 25  # hosts: building and counting as many takes longer than importing torch and timm


def processes_worth(needed: Needed, jobs: int) -> int:
    """Return how many of `jobs` processes have enough to count that starting them pays."""
    hosts = {key.recipe.with_own_mlps() for key in needed}
    return min(jobs, max(0, len(hosts) // WORTH_A_PROCESS - 1))


def measure_shared(needed: Needed, progress: Progress, processes: int) -> Iterator[Measured]:
    """Measure models in other processes; what one that dies has left to do is done here."""
    shares = _split(needed, processes)
    with on_interrupt(terminate_workers), ThreadPoolExecutor(processes) as threads:
        workers = start_copies(_serve, _import_torch, processes)
        try:
            pairs = zip(workers, shares, strict=True)
            waiting = [threads.submit(_collect, worker, share, progress) for worker, share in pairs]
            for share, collected in zip(shares, waiting, strict=True):
                found = collected.result()
                yield from found.items()
                yield from measure_here({key: need for key, need in share.items() if key not in found}, progress)
        finally:
            for worker in workers:
                worker.kill()


def measure_here(needed: Needed, progress: Progress, fvcore_device: str | None = None) -> Iterator[Measured]:
    """Measure models in this process; torch, which takes seconds to import, is imported if there are any."""
    if needed:
        from imlp_audit.count.models import measure_models

        yield from measure_models(needed, progress, fvcore_device)


def _split(needed: Needed, parts: int) -> list[dict[ModelKey, Need]]:
    """Deal models out so that those with one host, which is built once, stay together."""
    hosts = {host: rank for rank, host in enumerate(dict.fromkeys(key.recipe.with_own_mlps() for key in needed))}
    shares: list[dict[ModelKey, Need]] = [{} for _ in range(parts)]
    for key, need in needed.items():
        shares[hosts[key.recipe.with_own_mlps()] % parts][key] = need
    return shares


def _collect(worker: Worker, share: Needed, progress: Progress) -> dict[ModelKey, ModelFacts | Failure]:
    """Return what a process measures of its share before it ends."""
    found: dict[ModelKey, ModelFacts | Failure] = {}
    try:
        worker.pipe.send(share)
        for key in share:
            found[key] = worker.pipe.recv()
            progress(key.recipe.name)
    except (EOFError, OSError):
        pass  # it ended
    return found


def _import_torch() -> None:
    import imlp_audit.count.models  # noqa: F401


def _serve(pipe: Connection) -> None:
    """Measure a share in its order. What a library prints goes to standard error."""
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    from imlp_audit.count.models import measure_models

    with suppress(EOFError, BrokenPipeError):  # nobody reads any more: the parent was interrupted
        for _, facts in measure_models(pipe.recv(), lambda _: None):
            pipe.send(facts)
