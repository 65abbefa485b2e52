"""Measuring models: a few in this process, many in others too, and those of code from outside in one of their own.

Torch is imported where the measuring is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from imlp_audit.count.facts import Failure, Measured, ModelFacts, ModelKey, Need
from imlp_audit.models.available_hosts import Bert, Transformers
from imlp_audit.models.own import OwnCode
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.workers import EndedError, Pool, StoppedError, gather, yield_apart

if TYPE_CHECKING:
    from imlp_audit.count.ledger import CallCache

Asked = TypeVar("Asked")
Found = TypeVar("Found")
Progress: TypeAlias = Callable[[str], None]
Needed: TypeAlias = Mapping[ModelKey, Need]
_Found: TypeAlias = dict[ModelKey, ModelFacts | Failure]

_IMPORTING = (OwnCode, Bert, Transformers)  # more than torch and timm, which takes a second or two
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
        for facts, key in zip(pool.run(_measure_share, share), share, strict=True):
            found[key] = facts
            progress(key.recipe.name)
    return found


def measure_here(
    needed: Needed, progress: Progress = lambda _: None, fvcore_device: str | None = None
) -> Iterator[Measured]:
    """Measure models in this process; torch, which takes seconds to import, is imported if there are any."""
    if needed:
        from imlp_audit.count.build_and_count import measure_models

        yield from measure_models(needed, progress, fvcore_device, cache=calls_seen())


def _by_host(needed: Needed) -> list[Needed]:
    """Put models with one host, which is built once, together, and those of one Python file, which is imported once."""
    shares: defaultdict[Recipe | str, dict[ModelKey, Need]] = defaultdict(dict)
    for key, need in needed.items():
        host = key.recipe.host
        shares[host.file if isinstance(host, OwnCode) else key.recipe.with_own_mlps()][key] = need
    # of two processes, which take from both ends, one imports what these need
    return sorted(shares.values(), key=lambda share: not isinstance(next(iter(share)).recipe.host, _IMPORTING))


def _measure_share(needed: Needed, send: Callable[[ModelFacts | Failure], None]) -> None:
    for _, facts in measure_here(needed):
        send(facts)


@cache
def calls_seen() -> CallCache:
    """Return the calls of operations that this process has measured."""
    from imlp_audit.count.ledger import CallCache

    return CallCache()


PATIENCE = 60.0  # seconds for a model to be built and counted


def is_outside(key: ModelKey) -> bool:
    """Return whether code from outside builds the model, and may be run."""
    return key.recipe.runs_code


def measure_outside(
    needed: Needed, progress: Progress, fvcore_device: str | None = None, *, patience: float = PATIENCE
) -> Iterator[Measured]:
    """Measure models in a process of their own. One that never ends, or that ends the process, is a failure."""
    return each_outside(partial(measure_here, fvcore_device=fvcore_device), needed, progress, patience)


def rehearse(models: Iterable[ModelKey], *, patience: float = PATIENCE) -> Mapping[ModelKey, Failure]:
    """Build those of the models whose code comes from outside, run each once on one input, and return what fails.

    This happens in a process of their own, before such code is run here, where nothing could stop it.
    """
    asked = dict.fromkeys(filter(is_outside, models))
    found: Iterator[tuple[ModelKey, Failure | None]] = each_outside(_rehearse, asked, lambda _: None, patience)
    return {key: failure for key, failure in found if failure is not None}


def each_outside(
    work: Callable[[Mapping[ModelKey, Asked]], Iterable[tuple[ModelKey, Found]]],
    asked: Mapping[ModelKey, Asked],
    progress: Progress = lambda _: None,
    patience: float = PATIENCE,
) -> Iterator[tuple[ModelKey, Found | Failure]]:
    """Yield what a function yields for each model, in their order, in a process of their own.

    A model that never ends, or that ends the process, is a failure, and a new process does the rest.
    """
    waiting = dict(asked)
    while waiting:
        with closing(yield_apart(work, dict(waiting), patience)) as found:
            for key in tuple(waiting):
                progress(key.recipe.name)
                del waiting[key]
                try:
                    yield next(found)
                except StoppedError as error:
                    code = key.recipe.code
                    yield key, Failure(f"{code.file if code is not None else key.recipe.name}: {error}")
                    break


def _rehearse(models: Mapping[ModelKey, None]) -> Iterator[tuple[ModelKey, Failure | None]]:
    from imlp_audit.count.build_and_count import run_once

    return ((key, run_once(key)) for key in models)
