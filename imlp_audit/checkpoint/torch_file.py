"""What a file that torch.save wrote claims to hold, and whether it has the bytes for it."""

from __future__ import annotations

import ast
import mmap
from collections.abc import Collection, Mapping
from io import BytesIO
from math import prod

from imlp_audit.checkpoint.container import OpenFile, is_numpy
from imlp_audit.checkpoint.pickle_machine import LARGEST_PICKLE, Machine, Storage
from imlp_audit.checkpoint.refusal import RefusedError, escape_name
from imlp_audit.checkpoint.tensors import (
    BYTES,
    MOST_TENSORS,
    Content,
    StorageSpan,
    StorageView,
    TensorInfo,
    ZipMember,
    read_shape,
)
from imlp_audit.checkpoint.zip_archive import find_corrupt, read_members

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


_AGAIN = "download it or save it again"


def read_zip(opened: OpenFile) -> Content:
    """Return what a file of torch 1.6 or later, or a numpy archive, holds. Raises RefusedError."""
    members = read_members(opened)
    if is_numpy(members):
        return read_arrays(opened.data, members)
    root = _find_root(members)
    member = members[f"{root}/data.pkl"]
    if member.size > LARGEST_PICKLE:
        raise RefusedError(
            f"has a pickle of {member.size} bytes; the limit is {LARGEST_PICKLE}; save model.state_dict() alone, "
            "with safetensors"
        )
    if any(find_corrupt(opened.data, [member])):
        raise RefusedError(f"has a pickle that is corrupt; {_AGAIN}")
    order = members.get(f"{root}/byteorder")
    if order is not None and opened.data[order.start : order.end] != b"little":
        raise RefusedError(f"was written on a big-endian machine; {_AGAIN}")
    machine = Machine()
    tree = machine.read(BytesIO(opened.data[member.start : member.end]))
    spans = {one.key: _find_span(one, members.get(f"{root}/data/{one.key}")) for one in machine.storages}
    return Content(tree, spans, tuple(members.values()))


def _find_root(members: Mapping[str, ZipMember]) -> str:
    """Return the one folder that all files of the archive are in."""
    roots = {name.partition("/")[0] for name in members}
    root = next(iter(roots), "")
    if len(roots) != 1 or f"{root}/data.pkl" not in members:
        raise RefusedError("is a zip archive that torch.save did not write; unpack it and give the file inside")
    return root


def _find_span(storage: Storage, member: ZipMember | None) -> StorageSpan:
    """Return the bytes of a storage, which must be as many as it claims."""
    if member is None or member.size != storage.size:
        has = "none" if member is None else str(member.size)
        raise RefusedError(
            f"claims {storage.size} bytes for the numbers {escape_name(storage.key)} and has {has}: it is truncated or "
            f"forged; {_AGAIN}"
        )
    return StorageSpan(member.start, member.end)


def read_legacy(data: mmap.mmap) -> Content:
    """Return what a file of torch before 1.6 holds: five pickles, then the numbers. Raises RefusedError."""
    file = BytesIO(data[:LARGEST_PICKLE])
    machine = Machine(legacy=True)
    _, version, system = (machine.read(file) for _ in range(3))
    if version != 1001 or not isinstance(system, dict) or system.get("little_endian") is not True:
        raise RefusedError(f"was written by an unknown version of torch, or on a big-endian machine; {_AGAIN}")
    return Content(machine.read(file), _find_numbers(data, file, machine))


def _find_numbers(data: mmap.mmap, file: BytesIO, machine: Machine) -> dict[str, StorageSpan]:
    """Return the bytes of each storage. Raises RefusedError unless these, and nothing else, follow the pickles."""
    storages = {storage.key: storage for storage in machine.storages}
    keys = Machine().read(file)
    if not isinstance(keys, list) or not _are_same(keys, storages) or len(storages) < len(machine.storages):
        raise RefusedError(f"lists other numbers than its tensors use; {_AGAIN}")
    at, spans = file.tell(), {}
    for key in map(str, keys):
        count = int.from_bytes(data[at : at + 8], "little")
        if count != storages[key].numel:
            raise RefusedError(
                f"claims {storages[key].numel} numbers for {escape_name(key)} and has {count}: it is truncated or "
                f"forged; {_AGAIN}"
            )
        spans[key] = StorageSpan(at + 8, at + 8 + storages[key].size)
        at = spans[key].end
    if at != len(data):
        raise RefusedError(f"should be {at} bytes long and has {len(data)}: it is truncated or forged; {_AGAIN}")
    return spans


def _are_same(keys: list[object], storages: Collection[str]) -> bool:
    texts = [key for key in keys if isinstance(key, str)]
    return len(texts) == len(keys) == len(storages) and set(texts) == set(storages)
