"""Measuring models whose code comes from outside: in a process of its own, with a time limit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection

from imlp_audit.count.facts import Failure, Measured, ModelFacts, ModelKey, Need
from imlp_audit.processes.interrupts import on_interrupt
from imlp_audit.processes.workers import Worker, start_worker, terminate_workers

_BEGIN = 600.0  # seconds for a process to import torch, on however slow a machine
PATIENCE = 60.0  # seconds for a model to be built and counted


def is_outside(key: ModelKey) -> bool:
    """Return whether code from outside builds the model, and may be run."""
    return key.recipe.runs_code


def measure_outside(
    needed: Mapping[ModelKey, Need],
    progress: Callable[[str], None],
    fvcore_device: str | None = None,
    *,
    patience: float = PATIENCE,
) -> Iterator[Measured]:
    """Measure models in a process of their own. One that never ends, or that ends the process, is a failure."""
    waiting = dict(needed)
    worker: Worker | None = None
    with on_interrupt(terminate_workers):
        try:
            for key in needed:
                progress(key.recipe.name)
                worker = worker or _start(waiting, fvcore_device)
                found = _receive(worker, key, patience)
                del waiting[key]
                worker = worker if worker.exit_code is None else None
                yield key, found
        finally:
            if worker is not None:
                worker.kill()


def _start(needed: Mapping[ModelKey, Need], fvcore_device: str | None) -> Worker:
    """Start a process that measures models in turn, so that rows with one host build it once."""
    worker = start_worker(_serve)
    worker.pipe.poll(_BEGIN)
    worker.pipe.recv()
    worker.pipe.send((dict(needed), fvcore_device))
    return worker


def _receive(worker: Worker, key: ModelKey, patience: float) -> ModelFacts | Failure:
    try:
        if worker.pipe.poll(patience):
            measured, found = worker.pipe.recv()
            assert measured == key, "the process measures models in another order than they are asked for"
            return found  # type: ignore[no-any-return]  # what a pipe gives has no type
    except (EOFError, OSError):
        worker.kill()
        return Failure(f"{key.recipe.name}: its code ended the process (exit code {worker.exit_code})")
    worker.kill()
    return Failure(f"{key.recipe.name}: building and counting it did not end within {patience:g} s")


def _serve(pipe: Connection) -> None:
    """Measure the models that are asked for through a pipe. What their code prints goes to standard error."""
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    from imlp_audit.count.models import measure_models

    pipe.send(None)
    needed, fvcore_device = pipe.recv()
    for measured in measure_models(needed, lambda _: None, fvcore_device):
        pipe.send(measured)
    pipe.poll(None)  # the parent ends this process once it has read everything
