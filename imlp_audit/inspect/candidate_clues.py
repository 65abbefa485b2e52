"""What shows, without building a model, that it cannot be the one of a checkpoint."""

from __future__ import annotations

from typing import assert_never

from imlp_audit.checkpoint.problems import Shapes
from imlp_audit.models.build import Builder
from imlp_audit.models.hosts.host import FirstLayer, NamedParts
from imlp_audit.models.recipe import Recipe


def plausible(recipe: Recipe, held: Shapes) -> bool:
    """Say whether a checkpoint has tensors of the names, and of the width, that the model would have."""
    match recipe.host.clue():
        case FirstLayer(weight):
            return weight is None or _shape_of(weight, held) is not None
        case NamedParts(names, width):
            held_names = {part for name in held for part in name.split(".")}
            return bool(held_names & names) and (width is None or any(width in shape for shape in held.values()))
        case other:
            assert_never(other)


def starts_alike(recipe: Recipe, held: Shapes, builder: Builder) -> bool:
    """Say whether the first layers of a model and a checkpoint have the same shape. Raises BuildError.

    The host alone shows it, and only where the first layer's name is known.
    """
    clue = recipe.host.clue()
    if not isinstance(clue, FirstLayer) or clue.weight is None:
        return True
    with builder.variant(recipe.with_own_mlps(), None) as variant:
        weight = dict(variant.model.named_parameters()).get(clue.weight)
    return weight is None or tuple(weight.shape) == _shape_of(clue.weight, held)


def _shape_of(name: str, held: Shapes) -> tuple[int, ...] | None:
    """Return the shape of a tensor in a checkpoint, whatever stands before its name there."""
    return next((shape for one, shape in held.items() if f".{one}".endswith(f".{name}")), None)
