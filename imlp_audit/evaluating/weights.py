"""A row's model with the weights of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from imlp_audit.checkpoint.fitting import fit
from imlp_audit.checkpoint.loading import load_into, unfit
from imlp_audit.checkpoint.shapes import read_shapes
from imlp_audit.errors import CheckpointError, UsageError
from imlp_audit.models.build import Builder
from imlp_audit.models.example import example_inputs
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.near import did_you_mean
from imlp_audit.spec.references import RowRef


@dataclass(frozen=True)
class Weighted:
    """A model with a checkpoint's weights.

    `size` is the height and width of its images, `classes` how many it tells apart, `notes` what loading did.
    """

    model: nn.Module
    size: tuple[int, int]
    classes: int
    notes: tuple[str, ...]


def reading_of(row: RowRef, given: str | None) -> str | None:
    """Return the reading to build a row's model under: the one given, or the paper's default. Raises UsageError."""
    known = list(row.paper.about.value.readings)
    if given is None:
        return known[0] if known else None
    if given not in known:
        raise UsageError(f"--reading {given}: {did_you_mean(given, known, f'{row.paper.id} declares')}")
    return given


@contextmanager
def with_weights(
    row: RowRef, reading: str | None, path: Path, state: str | None, size: tuple[int, int] | None
) -> Iterator[Weighted]:
    """Yield a row's model, on the CPU and in evaluation mode, with a checkpoint's weights.

    `state` chooses among several states in the file, `size` the height and width of the images if not the model's own.
    Shapes are compared before a number is read. Raises UsageError for a row whose model does not classify such images,
    BuildError where it cannot be built, and CheckpointError where the weights do not fit, with the readings under which
    they do.
    """
    recipe = row.row.model
    if recipe is None:
        raise UsageError(f"{row.id} has no model in its spec, so nothing can be evaluated; choose another row")
    with Builder().variant(recipe, _part(row, recipe, reading)) as variant:
        size, classes = _classified(row, variant.model, size)
    _check_fits(row, recipe, reading, path, state)
    with Builder("cpu").variant(recipe, _part(row, recipe, reading)) as variant:
        notes = load_into(variant.model, path, state).notes
        yield Weighted(variant.model.requires_grad_(False).eval(), size, classes, notes)


def _part(row: RowRef, recipe: Recipe, reading: str | None) -> AnyReading | None:
    if reading is None:
        return None
    return recipe.part_of(row.paper.about.value.readings[reading].reading())


def _classified(row: RowRef, model: nn.Module, size: tuple[int, int] | None) -> tuple[tuple[int, int], int]:
    """Return the height and width of the images that a model on the meta device classifies, and the number of classes.

    Raises UsageError for a model that does not classify images, or none of a size asked for.
    """
    with torch.device("meta"):
        inputs = example_inputs(model)
    own = inputs[0].shape
    if len(inputs) != 1 or len(own) != 4 or own[1] != 3:
        raise UsageError(f"{row.id}: its model reads no images; eval measures accuracies of image classifiers")
    height, width = size or (own[2], own[3])
    try:
        with torch.inference_mode():
            scores = model(torch.zeros(1, 3, height, width, device="meta"))
    except Exception as error:  # whatever a host's code raises
        raise UsageError(f"{row.id}: its model takes no images of {height} x {width}: {error}") from error
    if not isinstance(scores, torch.Tensor) or scores.dim() != 2:
        raise UsageError(f"{row.id}: its model does not classify; eval measures accuracies of image classifiers")
    return (height, width), scores.shape[1]


def _check_fits(row: RowRef, recipe: Recipe, reading: str | None, path: Path, state: str | None) -> None:
    """Raise CheckpointError where a file's shapes are not the model's, naming the readings under which they are."""
    held = read_shapes(path, state)
    found = {}
    for name in dict.fromkeys((reading, *row.paper.about.value.readings)):
        with Builder().variant(recipe, _part(row, recipe, name)) as variant:
            found[name] = fit(held, variant.model)
        if name == reading and found[name].exact:
            return
    under = [f"--reading {name}" for name, one in found.items() if one.exact]
    if under:
        raise CheckpointError(
            f"{path} does not fit {row.id} under the reading {reading}, but it does with {' or '.join(under)}"
        )
    raise CheckpointError(unfit(path, found[reading]))
