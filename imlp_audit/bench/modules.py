"""Where the time of a forward pass goes, module by module, and how much work the ledger counts there."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from imlp_audit.count.conventions import MACS_WEIGHTS
from imlp_audit.count.ledger import CONVOLUTIONS, measure
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs

PASSES = 3
Instant = TypeVar("Instant")


@dataclass(frozen=True)
class Clock(Generic[Instant]):
    """Marks instants on a device, and gives the seconds between two once the device has reached them."""

    mark: Callable[[], Instant]
    between: Callable[[Instant, Instant], float]


def seconds_by_kind(model: nn.Module, inputs: tuple[Tensor, ...]) -> Mapping[str, float]:
    """Return the seconds of a forward pass that modules of each kind take themselves, without the modules inside.

    A mean over a few passes after a first one. Modules are grouped by `kind`.
    """
    kinds = {path: kind(module) for path, module in model.named_modules()}
    cuda = any(one.is_cuda for one in inputs)
    spent: dict[str, float] = defaultdict(float)
    with torch.inference_mode():
        model(*inputs)
        for _ in range(PASSES):
            found = _own_seconds(model, inputs, CUDA) if cuda else _own_seconds(model, inputs, CPU)
            for path, amount in found.items():
                spent[kinds[path]] += amount / PASSES
    return spent


def macs_by_kind(recipe: Recipe, reading: AnyReading | None) -> Mapping[str, int]:
    """Return the multiply-accumulates of one image in modules of each kind, exactly, from the ledger."""
    with Builder("meta").variant(recipe, reading) as variant:
        with torch.device("meta"):
            inputs = example_inputs(variant.model)
        ledger = measure(variant.model, *inputs)
        kinds = {path: kind(module) for path, module in variant.model.named_modules()}
    done: Counter[str] = Counter()
    for (path, operation), amount in ledger.work.items():
        done[kinds[path]] += amount * MACS_WEIGHTS.get(operation, 0)
    return done


def kind(module: nn.Module) -> str:
    """Return a module's class name, and for a convolution whether it is depthwise."""
    name = type(module).__name__
    if isinstance(module, CONVOLUTIONS) and 1 < module.groups == module.in_channels:
        return f"{name} (depthwise)"
    return name


def _own_seconds(model: nn.Module, inputs: tuple[Tensor, ...], clock: Clock[Instant]) -> Mapping[str, float]:
    """Run a model once; return the seconds that each module had control, by its path.

    A shared module has its first path, as in the ledger.
    """
    marks: list[tuple[str, Instant]] = []  # the module whose time ended, and when
    with _hooks(model, lambda path: marks.append((path, clock.mark()))):
        model(*inputs)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    own: dict[str, float] = defaultdict(float)
    for (_, begun), (path, ended) in pairwise(marks):
        own[path] += clock.between(begun, ended)
    return own


@contextmanager
def _hooks(model: nn.Module, ended: Callable[[str], None]) -> Iterator[None]:
    """Call `ended` with the running module's path whenever control leaves it, for a module inside or for good."""
    running = [""]

    def enter(path: str) -> Callable[[nn.Module, object], None]:
        def hook(_module: nn.Module, _inputs: object) -> None:
            ended(running[-1])
            running.append(path)

        return hook

    def leave(_module: nn.Module, _inputs: object, _output: object) -> None:
        ended(running.pop())

    handles = []
    try:
        for path, module in model.named_modules():
            handles += [module.register_forward_pre_hook(enter(path)), module.register_forward_hook(leave)]
        yield
    finally:
        for handle in handles:
            handle.remove()


def _cuda_mark() -> torch.cuda.Event:
    event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    event.record()
    return event


CPU = Clock(time.perf_counter, lambda begun, ended: ended - begun)
CUDA = Clock(_cuda_mark, lambda begun, ended: begun.elapsed_time(ended) / 1000)
