"""What a file that torch.save wrote claims to hold, and whether it has the bytes for it."""

from __future__ import annotations

import mmap
from collections.abc import Collection, Mapping
from io import BytesIO

from imlp_audit.checkpoint.container import OpenFile
from imlp_audit.checkpoint.pickle_globals import Storage
from imlp_audit.checkpoint.pickle_machine import LARGEST_PICKLE, Machine
from imlp_audit.checkpoint.refusal import RefusedError, escape_name
from imlp_audit.checkpoint.zip_archive import ZipMember, find_corrupt, read_members

_AGAIN = "download it or save it again"


def read_zip(opened: OpenFile) -> tuple[object, tuple[ZipMember, ...]]:
    """Return what the pickle of a file of torch 1.6 or later describes, and the archive's members.

    Raises RefusedError.
    """
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
    machine = Machine()
    content = machine.read(BytesIO(opened.data[member.start : member.end]))
    for storage in machine.storages:
        _check_room(storage, members.get(f"{root}/data/{storage.key}"))
    return content, tuple(members.values())


def _find_root(members: Mapping[str, ZipMember]) -> str:
    """Return the one folder that all files of the archive are in."""
    roots = {name.partition("/")[0] for name in members}
    root = next(iter(roots), "")
    if f"{root}/constants.pkl" in members or any(name.startswith(f"{root}/code/") for name in members):
        raise RefusedError(
            "is a TorchScript archive, which is a program; if you trust it, save torch.jit.load(...).state_dict() "
            "with safetensors"
        )
    if len(roots) != 1 or f"{root}/data.pkl" not in members:
        if "model.weights.h5" in members:
            raise RefusedError("is a Keras model; load it in Keras and save the weights with safetensors")
        raise RefusedError("is a zip archive that torch.save did not write; unpack it and give the file inside")
    return root


def _check_room(storage: Storage, member: ZipMember | None) -> None:
    size = None if member is None else member.size
    if size != storage.size:
        has = "none" if size is None else str(size)
        raise RefusedError(
            f"claims {storage.size} bytes for the numbers {escape_name(storage.key)} and has {has}: it is truncated or "
            f"forged; {_AGAIN}"
        )


def read_legacy(data: mmap.mmap) -> object:
    """Return what the main pickle of a file of torch before 1.6 describes: five pickles, then the numbers.

    Once every claim has been compared with the file, these are as safe as the others. torch's safe unpickler reads them
    too, but it makes all storages of the claimed sizes before it looks for their numbers. Raises RefusedError.
    """
    file = BytesIO(data[:LARGEST_PICKLE])
    machine = Machine(legacy=True)
    _, version, system = (machine.read(file) for _ in range(3))
    if version != 1001 or not isinstance(system, dict) or system.get("little_endian") is not True:
        raise RefusedError(f"was written by an unknown version of torch, or on a big-endian machine; {_AGAIN}")
    content = machine.read(file)
    _check_numbers(data, file, machine)
    return content


def _check_numbers(data: mmap.mmap, file: BytesIO, machine: Machine) -> None:
    """Raise RefusedError unless the numbers of every storage, and nothing else, follow the pickles."""
    storages = {storage.key: storage for storage in machine.storages}
    keys = Machine().read(file)
    if not isinstance(keys, list) or not _are_same(keys, storages) or len(storages) < len(machine.storages):
        raise RefusedError(f"lists other numbers than its tensors use; {_AGAIN}")
    at = file.tell()
    for key in keys:
        count = int.from_bytes(data[at : at + 8], "little")
        if count != storages[key].numel:
            raise RefusedError(
                f"claims {storages[key].numel} numbers for {escape_name(key)} and has {count}: it is truncated or "
                f"forged; {_AGAIN}"
            )
        at += 8 + storages[key].size
    if at != len(data):
        raise RefusedError(f"should be {at} bytes long and has {len(data)}: it is truncated or forged; {_AGAIN}")


def _are_same(keys: list[object], storages: Collection[str]) -> bool:
    texts = [key for key in keys if isinstance(key, str)]
    return len(texts) == len(keys) == len(storages) and set(texts) == set(storages)
