"""Timing forward passes, of two models in turns."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import torch

LEAST = 0.2  # seconds that one measurement takes at least

Forward: TypeAlias = Callable[[], object]


def seconds(forward: Forward, threads: int) -> float:
    """Return the seconds that one call takes: torch's Timer warms up, chooses how many calls to time, waits for CUDA.

    The median over the blocks of calls that fill `LEAST`, or one call where that takes longer.
    """
    # importing the timer logs, where a compiler for CUDA is installed without a GPU, that there is none
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    from torch.utils.benchmark import Timer

    timer = Timer("forward()", globals={"forward": forward}, num_threads=threads)
    with torch.inference_mode():
        return float(timer.blocked_autorange(min_run_time=LEAST).median)


@contextmanager
def with_threads(count: int) -> Iterator[None]:
    """Let torch compute with a number of threads for the time of the context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def in_turns(
    base: Forward, variant: Forward, pairs: int, measure: Callable[[Forward], float], told: Callable[[], None]
) -> list[tuple[float, float]]:
    """Measure two models in pairs, and return each pair's (base, variant).

    Which of them comes first alternates, so that what slows the machine down or warms it up favours neither. `told` is
    called before each pair.
    """
    found = []
    for number in range(pairs):
        told()
        if number % 2 == 0:
            first = measure(base)
            found.append((first, measure(variant)))
        else:
            first = measure(variant)
            found.append((measure(base), first))
    return found
