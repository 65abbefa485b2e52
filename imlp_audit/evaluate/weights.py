"""A row's model with the weights of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import torch
from torch import nn

from imlp_audit.checkpoint.container import escape_name
from imlp_audit.checkpoint.contents import Checkpoint, parse_states
from imlp_audit.checkpoint.fitting import POOLFORMER, Dialect, Fit, fit
from imlp_audit.checkpoint.loading import describe_misfit, load_fitted
from imlp_audit.count.facts import ModelKey
from imlp_audit.count.measuring import rehearse
from imlp_audit.errors import BuildError, CheckpointError, UsageError, did_you_mean
from imlp_audit.evaluate.predictions import deterministic
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs
from imlp_audit.spec.paper import RowRef


@dataclass(frozen=True)
class Weights:
    """A row's model under a reading (None: the paper's default), and the file with its weights.

    `state` chooses among several states in the file; only names that begin with `prefix` are used, without it.
    """

    row: RowRef
    checkpoint: Path
    reading: str | None = None
    state: str | None = None
    prefix: str = ""


Parts: TypeAlias = Mapping[str | None, AnyReading | None]
"""What a row's model takes of each reading by its name; the one that is used unless only another fits comes first."""


@dataclass(frozen=True)
class Weighted:
    """A model with a checkpoint's weights.

    `size` is the (height, width) of its images, `classes` the number of its outputs, `notes` what loading did,
    `settings` which weights of the file these are, and `checkpoint` what they were read from. It is built under
    `reading`.
    """

    model: nn.Module
    size: tuple[int, int]
    classes: int
    notes: tuple[str, ...]
    settings: Mapping[str, str]
    checkpoint: Checkpoint
    reading: str | None


def choose_reading(row: RowRef, given: str | None) -> str | None:
    """Return the reading to build a row's model under: the given one, or the paper's default. Raises UsageError."""
    known = list(row.paper.about.value.readings)
    if given is None:
        return known[0] if known else None
    if given not in known:
        raise UsageError(f"--reading {given}: {did_you_mean(given, known, f'{row.paper.id} declares')}")
    return given


@contextmanager
def with_weights(weights: Weights, side: int | None = None) -> Iterator[Weighted]:
    """Yield a row's model, on the CPU and in evaluation mode, with a checkpoint's weights.

    `side`, in pixels, replaces the model's own image size. Of several states in the file that are not named, only one
    may fit. Without a reading the paper's default is used, if no other fits as well, or else the only one that fits.
    Shapes are compared before any tensor is made. Raises UsageError for a row whose model does not classify images,
    BuildError if the model cannot be built, and CheckpointError, naming the readings that fit, if the weights do not.
    """
    row, recipe = weights.row, weights.row.row.model
    default, readings = choose_reading(row, weights.reading), row.paper.about.value.readings
    if recipe is None:
        raise UsageError(f"{row.id} has no model in its spec, so it cannot be evaluated; choose another row")
    parts: Parts = {
        name: None if name is None else recipe.part_of(readings[name].reading())
        for name in dict.fromkeys((default, *readings))
    }
    for failure in rehearse(ModelKey(recipe, part) for part in parts.values()).values():
        raise BuildError(failure.message)
    with Builder().variant(recipe, parts[default]) as variant:
        size = _own_size(row, variant.model) if side is None else (side, side)
    checkpoint, reading, ambiguous = _choose_state(weights, recipe, parts)
    with Builder("cpu").variant(recipe, parts[reading]) as variant:
        fitted = fit(checkpoint.shapes, variant.model)
        if fitted.dialect.layout is POOLFORMER:
            raise CheckpointError(
                f"{checkpoint.path}: PoolFormer's authors norm before they pool, timm after, so these weights compute "
                "something else in timm's model; give the row the authors' own (`python: ...`)"
            )
        notes = load_fitted(variant.model, checkpoint, fitted)
        model = variant.model.requires_grad_(False).eval()
        yield Weighted(
            model,
            size,
            _count_classes(row, model, size),
            (*ambiguous, *notes),
            _describe_weights(checkpoint, fitted.dialect, weights.prefix),
            checkpoint,
            reading,
        )


def _describe_weights(checkpoint: Checkpoint, dialect: Dialect, prefix: str) -> dict[str, str]:
    settings = {
        "state": (checkpoint.state.name or "the top level") if checkpoint.state.others else "",
        "prefix": prefix + dialect.prefix,
        "layout": dialect.layout.name if dialect.layout is not None else "",
    }
    return {name: value for name, value in settings.items() if value}


