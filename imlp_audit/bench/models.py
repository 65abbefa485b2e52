"""From a recipe to a model that runs as the user wants it, and the images that it runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from imlp_audit.bench.setup import Setup
from imlp_audit.bench.timing import Forward
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs


@contextmanager
def ready(recipe: Recipe, reading: AnyReading | None, setup: Setup) -> Iterator[nn.Module]:
    """Yield a model with fresh weights, in evaluation mode, on the device and in the type and layout asked for.

    Each call builds a host of its own, so that a baseline and its variant can be there at once. Raises BuildError.
    """
    with Builder(setup.device).variant(recipe, reading) as variant:
        yield variant.model.to(_dtype(setup)).to(memory_format=_layout(setup))


def images_for(model: nn.Module, setup: Setup, batch: int) -> tuple[Tensor, ...]:
    """Return a batch to run a model on: noise, for a GPU multiplies zeros faster than images; token ids stay 0."""
    with torch.device(setup.device):
        inputs = example_inputs(model, batch)
    return tuple(_noise(one, setup) if one.is_floating_point() else one for one in inputs)


def forward_of(model: nn.Module, inputs: tuple[Tensor, ...], setup: Setup) -> Forward:
    """Return the call to time, compiled where that is asked for."""
    run = torch.compile(model, dynamic=False) if setup.compiled else model
    return lambda: run(*inputs)


def _noise(like: Tensor, setup: Setup) -> Tensor:
    source = torch.Generator(like.device).manual_seed(0)
    noise = torch.randn(like.shape, generator=source, device=like.device).to(_dtype(setup))
    return noise.contiguous(memory_format=_layout(setup)) if noise.dim() == 4 else noise


def _dtype(setup: Setup) -> torch.dtype:
    found = getattr(torch, setup.dtype)
    assert isinstance(found, torch.dtype)
    return found


def _layout(setup: Setup) -> torch.memory_format:
    return torch.channels_last if setup.channels_last else torch.contiguous_format
