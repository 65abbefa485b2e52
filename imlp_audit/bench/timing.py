"""Models made ready to run, and the timing of their forward passes in turns."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import torch
from torch import Tensor, nn

from imlp_audit.bench.setup import Setup
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import AnyReading
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
        order = (base, variant) if number % 2 == 0 else (variant, base)
        one, other = (measure(model) for model in order)
        times.append((one, other) if number % 2 == 0 else (other, one))
    return times


@contextmanager
def prepare_model(recipe: Recipe, reading: AnyReading | None, setup: Setup) -> Iterator[nn.Module]:
    """Yield a model with fresh weights, in evaluation mode, on the setup's device and in its type and layout.

    Each call builds its own host, so that a baseline and its variant can exist at once. Raises BuildError.
    """
    with Builder(setup.device).variant(recipe, reading) as variant:
        yield variant.model.to(_dtype(setup)).to(memory_format=_layout(setup))


def images_for(model: nn.Module, setup: Setup) -> tuple[Tensor, ...]:
    """Return a batch to run a model on: noise, since a GPU multiplies zeros faster than images; token ids stay 0."""
    with torch.device(setup.device):
        inputs = example_inputs(model, setup.batch)
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