def _own_size(row: RowRef, model: nn.Module) -> tuple[int, int]:
    """Return the (height, width) of the images that a model on the meta device is made for. Raises UsageError."""
    with torch.device("meta"):
        inputs = example_inputs(model)
    shape = inputs[0].shape
    if len(inputs) != 1 or len(shape) != 4 or shape[1] != 3:
        raise UsageError(f"{row.id}: its model does not read images; eval measures accuracies of image classifiers")
    return shape[2], shape[3]


def _count_classes(row: RowRef, model: nn.Module, size: tuple[int, int]) -> int:
    """Return a model's number of outputs for an image. Raises UsageError, also where outputs are not repeated."""
    images = torch.linspace(-1, 1, 2 * 3 * size[0] * size[1]).reshape(2, 3, *size)
    try:
        with torch.inference_mode(), deterministic():
            scores, again = model(images), model(images)
    except Exception as error:  # whatever a host's code raises
        raise UsageError(f"{row.id}: its model does not accept images of {size[0]} x {size[1]}: {error}") from error
    if not isinstance(scores, torch.Tensor) or scores.dim() != 2 or len(scores) != len(images):
        raise UsageError(f"{row.id}: its model does not classify; eval measures accuracies of image classifiers")
    if any(module.training for module in model.modules()) or not torch.equal(scores.nan_to_num(), again.nan_to_num()):
        raise UsageError(
            f"{row.id}: its model gives other outputs each time, or stays in training mode after `eval()`; switch off "
            "what is random, such as dropout that is always on"
        )
    return scores.shape[1]


def _choose_state(weights: Weights, recipe: Recipe, parts: Parts) -> tuple[Checkpoint, str | None, tuple[str, ...]]:
    """Return the state of a file that fits, the reading that it fits under, and notes on what shapes leave open.

    Raise CheckpointError if none fits, naming the readings that do, or if several fit. A
    reading that the user did not state must be the only declared one that fits, since others compute differently.
    """
    row, stated, default = weights.row, weights.reading is not None, next(iter(parts))
    found = parse_states(weights.checkpoint, weights.state, weights.prefix)
    fits: list[dict[str | None, Fit]] = [{} for _ in found]
    for name, part in parts.items():
        with Builder().variant(recipe, part) as variant:
            for one, checkpoint in zip(fits, found, strict=True):
                one[name] = fit(checkpoint.shapes, variant.model)
    reading = default if stated else _choose_fitting(parts, fits)
    exact = [number for number, one in enumerate(fits) if one[reading].exact]
    if not exact:
        number = min(range(len(found)), key=lambda number: min(one.misfits for one in fits[number].values()))
        raise CheckpointError(_describe_misfit(row, found[number], reading, fits[number]))
    if len(exact) > 1:
        names = " or ".join(f"--state {escape_name(found[number].state.name) or repr('')}" for number in exact)
        raise CheckpointError(f"{weights.checkpoint} holds several states that fit; pass {names}")
    chosen, notes = found[exact[0]], []
    if reading != default:
        why = f"its shapes fit the reading {reading} alone, so that is used, not the paper's default {default}"
        notes.append(why)
    alike = [name for name, one in fits[exact[0]].items() if one.exact and parts[name] != parts[reading]]
    if alike:
        others = " and ".join(f"--reading {name}" for name in alike)
        notes.append(f"its shapes also fit {others}, which computes something else than the reading {reading}")
    if alike and not stated:
        raise CheckpointError(f"{chosen.path}: {notes[-1]}; pass --reading with the one that it was trained as")
    return chosen, reading, tuple(notes)


def _choose_fitting(parts: Parts, fits: Sequence[Mapping[str | None, Fit]]) -> str | None:
    """Return the default reading, or the only declared one that fits if the default does not."""
    default = next(iter(parts))
    names = [name for name in parts if any(one[name].exact for one in fits)]
    return names[0] if default not in names and len({parts[name] for name in names}) == 1 else default


def _describe_misfit(row: RowRef, checkpoint: Checkpoint, reading: str | None, fits: Mapping[str | None, Fit]) -> str:
    path = checkpoint.path
    model = row.id if reading is None else f"{row.id} under the reading {reading}"
    under = [f"--reading {name}" for name, one in fits.items() if one.exact]
    if under:
        return f"{path} does not fit {model}, but it fits with {' or '.join(under)}"
    other = [name for name in fits if name not in (reading, None)]
    return describe_misfit(path, fits[reading], f"{model}, nor under {', '.join(map(str, other))}" if other else model)
