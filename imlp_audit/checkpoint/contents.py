"""Parses a checkpoint: which tensors it holds. No tensor is made, torch is not imported, and nothing in it is run."""

from __future__ import annotations

import hashlib
import mmap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from imlp_audit.checkpoint.container import (
    Container,
    Identity,
    OpenFile,
    RefusedError,
    escape_name,
    find_kind,
    name_in_errors,
    open_file,
)
from imlp_audit.checkpoint.pickles import Content, TensorInfo, read_shape
from imlp_audit.checkpoint.states import State, find_state, find_states
from imlp_audit.checkpoint.torch_file import read_legacy, read_zip

LONGEST_HEADER = 4 << 20
BUFFERS = (
    "running_mean", "running_var", "num_batches_tracked", "n_averaged", "relative_position_index", "attn_mask",
    "relative_coords_table", "attention_bias_idxs", "position_ids",
)  # fmt: skip
_SAFETENSORS_TYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
    "U16": "uint16", "I16": "int16", "F16": "float16", "BF16": "bfloat16", "U32": "uint32", "I32": "int32",
    "F32": "float32", "U64": "uint64", "I64": "int64", "F64": "float64", "C64": "complex64",
}  # fmt: skip


def _read_header(path: Path, data: mmap.mmap) -> Content:
    """Return the tensors that a safetensors file holds. Raises RefusedError if its header is not true of the file."""
    from safetensors import SafetensorError, safe_open  # only where models are read

    size = int.from_bytes(data[:8], "little")
    if size > LONGEST_HEADER:
        raise RefusedError(f"has a header of {size} bytes; the limit is {LONGEST_HEADER}; download or split the file")
    try:
        with safe_open(path, "numpy") as file:  # with torch it would import torch
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            return Content({name: _describe(name, one.get_shape(), one.get_dtype()) for name, one in slices.items()})
    except SafetensorError as error:
        why = escape_name(str(error).removeprefix("Error while deserializing header: "))
        raise RefusedError(f"is not a complete safetensors file: {why}; download it or save it again") from error


def _describe(name: str, sizes: list[int], dtype: str) -> TensorInfo:
    if (shape := read_shape(sizes)) is None:
        raise RefusedError(f"holds {escape_name(name)} with an impossible shape; save it again")
    if dtype not in _SAFETENSORS_TYPES:
        raise RefusedError(
            f"holds {escape_name(name)} in the unsupported type {escape_name(dtype)}; save it as F32, F16 or BF16"
        )
    return TensorInfo(shape, _SAFETENSORS_TYPES[dtype], name)


@dataclass(frozen=True)
class Checkpoint:
    """Parsed weights: the file they are in, as it was then, its kind, and the state that was chosen from it.

    Files are parsed once, and this record is passed on. `spans` are the bytes of each storage in the file.
    """

    path: Path
    identity: Identity
    container: Container
    spans: Mapping[str, range]
    state: State

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor."""
        return {name: info.shape for name, info in self.state.tensors.items()}

    @property
    def dtypes(self) -> Mapping[str, int]:
        """How many tensors have each type of numbers, the most frequent first."""
        return dict(Counter(info.dtype for info in self.state.tensors.values()).most_common())

    @property
    def parameters(self) -> int:
        """How many numbers its parameters have: all but those of tensors that are named as buffers are."""
        return sum(info.numel for info in self.state.tensors.values()) - self.buffers

    @property
    def buffers(self) -> int:
        """How many numbers its buffers have, such as the statistics of batch norms."""
        tensors = self.state.tensors.items()
        return sum(info.numel for name, info in tensors if name.rpartition(".")[2] in BUFFERS)


def parse_states(path: Path, state: str | None = None, prefix: str = "") -> tuple[Checkpoint, ...]:
    """Parse a checkpoint once, and return it with each of its states, or only with the one that is named.

    Of the names only those that begin with `prefix` count. Raises CheckpointError for a file that cannot be used:
    another kind of file, a damaged one, or one that claims more than it holds or whose tensors are not plain.
    """
    with name_in_errors(path), open_file(path) as opened:
        kind = find_kind(opened.data)
        content = _read_content(path, opened, kind)
        states = find_states(content.tree, prefix, state)
        chosen = states if state is None else [find_state(states, state)]
    return tuple(Checkpoint(path, opened.identity, kind, content.spans, one) for one in chosen)


def _read_content(path: Path, opened: OpenFile, kind: Container) -> Content:
    match kind:
        case Container.SAFETENSORS:
            return _read_header(path, opened.data)
        case Container.TORCH:
            return read_zip(opened)
        case Container.LEGACY_TORCH:
            return read_legacy(opened.data)
        case _:
            assert_never(kind)


def check_kind(path: Path) -> None:
    """Raise CheckpointError for a file that does not exist or is of another kind, which takes no time to see."""
    with name_in_errors(path), open_file(path) as opened:
        find_kind(opened.data)


def hash_file(checkpoint: Checkpoint) -> str:
    """Return the SHA-256 of a checkpoint's file. Raises CheckpointError, also if it has changed since it was parsed."""
    with name_in_errors(checkpoint.path), open_file(checkpoint.path) as opened:
        check_unchanged(opened, checkpoint)
        return hashlib.file_digest(opened.file, "sha256").hexdigest()


def check_unchanged(opened: OpenFile, checkpoint: Checkpoint) -> None:
    """Raise RefusedError if a file is not the one that was parsed."""
    if opened.identity != checkpoint.identity:
        raise RefusedError("changed while it was being read; run the command again")
