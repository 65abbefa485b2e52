"""What a file that torch.save wrote claims to hold, and whether it has the bytes for it."""

from __future__ import annotations

import mmap
from collections.abc import Collection, Mapping
from io import BytesIO

from imlp_audit.checkpoint.container import OpenFile
from imlp_audit.checkpoint.pickle_machine import LARGEST_PICKLE, Machine, Storage
from imlp_audit.checkpoint.refusal import RefusedError, escape_name
from imlp_audit.checkpoint.tensors import (
    Content,
    StorageSpan,
    ZipMember,
)
from imlp_audit.checkpoint.zip_archive import find_corrupt, read_members

_AGAIN = "download it or save it again"


def read_zip(opened: OpenFile) -> Content:
    """Return what a file of torch 1.6 or later holds. Raises RefusedError."""
    members = read_members(opened)
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
