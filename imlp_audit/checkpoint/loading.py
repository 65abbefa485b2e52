"""Loading a checkpoint into a model: all of it, or an error that says all that does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from imlp_audit.checkpoint.fitting import Fit, fit
from imlp_audit.checkpoint.reading import read_state
from imlp_audit.checkpoint.refusal import shown
from imlp_audit.checkpoint.shapes import examine
from imlp_audit.errors import CheckpointError


@dataclass(frozen=True)
class Loaded:
    """What was done to load a checkpoint, one sentence each; nothing where every tensor was taken as it is."""

    notes: tuple[str, ...]


def load_into(model: nn.Module, path: Path, state: str | None = None) -> Loaded:
    """Load a checkpoint's weights into a model; `state` chooses among several states in the file.

    Shapes are compared before a number is read. The released IFFN names are mapped onto ours. Nothing is dropped but
    what `Loaded` tells. Raises CheckpointError with all that is missing, unexpected or mis-shaped, by cause.
    """
    contents = examine(path, state)
    found = fit(contents.shapes, model)
    if not found.exact:
        raise CheckpointError(unfit(path, found))
    notes = _load(model, path, found, read_state(path, state))
    return Loaded((*contents.state.notes, *found.notes, *notes))


def unfit(path: Path, found: Fit, model: str = "the model") -> str:
    """Say all that keeps a checkpoint from fitting a model."""
    return "\n  ".join(
        [f"{path} does not fit {model}; `imlp-audit inspect` tells what it fits", *map(str, found.problems)]
    )


def _load(model: nn.Module, path: Path, found: Fit, tensors: dict[str, Tensor]) -> list[str]:
    """Copy the tensors into the model's own, and return what that changed of them."""
    own = {**dict(model.named_buffers(remove_duplicate=False)), **model.state_dict()}
    mine = {new: tensors[old].reshape(own[new].shape) for old, new in found.names.items()}
    wrong = [name for name in mine if _kind(mine[name]) != _kind(own[name])]
    if wrong:
        told = f"{shown(wrong[0])} holds {_kind(mine[wrong[0]])} where the model has {_kind(own[wrong[0]])}"
        raise CheckpointError(f"{path}: {told}; save the model's own state_dict()")
    other = [name for name in found.computed if not torch.equal(mine[name].to(own[name]), own[name])]
    if other:
        told = f"{shown(other[0])} differs from what the model computes for it: it was trained with other sizes"
        raise CheckpointError(f"{path}: {told}; choose the row that it was trained for")
    rounded = [name for name in mine if not _held_by(mine[name].dtype, own[name].dtype)]
    model.load_state_dict({**{name: own[name] for name in found.untold}, **_without(mine, found.computed)})
    return [f"{len(rounded)} tensors are rounded to the model's type, such as {rounded[0]}"] if rounded else []


def _without(tensors: dict[str, Tensor], names: tuple[str, ...]) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in tensors.items() if name not in names}


def _kind(tensor: Tensor) -> str:
    return "complex numbers" if tensor.is_complex() else "real numbers" if tensor.is_floating_point() else "integers"


def _held_by(dtype: torch.dtype, wider: torch.dtype) -> bool:
    """Say whether every number of a type is one of another."""
    return torch.promote_types(dtype, wider) == wider
