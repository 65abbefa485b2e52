"""Models made ready to run, the timing of their forward passes in turns, and where the time of one goes."""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from imlp_audit.bench.setup import Setup
from imlp_audit.count.conventions import MACS_WEIGHTS
from imlp_audit.count.hooks import CONVOLUTIONS
from imlp_audit.count.ledger import measure
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs

LEAST = 0.2  # seconds that one measurement takes at least

Forward: TypeAlias = Callable[[], object]


def seconds(forward: Forward, threads: int) -> float:
    """Return the seconds per call: torch's Timer warms up, chooses how many calls to time, and waits for CUDA.

    The median over the blocks of calls that fill `LEAST`, or one call if that takes longer.
    """
    # importing the timer logs that there is no GPU if a CUDA compiler is installed without one
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    from torch.utils.benchmark import Timer

    timer = Timer("forward()", globals={"forward": forward}, num_threads=threads)
    with torch.inference_mode():
        return float(timer.blocked_autorange(min_run_time=LEAST).median)


@contextmanager
def with_threads(count: int) -> Iterator[None]:
    """Let torch compute with a number of threads inside the context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def in_turns(
    base: Forward, variant: Forward, pairs: int, measure: Callable[[Forward], float], announce: Callable[[], None]
) -> list[tuple[float, float]]:
    """Measure two models in pairs, and return each pair's (base, variant).

    The order alternates, so that slowdowns and warm-up of the machine favour neither. `announce` is called before each
    pair.
    """
    times = []
    for number in range(pairs):
        announce()
        if number % 2 == 0:
            first = measure(base)
            times.append((first, measure(variant)))
        else:
            first = measure(variant)
            times.append((measure(base), first))
    return times


@contextmanager
def prepare_model(recipe: Recipe, reading: AnyReading | None, setup: Setup) -> Iterator[nn.Module]:
    """Yield a model with fresh weights, in evaluation mode, on the setup's device and in its type and layout.

    Each call builds its own host, so that a baseline and its variant can exist at once. Raises BuildError.
    """
    with Builder(setup.device).variant(recipe, reading) as variant:
        yield variant.model.to(_dtype(setup)).to(memory_format=_layout(setup))


def images_for(model: nn.Module, setup: Setup, batch: int) -> tuple[Tensor, ...]:
    """Return a batch to run a model on: noise, since a GPU multiplies zeros faster than images; token ids stay 0."""
    with torch.device(setup.device):
        inputs = example_inputs(model, batch)
    return tuple(_noise(one, setup) if one.is_floating_point() else one for one in inputs)


def forward_of(model: nn.Module, inputs: tuple[Tensor, ...], setup: Setup) -> Forward:
    """Return the call to time, compiled if the setup says so."""
    run = torch.compile(model, dynamic=False) if setup.compiled else model
    return lambda: run(*inputs)


def _noise(like: Tensor, setup: Setup) -> Tensor:
    source = torch.Generator(like.device).manual_seed(0)
    noise = torch.randn(like.shape, generator=source, device=like.device).to(_dtype(setup))
    return noise.contiguous(memory_format=_layout(setup)) if noise.dim() == 4 else noise


def _dtype(setup: Setup) -> torch.dtype:
    found: torch.dtype = getattr(torch, setup.dtype)
    return found


def _layout(setup: Setup) -> torch.memory_format:
    return torch.channels_last if setup.channels_last else torch.contiguous_format


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
