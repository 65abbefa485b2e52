"""What the header of a safetensors file claims, compared with the file before any tensor is read."""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from math import prod

from imlp_audit.checkpoint.refusal import RefusedError, escape_name
from imlp_audit.checkpoint.tensors import BYTES, MOST_TENSORS, StorageSpan, StorageView, TensorInfo, read_shape

LONGEST_HEADER = 4 << 20
_DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
    "U16": "uint16", "I16": "int16", "F16": "float16", "BF16": "bfloat16", "U32": "uint32", "I32": "int32",
    "F32": "float32", "U64": "uint64", "I64": "int64", "F64": "float64", "C64": "complex64",
}  # fmt: skip


def read_header(data: mmap.mmap) -> tuple[dict[str, TensorInfo], dict[str, StorageSpan]]:
    """Return the tensors that a safetensors file holds, and the bytes of each.

    Raises RefusedError if its header is not true of the file.
    """
    size = int.from_bytes(data[:8], "little")
    if size > len(data) - 8:
        raise _refusal(f"its header claims {size} bytes, and the file has {len(data)}")
    if size > LONGEST_HEADER:
        raise RefusedError(f"has a header of {size} bytes; the limit is {LONGEST_HEADER}; split the file")
    entries = _parse(data[8 : 8 + size])
    entries.pop("__metadata__", None)
    tensors = {name: _read_entry(name, entry) for name, entry in entries.items()}
    _check_filled([span for _, span in tensors.values()], len(data) - 8 - size)
    at = 8 + size
    spans = {name: StorageSpan(at + begin, at + end) for name, (_, (begin, end)) in tensors.items()}
    return {name: info for name, (info, _) in tensors.items()}, spans


def _refusal(why: str) -> RefusedError:
    return RefusedError(f"is not a complete safetensors file: {why}; download it or save it again")


def _parse(header: bytes) -> dict[str, object]:
    if max(header.count(b"{"), header.count(b"[") // 2) > MOST_TENSORS + 2:  # before seconds are spent on parsing them
        raise RefusedError(f"has a header with more tables than {MOST_TENSORS} tensors have, the limit; split the file")
    try:
        entries = json.loads(header.decode("utf-8"), object_pairs_hook=_unique)
    except RecursionError as error:
        raise _refusal("its header is nested too deeply") from error
    except ValueError as error:
        raise _refusal("its header is not JSON") from error
    if not isinstance(entries, dict):
        raise _refusal("its header is not a table of tensors")
    return entries


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise _refusal("its header names a tensor twice")
    return table


def _read_entry(name: str, entry: object) -> tuple[TensorInfo, tuple[int, int]]:
    """Return a tensor and its place in the bytes after the header."""
    if not isinstance(entry, Mapping) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise _refusal(f"{escape_name(name)} is not described by exactly dtype, shape and data_offsets")
    shape, span, dtype = read_shape(entry["shape"]), read_shape(entry["data_offsets"]), entry["dtype"]
    if shape is None or span is None or len(span) != 2:
        raise _refusal(f"{escape_name(name)} has a shape or offsets with impossible numbers, or too many of them")
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise RefusedError(
            f"holds {escape_name(name)} in the unsupported type {escape_name(dtype)}; save it as F32, F16 or BF16"
        )
    strides = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
    info = TensorInfo(shape, _DTYPES[dtype], StorageView(name, 0, strides))
    if info.numel * BYTES[info.dtype] != span[1] - span[0]:
        raise _refusal(f"{escape_name(name)} claims {info.numel} numbers of {dtype} in {span[1] - span[0]} bytes")
    return info, (span[0], span[1])


def _check_filled(spans: list[tuple[int, int]], size: int) -> None:
    """Raise RefusedError unless the tensors fill the bytes after the header, without gaps or overlaps."""
    at = 0
    for begin, end in sorted(spans):
        if begin != at:
            raise _refusal("its tensors overlap" if begin < at else "there are bytes between its tensors")
        at = end
    if at != size:
        raise _refusal(f"its tensors take {at} bytes, and {size} follow the header")
