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
from imlp_audit.errors import CheckpointError, UsageError
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs
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
    row: RowRef, given: str | None, path: Path, state: str | None, size: tuple[int, int] | None
) -> Iterator[Weighted]:
    """Yield a row's model, on the CPU and in evaluation mode, with a checkpoint's weights.

    `state` chooses among several states in the file, `size` the height and width of the images if not the model's own.
    `given` is the reading that a user states; without, it is the paper's default one, if no other fits as well.
    Shapes are compared before a number is read. Raises UsageError for a row whose model does not classify such images,
    BuildError where it cannot be built, and CheckpointError where the weights do not fit, with the readings under which
    they do.
    """
    recipe, reading = row.row.model, reading_of(row, given)
    if recipe is None:
        raise UsageError(f"{row.id} has no model in its spec, so nothing can be evaluated; choose another row")
    with Builder().variant(recipe, _part(row, recipe, reading)) as variant:
        own = _own_size(row, variant.model)
    checkpoint = parse(path, state)
    open_ = _check_fits(row, recipe, reading, checkpoint, stated=given is not None)
    with Builder("cpu").variant(recipe, _part(row, recipe, reading)) as variant:
        notes = load_into(variant.model, checkpoint)
        model = variant.model.requires_grad_(False).eval()
        yield Weighted(model, size or own, _classes(row, model, size or own), (*open_, *notes))


def _part(row: RowRef, recipe: Recipe, reading: str | None) -> AnyReading | None:
    if reading is None:
        return None
    return recipe.part_of(row.paper.about.value.readings[reading].reading())


def _own_size(row: RowRef, model: nn.Module) -> tuple[int, int]:
    """Return the height and width of the images that a model on the meta device is made for. Raises UsageError."""
    with torch.device("meta"):
        inputs = example_inputs(model)
    shape = inputs[0].shape
    if len(inputs) != 1 or len(shape) != 4 or shape[1] != 3:
        raise UsageError(f"{row.id}: its model reads no images; eval measures accuracies of image classifiers")
    return shape[2], shape[3]


def _classes(row: RowRef, model: nn.Module, size: tuple[int, int]) -> int:
    """Return how many classes a model tells apart in images of a size, by one of them. Raises UsageError."""
    try:
        with torch.inference_mode():
            scores = model(torch.zeros(1, 3, *size))
    except Exception as error:  # whatever a host's code raises
        raise UsageError(f"{row.id}: its model takes no images of {size[0]} x {size[1]}: {error}") from error
    if not isinstance(scores, torch.Tensor) or scores.dim() != 2:
        raise UsageError(f"{row.id}: its model does not classify; eval measures accuracies of image classifiers")
    return scores.shape[1]


def _check_fits(
    row: RowRef, recipe: Recipe, reading: str | None, checkpoint: Checkpoint, *, stated: bool
) -> tuple[str, ...]:
    """Return what shapes leave open. Raise CheckpointError where they are not the model's, with the readings they fit.

    A reading that nobody `stated` must be the only declared one that fits: others compute other things.
    """
    found = {}
    for name in dict.fromkeys((reading, *row.paper.about.value.readings)):
        with Builder().variant(recipe, _part(row, recipe, name)) as variant:
            found[name] = fit(checkpoint.shapes, variant.model)
    if not found[reading].exact:
        raise CheckpointError(_misfit(row, checkpoint.path, reading, found))
    own = _part(row, recipe, reading)
    others = [f"--reading {name}" for name, one in found.items() if one.exact and _part(row, recipe, name) != own]
    if not others:
        return ()
    told = f"its shapes fit {' and '.join(others)} as well as the reading {reading}, and these compute other things"
    if not stated:
        raise CheckpointError(f"{checkpoint.path}: {told}; say by --reading which of them it was trained as")
    return (told,)


def _misfit(row: RowRef, path: Path, reading: str | None, found: Mapping[str | None, Fit]) -> str:
    model = row.id if reading is None else f"{row.id} under the reading {reading}"
    under = [f"--reading {name}" for name, one in found.items() if one.exact]
    if under:
        return f"{path} does not fit {model}, but it does with {' or '.join(under)}"
    other = [name for name in found if name not in (reading, None)]
    return describe_misfit(path, found[reading], f"{model}, nor under {', '.join(map(str, other))}" if other else model)
