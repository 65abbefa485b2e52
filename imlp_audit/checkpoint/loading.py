"""Reads the tensors of a parsed checkpoint, and loads them into a model: all of them, or an error that says why not."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn

from imlp_audit.checkpoint.container import Container, OpenFile, escape_name, name_in_errors, open_file
from imlp_audit.checkpoint.contents import Checkpoint, check_unchanged
from imlp_audit.checkpoint.fitting import Fit, describe, saved_tensors, tied_names
from imlp_audit.checkpoint.pickles import BYTES, TensorInfo
from imlp_audit.errors import CheckpointError
from imlp_audit.numbers.words import count_of

_LIBRARIES = (  # whose names of tensors match
    (r"\w+\.(embeddings|embedder|encoder)\.", "transformers"),
    (r"encoder\.layers\.encoder_layer_|features\.\d", "torchvision"),
)


def read_tensors(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """Return the tensors of a parsed checkpoint, on the CPU, by the model's own names.

    Only their own bytes are read. Raises CheckpointError, also if a file has changed since it was parsed.
    """
    if sys.byteorder != "little":
        raise CheckpointError(f"{checkpoint.path} cannot be read here: this machine puts the highest byte first")
    tensors = checkpoint.state.tensors
    with name_in_errors(checkpoint.path), open_file(checkpoint.path) as opened:
        check_unchanged(opened, checkpoint)
        if checkpoint.container is Container.SAFETENSORS:
            with safe_open(checkpoint.path, "pt") as file:
                return {name: file.get_tensor(info.storage) for name, info in tensors.items()}
        storages = {key: _read_bytes(opened, checkpoint.spans[key]) for key in {i.storage for i in tensors.values()}}
    return {name: _make_tensor(info, storages[info.storage]) for name, info in tensors.items()}


def _read_bytes(opened: OpenFile, span: range) -> Tensor:
    if not span:
        return torch.empty(0, dtype=torch.uint8)
    with memoryview(opened.data) as data, data[span.start : span.stop] as part:
        return torch.frombuffer(bytearray(part), dtype=torch.uint8)


def _make_tensor(info: TensorInfo, storage: Tensor) -> Tensor:
    """Return a tensor as its view of a storage, which the parser has compared with the storage's size."""
    dtype = getattr(torch, info.dtype)
    if not info.numel:
        return torch.empty(info.shape, dtype=dtype)
    whole = storage[: len(storage) // BYTES[info.dtype] * BYTES[info.dtype]].view(dtype)
    return whole.as_strided(info.shape, info.strides, info.start)


def load_fitted(model: nn.Module, checkpoint: Checkpoint, found: Fit) -> tuple[str, ...]:
    """Load a checkpoint's weights into a model that it was compared with, and return what was changed on the way.

    Nothing is left out unless one of these sentences says so. Raises CheckpointError with everything that is missing,
    unexpected or mis-shaped, by cause.
    """
    path = checkpoint.path
    if not found.exact:
        raise CheckpointError(describe_misfit(path, found))
    tensors = read_tensors(checkpoint)
    own = {**dict(model.named_buffers(remove_duplicate=False)), **model.state_dict()}
    _check_only_tensors(model, path)
    mine = {new: tensors[old].reshape(own[new].shape) for old, new in found.dialect.names.items()}
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
    _check_tied(model, path, saved)
    model.load_state_dict({**{name: own[name] for name in found.optional}, **saved})
    notes = [*checkpoint.state.notes, *found.notes]
    if rounded:
        count = f"{count_of(len(rounded), 'tensor')} {'is' if len(rounded) == 1 else 'are'}"
        notes.append(f"{count} rounded to the model's type, such as {escape_name(rounded[0])}")
    return tuple(notes)


def describe_misfit(path: Path, found: Fit, model: str = "the model") -> str:
    """Return everything that keeps a checkpoint from fitting a model, a line each."""
    names = [name for problem in found.problems for name in problem.tensors]
    library = next((one for mark, one in _LIBRARIES if any(re.match(mark, name) for name in names)), None)
    advice = f"these are the names of {library}: give the row its model (`{library}: ...`)"
    return "\n  ".join(
        [
            f"{path} does not fit {model}; `imlp-audit inspect {shlex.quote(str(path))}` shows what it fits",
            *([advice] if library is not None else []),
            *map(describe, found.problems),
        ]
    )


def _check_only_tensors(model: nn.Module, path: Path) -> None:
    more = sorted({*model.state_dict()} - {*saved_tensors(model)})
    if more:
        raise CheckpointError(
            f"{path}: the model also saves {escape_name(more[0])}, which is not a tensor (`get_extra_state`), and such "
            "objects are not read from files; keep what it holds in a buffer"
        )


def _check_tied(model: nn.Module, path: Path, saved: Mapping[str, Tensor]) -> None:
    """Raise CheckpointError if a file has two values for one tensor of the model: the last would win."""
    for group in tied_names(model):
        there = [name for name in group if name in saved]
        torn = next((name for name in there if not torch.equal(saved[name], saved[there[0]])), None)
        if torn is not None:
            raise CheckpointError(
                f"{path}: {escape_name(there[0])} and {escape_name(torn)} are one tensor in the model, but differ in "
                "the file; choose the row that it was trained for"
            )


def _find_kind(tensor: Tensor) -> str:
    return "complex numbers" if tensor.is_complex() else "real numbers" if tensor.is_floating_point() else "integers"


def _fits_into(dtype: torch.dtype, wider: torch.dtype) -> bool:
    """Say whether every number of a type is one of another."""
    try:
        return torch.promote_types(dtype, wider) == wider
    except RuntimeError:  # of floats of 8 bits, and of unsigned integers of more
        return dtype.itemsize < wider.itemsize
