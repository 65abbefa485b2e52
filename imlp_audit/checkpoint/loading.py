"""Reads the tensors of a parsed checkpoint, and loads them into a model: all of them, or an error that says why not."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import assert_never

import torch
from torch import Tensor, nn

from imlp_audit.checkpoint.container import Container, open_file
from imlp_audit.checkpoint.contents import Checkpoint, check_sums, parse
from imlp_audit.checkpoint.fitting import Fit, fit
from imlp_audit.checkpoint.refusal import RefusedError, escape_name, name_in_errors
from imlp_audit.checkpoint.states import State
from imlp_audit.errors import CheckpointError

SAFE_SINCE = "2.10"  # before it, a file could corrupt memory through torch's safe unpickler (CVE-2026-24747)


def read_state(path: Path, state: str | None = None) -> dict[str, Tensor]:
    """Parse a checkpoint and return its tensors; `state` chooses among several states. Raises CheckpointError."""
    return read_tensors(parse(path, state))


def read_tensors(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """Return the tensors of a parsed checkpoint, on the CPU, by the model's own names.

    Raises CheckpointError, also if the file has changed since it was parsed.
    """
    with name_in_errors(checkpoint.path), open_file(checkpoint.path) as opened:
        if opened.identity != checkpoint.identity:
            raise RefusedError("changed while it was being read; run the command again")
        match checkpoint.container:
            case Container.SAFETENSORS:
                loaded = _read_safetensors(checkpoint.path)
            case Container.TORCH:
                if not checkpoint.sums_checked:
                    check_sums(opened.data, checkpoint.members)
                loaded = _read_torch(opened.file)
            case Container.LEGACY_TORCH:
                loaded = _read_torch(opened.file)
            case _:
                assert_never(checkpoint.container)
        return _choose_tensors(loaded, checkpoint.state)


def _read_safetensors(path: Path) -> object:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (SafetensorError, ValueError, RuntimeError) as error:
        raise RefusedError(
            f"is not a complete safetensors file: {escape_name(error)}; download it or save it again"
        ) from error


def _read_torch(file: BufferedReader) -> object:
    if torch.__version__ < SAFE_SINCE:  # a TorchVersion: 2.9 is less
        raise RefusedError(
            f"is a torch file, and reading those safely takes torch {SAFE_SINCE} or later, not {torch.__version__}; "
            "upgrade torch, or save the weights with safetensors"
        )
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):  # training options, a plain table
            return torch.load(file, weights_only=True, map_location="cpu", mmap=False)
    except Exception as error:  # of a broken file torch's unpickler raises whatever it stumbles on
        # torch's own message advises to load it with its code, so it is not repeated
        raise RefusedError(
            "cannot be read by torch's safe loader; save model.state_dict() with safetensors, in a file that ends in "
            ".safetensors"
        ) from error


def _choose_tensors(loaded: object, state: State) -> dict[str, Tensor]:
    """Return the chosen tensors of what was loaded, which must be as the file was parsed."""
    table = loaded
    for key in state.path:
        table = dict.get(table, key) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise RefusedError("was read as something else than it was checked as; do not use it")
    values = {new: dict.get(table, old) for new, old in state.names.items()}
    tensors = {name: value for name, value in values.items() if isinstance(value, Tensor)}
    for name, info in state.tensors.items():
        tensor = tensors.get(name)
        if tensor is None or (tuple(tensor.shape), str(tensor.dtype)) != (info.shape, f"torch.{info.dtype}"):
            raise RefusedError(f"was read with another {escape_name(name)} than it was checked with; do not use it")
    return {name: tensor.detach() for name, tensor in tensors.items()}


def load_into(model: nn.Module, checkpoint: Checkpoint) -> tuple[str, ...]:
    """Load a checkpoint's weights into a model, and return what was changed on the way, one sentence each.

    Shapes are compared before a number is read, and released names are mapped to ours. Nothing is left out unless a
    sentence says so. Raises CheckpointError with everything that is missing, unexpected or mis-shaped, by cause.
    """
    found = fit(checkpoint.shapes, model)
    if not found.exact:
        raise CheckpointError(describe_misfit(checkpoint.path, found))
    notes = _load(model, checkpoint.path, found, read_tensors(checkpoint))
    return (*checkpoint.state.notes, *found.notes, *notes)


def describe_misfit(path: Path, found: Fit, model: str = "the model") -> str:
    """Return everything that keeps a checkpoint from fitting a model, a line each."""
    return "\n  ".join(
        [f"{path} does not fit {model}; `imlp-audit inspect` shows what it fits", *map(str, found.problems)]
    )


def _load(model: nn.Module, path: Path, found: Fit, tensors: Mapping[str, Tensor]) -> list[str]:
    """Copy the tensors into the model's own, and return what that changed in them."""
    own = {**dict(model.named_buffers(remove_duplicate=False)), **model.state_dict()}
    mine = {new: tensors[old].reshape(own[new].shape) for old, new in found.names.items()}
    wrong = [name for name in mine if _find_kind(mine[name]) != _find_kind(own[name])]
    if wrong:
        name = wrong[0]
        raise CheckpointError(
            f"{path}: {escape_name(name)} holds {_find_kind(mine[name])} where the model has {_find_kind(own[name])}; "
            "save the model's own state_dict()"
        )
    other = [name for name in found.computed if not torch.equal(mine[name].to(own[name]), own[name])]
    if other:
        raise CheckpointError(
            f"{path}: {escape_name(other[0])} differs from what the model computes for it, so it was trained with "
            "other sizes; choose the row that it was trained for"
        )
    rounded = [name for name in mine if not _fits_into(mine[name].dtype, own[name].dtype)]
    saved = {name: tensor for name, tensor in mine.items() if name not in found.computed}
    model.load_state_dict({**{name: own[name] for name in found.optional}, **saved})
    if not rounded:
        return []
    return [f"{_count(rounded)} rounded to the model's type, such as {escape_name(rounded[0])}"]


def _count(names: list[str]) -> str:
    return "1 tensor is" if len(names) == 1 else f"{len(names)} tensors are"


def _find_kind(tensor: Tensor) -> str:
    return "complex numbers" if tensor.is_complex() else "real numbers" if tensor.is_floating_point() else "integers"


def _fits_into(dtype: torch.dtype, wider: torch.dtype) -> bool:
    """Say whether every number of a type is one of another."""
    return torch.promote_types(dtype, wider) == wider
