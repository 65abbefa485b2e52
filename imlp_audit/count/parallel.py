"""Measuring models: a few in this process, many in others too. Torch is imported where the measuring is done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from imlp_audit.count.facts import Failure, Measured, ModelFacts, ModelKey, Need
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.workers import EndedError, Pool, gather

if TYPE_CHECKING:
    from imlp_audit.count.ledger import CallCache

Needed: TypeAlias = Mapping[ModelKey, Need]
Progress: TypeAlias = Callable[[str], None]
_Found: TypeAlias = dict[ModelKey, ModelFacts | Failure]

MANY = 20  # models: fewer are counted here before another process has begun


def begin_measuring(needed: Needed, progress: Progress, pool: Pool) -> Iterator[Measured]:
    """Begin to measure models in other processes if there are many; the iterator measures the rest in this one.

    Those with one host, which is built once, are measured one after another and in one process. What a process that
    dies has left to do is done here.
    """
    if not pool.size or len(needed) < MANY:
        return measure_here(needed, progress)
    shares = _by_host(needed)
    return _finish({pool.submit(_collect, (share, progress)): share for share in shares}, progress)


def _finish(waiting: dict[Future[_Found], Needed], progress: Progress) -> Iterator[Measured]:
    for share, found in gather(waiting, lambda share: dict(measure_here(share, progress))):
        yield from found.items()
        yield from measure_here({key: need for key, need in share.items() if key not in found}, progress)


def _collect(pool: Pool, given: tuple[Needed, Progress]) -> _Found:
    """Return what a process measures of its share before it ends."""
    share, progress = given
    found: _Found = {}
    with suppress(EndedError):
        for facts, key in zip(pool.run(_measure, share), share, strict=True):
            found[key] = facts
            progress(key.recipe.name)
    return found


def measure_here(needed: Needed, progress: Progress, fvcore_device: str | None = None) -> Iterator[Measured]:
    """Measure models in this process; torch, which takes seconds to import, is imported if there are any."""
    if needed:
        from imlp_audit.count.build_and_count import measure_models

        yield from measure_models(needed, progress, fvcore_device, cache=calls_seen())


def _by_host(needed: Needed) -> list[Needed]:
    """Put models with one host, which is built once, together, in the order of the first of each."""
    shares: defaultdict[Recipe, dict[ModelKey, Need]] = defaultdict(dict)
    for key, need in needed.items():
        shares[key.recipe.with_own_mlps()][key] = need
    return list(shares.values())


def _measure(needed: Needed, send: Callable[[ModelFacts | Failure], None]) -> None:
    """Measure models in their order."""
    for _, facts in measure_here(needed, lambda _: None):
        send(facts)


@cache
def calls_seen() -> CallCache:
    """Return the calls of operations that this process has measured."""
    from imlp_audit.count.ledger import CallCache

    return CallCache()
