"""Parses a checkpoint: which tensors it holds. No tensor is made, torch is not imported, and nothing in it is run."""

from __future__ import annotations

import hashlib
import json
import mmap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import assert_never

from imlp_audit.checkpoint.container import Container, OpenFile, find_kind, open_file
from imlp_audit.checkpoint.refusal import RefusedError, escape_name, name_in_errors
from imlp_audit.checkpoint.states import State, find_state, find_states
from imlp_audit.checkpoint.tensors import (
    BYTES,
    MOST_TENSORS,
    Content,
    Identity,
    StorageView,
    TensorInfo,
    read_shape,
)
from imlp_audit.checkpoint.torch_file import read_legacy, read_zip

LONGEST_HEADER = 4 << 20
_SAFETENSORS_TYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
    "U16": "uint16", "I16": "int16", "F16": "float16", "BF16": "bfloat16", "U32": "uint32", "I32": "int32",
    "F32": "float32", "U64": "uint64", "I64": "int64", "F64": "float64", "C64": "complex64",
}  # fmt: skip


def read_header(data: mmap.mmap) -> Content:
    """Return the tensors that a safetensors file holds, and the bytes of each.

    Raises RefusedError if its header is not true of the file.
    """
    size = int.from_bytes(data[:8], "little")
    if size > len(data) - 8:
        raise _incomplete(f"its header claims {size} bytes, and the file has {len(data)}")
    if size > LONGEST_HEADER:
        raise RefusedError(f"has a header of {size} bytes; the limit is {LONGEST_HEADER}; split the file")
    entries = _parse_header(data[8 : 8 + size])
    entries.pop("__metadata__", None)
    tensors = {name: _read_entry(name, entry) for name, entry in entries.items()}
    _check_filled([span for _, span in tensors.values()], len(data) - 8 - size)
    at = 8 + size
    spans = {name: range(at + begin, at + end) for name, (_, (begin, end)) in tensors.items()}
    return Content({name: info for name, (info, _) in tensors.items()}, spans)


def _incomplete(why: str) -> RefusedError:
    return RefusedError(f"is not a complete safetensors file: {why}; download it or save it again")


def _parse_header(header: bytes) -> dict[str, object]:
    if max(header.count(b"{"), header.count(b"[") // 2) > MOST_TENSORS + 2:  # before seconds are spent on parsing them
        raise RefusedError(f"has a header with more tables than {MOST_TENSORS} tensors have, the limit; split the file")
    try:
        entries = json.loads(header.decode("utf-8"), object_pairs_hook=_unique)
    except RecursionError as error:
        raise _incomplete("its header is nested too deeply") from error
    except ValueError as error:
        raise _incomplete("its header is not JSON") from error
    if not isinstance(entries, dict):
        raise _incomplete("its header is not a table of tensors")
    return entries


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise _incomplete("its header names a tensor twice")
    return table


def _read_entry(name: str, entry: object) -> tuple[TensorInfo, tuple[int, int]]:
    """Return a tensor and its place in the bytes after the header."""
    if not isinstance(entry, Mapping) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise _incomplete(f"{escape_name(name)} is not described by exactly dtype, shape and data_offsets")
    shape, span, dtype = read_shape(entry["shape"]), read_shape(entry["data_offsets"]), entry["dtype"]
    if shape is None or span is None or len(span) != 2:
        raise _incomplete(f"{escape_name(name)} has a shape or offsets with impossible numbers, or too many of them")
    if not isinstance(dtype, str) or dtype not in _SAFETENSORS_TYPES:
        raise RefusedError(
            f"holds {escape_name(name)} in the unsupported type {escape_name(dtype)}; save it as F32, F16 or BF16"
        )
    strides = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
    info = TensorInfo(shape, _SAFETENSORS_TYPES[dtype], StorageView(name, 0, strides))
    if info.numel * BYTES[info.dtype] != span[1] - span[0]:
        raise _incomplete(f"{escape_name(name)} claims {info.numel} numbers of {dtype} in {span[1] - span[0]} bytes")
    return info, (span[0], span[1])


def _check_filled(spans: list[tuple[int, int]], size: int) -> None:
    """Raise RefusedError unless the tensors fill the bytes after the header, without gaps or overlaps."""
    at = 0
    for begin, end in sorted(spans):
        if begin != at:
            raise _incomplete("its tensors overlap" if begin < at else "there are bytes between its tensors")
        at = end
    if at != size:
        raise _incomplete(f"its tensors take {at} bytes, and {size} follow the header")


BUFFERS = (
    "running_mean", "running_var", "num_batches_tracked", "n_averaged", "relative_position_index", "attn_mask",
    "relative_coords_table", "attention_bias_idxs", "position_ids",
)  # fmt: skip


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
        content = _read_content(opened, kind)
        states = find_states(content.tree, prefix, state)
        chosen = states if state is None else [find_state(states, state)]
    return tuple(Checkpoint(path, opened.identity, kind, content.spans, one) for one in chosen)


def _read_content(opened: OpenFile, kind: Container) -> Content:
    match kind:
        case Container.SAFETENSORS:
            return read_header(opened.data)
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
