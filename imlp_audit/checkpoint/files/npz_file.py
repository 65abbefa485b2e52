"""What the arrays of a numpy archive claim to be, compared with their bytes. No array of objects is accepted.

Flax's layers keep their kernels with the inputs first; such a kernel is seen here as torch has it, outputs first.
"""

from __future__ import annotations

import ast
import mmap
from collections.abc import Mapping
from math import prod

from imlp_audit.checkpoint.files.sources import Content
from imlp_audit.checkpoint.files.zip_archive import ZipMember
from imlp_audit.checkpoint.refusal import RefusedError, escape_name
from imlp_audit.checkpoint.tensors import BYTES, MOST_TENSORS, StorageSpan, StorageView, TensorInfo, read_shape

ENDING = ".npy"
_LONGEST_HEADER = 4096
_MAGIC = b"\x93NUMPY"
_DTYPES = {
    "|b1": "bool", "|u1": "uint8", "|i1": "int8", "<i2": "int16", "<i4": "int32", "<i8": "int64",
    "<f2": "float16", "<f4": "float32", "<f8": "float64",
}  # fmt: skip
_KERNEL = "/kernel"
_OUTPUTS_FIRST = {2: (1, 0), 4: (3, 2, 0, 1)}  # of a dense layer's kernel, and of a convolution's


def read_arrays(data: mmap.mmap, members: Mapping[str, ZipMember]) -> Content:
    """Return the arrays of a numpy archive by name. Raises RefusedError."""
    if len(members) > MOST_TENSORS:
        raise RefusedError(f"holds {len(members)} arrays; the limit is {MOST_TENSORS}; split the file")
    tree: dict[str, TensorInfo] = {}
    spans: dict[str, StorageSpan] = {}
    for member in members.values():
        name = member.name.removesuffix(ENDING)
        tree[name], spans[name] = _read_array(data, name, member)
    return Content(tree, spans, tuple(members.values()))


def _read_array(data: mmap.mmap, name: str, member: ZipMember) -> tuple[TensorInfo, StorageSpan]:
    head = data[member.start : min(member.end, member.start + 12)]
    wide = head[6:7] != b"\x01"
    start = member.start + (12 if wide else 10)
    length = int.from_bytes(head[8 : 12 if wide else 10], "little")
    if head[:6] != _MAGIC or length > _LONGEST_HEADER or start + length > member.end:
        raise _refusal(name, "does not begin as an array")
    dtype, shape, columns_first = _parse(name, data[start : start + length])
    if prod(shape) * BYTES[dtype] != member.end - start - length:
        raise _refusal(name, f"claims {prod(shape)} numbers in {member.end - start - length} bytes")
    sizes = shape[::-1] if columns_first else shape
    strides = tuple(prod(sizes[axis + 1 :]) for axis in range(len(sizes)))
    strides = strides[::-1] if columns_first else strides
    order = _OUTPUTS_FIRST.get(len(shape)) if f"/{name}".endswith(_KERNEL) else None
    if order is not None:
        shape, strides = tuple(shape[axis] for axis in order), tuple(strides[axis] for axis in order)
    return TensorInfo(shape, dtype, StorageView(name, 0, strides)), StorageSpan(start + length, member.end)


def _parse(name: str, header: bytes) -> tuple[str, tuple[int, ...], bool]:
    """Return the type of the numbers, the shape, and whether the first axis runs fastest."""
    try:
        found = ast.literal_eval(header.decode("latin-1").strip())
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise _refusal(name, "has a header that is no table") from error
    if not isinstance(found, dict) or set(found) != {"descr", "fortran_order", "shape"}:
        raise _refusal(name, "is not described by descr, fortran_order and shape")
    shape, kind, columns_first = read_shape(found["shape"]), found["descr"], found["fortran_order"]
    if shape is None or not isinstance(columns_first, bool):
        raise _refusal(name, "has an impossible shape")
    if not isinstance(kind, str) or kind not in _DTYPES:
        raise RefusedError(
            f"holds {escape_name(name)} in the unsupported type {escape_name(kind)}; save it as float32 or float16"
        )
    return _DTYPES[kind], shape, columns_first


def _refusal(name: str, why: str) -> RefusedError:
    return RefusedError(f"is a numpy archive that is damaged: {escape_name(name)} {why}; download it or save it again")
