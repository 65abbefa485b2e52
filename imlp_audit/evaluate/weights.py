"""A row's model with the weights of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from imlp_audit.checkpoint.contents import Checkpoint, parse
from imlp_audit.checkpoint.fitting import Fit, fit
from imlp_audit.checkpoint.loading import describe_misfit, load_into
from imlp_audit.errors import CheckpointError, UsageError, did_you_mean
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs
from imlp_audit.spec.references import RowRef


@dataclass(frozen=True)
class Weighted:
    """A model with a checkpoint's weights.

    `size` is the (height, width) of its images, `classes` the number of its outputs, `notes` what loading did.
    """

    model: nn.Module
    size: tuple[int, int]
    classes: int
    notes: tuple[str, ...]


def choose_reading(row: RowRef, given: str | None) -> str | None:
    """Return the reading to build a row's model under: the given one, or the paper's default. Raises UsageError."""
    known = list(row.paper.about.value.readings)
    if given is None:
        return known[0] if known else None
    if given not in known:
        raise UsageError(f"--reading {given}: {did_you_mean(given, known, f'{row.paper.id} declares')}")
    return given


@contextmanager
def with_weights(
    row: RowRef, given: str | None, path: Path, state: str | None, size: tuple[int, int] | None
) -> Iterator[Weighted]:
    """Yield a row's model, on the CPU and in evaluation mode, with a checkpoint's weights.

    `state` chooses among several states in the file; `size` (height, width) replaces the model's own image size.
    `given` is the reading that the user names; without one the paper's default is used, if no other fits as well.
    Shapes are compared before any number is read. Raises UsageError for a row whose model does not classify images,
    BuildError if the model cannot be built, and CheckpointError, naming the readings that fit, if the weights do not.
    """
    recipe, reading = row.row.model, choose_reading(row, given)
    if recipe is None:
        raise UsageError(f"{row.id} has no model in its spec, so it cannot be evaluated; choose another row")
    with Builder().variant(recipe, _part(row, recipe, reading)) as variant:
        own = _own_size(row, variant.model)
    checkpoint = parse(path, state)
    ambiguous = _check_fits(row, recipe, reading, checkpoint, stated=given is not None)
    with Builder("cpu").variant(recipe, _part(row, recipe, reading)) as variant:
        notes = load_into(variant.model, checkpoint)
        model = variant.model.requires_grad_(False).eval()
        yield Weighted(model, size or own, _count_classes(row, model, size or own), (*ambiguous, *notes))


def _part(row: RowRef, recipe: Recipe, reading: str | None) -> AnyReading | None:
    if reading is None:
        return None
    return recipe.part_of(row.paper.about.value.readings[reading].reading())


def _own_size(row: RowRef, model: nn.Module) -> tuple[int, int]:
    """Return the (height, width) of the images that a model on the meta device is made for. Raises UsageError."""
    with torch.device("meta"):
        inputs = example_inputs(model)
    shape = inputs[0].shape
    if len(inputs) != 1 or len(shape) != 4 or shape[1] != 3:
        raise UsageError(f"{row.id}: its model does not read images; eval measures accuracies of image classifiers")
    return shape[2], shape[3]


def _count_classes(row: RowRef, model: nn.Module, size: tuple[int, int]) -> int:
    """Return the number of a model's outputs for an image of a size. Raises UsageError."""
    try:
        with torch.inference_mode():
            scores = model(torch.zeros(1, 3, *size))
    except Exception as error:  # whatever a host's code raises
        raise UsageError(f"{row.id}: its model does not accept images of {size[0]} x {size[1]}: {error}") from error
    if not isinstance(scores, torch.Tensor) or scores.dim() != 2:
        raise UsageError(f"{row.id}: its model does not classify; eval measures accuracies of image classifiers")
    return scores.shape[1]


def _check_fits(
    row: RowRef, recipe: Recipe, reading: str | None, checkpoint: Checkpoint, *, stated: bool
) -> tuple[str, ...]:
    """Return notes on what shapes leave open. Raise CheckpointError if they do not fit, naming the readings that do.

    A reading that the user did not state must be the only declared one that fits, since others compute differently.
    """
    fits = {}
    for name in dict.fromkeys((reading, *row.paper.about.value.readings)):
        with Builder().variant(recipe, _part(row, recipe, name)) as variant:
            fits[name] = fit(checkpoint.shapes, variant.model)
    if not fits[reading].exact:
        raise CheckpointError(_describe_misfit(row, checkpoint.path, reading, fits))
    own = _part(row, recipe, reading)
    others = [f"--reading {name}" for name, one in fits.items() if one.exact and _part(row, recipe, name) != own]
    if not others:
        return ()
    note = f"its shapes also fit {' and '.join(others)}, which computes something else than the reading {reading}"
    if not stated:
        raise CheckpointError(f"{checkpoint.path}: {note}; pass --reading with the one that it was trained as")
    return (note,)


def _describe_misfit(row: RowRef, path: Path, reading: str | None, fits: Mapping[str | None, Fit]) -> str:
    model = row.id if reading is None else f"{row.id} under the reading {reading}"
    under = [f"--reading {name}" for name, one in fits.items() if one.exact]
    if under:
        return f"{path} does not fit {model}, but it fits with {' or '.join(under)}"
    other = [name for name in fits if name not in (reading, None)]
    return describe_misfit(path, fits[reading], f"{model}, nor under {', '.join(map(str, other))}" if other else model)
