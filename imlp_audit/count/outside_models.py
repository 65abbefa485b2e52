"""Models whose code comes from outside are measured, and tried, in a process of their own, with a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import TypeVar

from imlp_audit.count.facts import Failure, Measured, ModelFacts, ModelKey, Need
from imlp_audit.processes.workers import StoppedError, yield_apart

Asked = TypeVar("Asked")
Found = TypeVar("Found")
Progress = Callable[[str], None]
PATIENCE = 60.0  # seconds for a model to be built and counted


def is_outside(key: ModelKey) -> bool:
    """Return whether code from outside builds the model, and may be run."""
    return key.recipe.runs_code


def measure_outside(
    needed: Mapping[ModelKey, Need], progress: Progress, fvcore_device: str | None = None, *, patience: float = PATIENCE
) -> Iterator[Measured]:
    """Measure models in a process of their own. One that never ends, or that ends the process, is a failure."""
    found: Iterator[tuple[ModelKey, ModelFacts | Failure]]
    found = each_outside(partial(_measure, fvcore_device=fvcore_device), needed, progress, patience)
    return found


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


def _measure(needed: Mapping[ModelKey, Need], fvcore_device: str | None) -> Iterator[Measured]:
    from imlp_audit.count.build_and_count import measure_models

    return measure_models(needed, lambda _: None, fvcore_device)


def _rehearse(models: Mapping[ModelKey, None]) -> Iterator[tuple[ModelKey, Failure | None]]:
    from imlp_audit.count.build_and_count import run_once

    return ((key, run_once(key)) for key in models)
