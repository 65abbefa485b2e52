"""What a file that torch.save wrote says it holds, and whether it has the bytes for it."""

from __future__ import annotations

import mmap
from collections.abc import Collection, Mapping
from io import BytesIO

from imlp_audit.checkpoint.pickled import LARGEST_PICKLE, Machine
from imlp_audit.checkpoint.rebuilt import Storage
from imlp_audit.checkpoint.refusal import RefusedError, shown
from imlp_audit.checkpoint.zip_directory import Member, corrupt_members, members

_AGAIN = "download it or save it again"


def in_zip(data: mmap.mmap) -> object:
    """Return what the pickle of a file as torch has written it since 1.6 would make. Raises RefusedError."""
    found = members(data)
    root = _root(found)
    member = found[f"{root}/data.pkl"]
    if member.size > LARGEST_PICKLE:
        told = f"has a pickle of {member.size} bytes, and {LARGEST_PICKLE} are the most that is read"
        raise RefusedError(f"{told}; save model.state_dict() alone, with safetensors")
    if any(corrupt_members(data, {member.name: member})):
        raise RefusedError(f"has a pickle that is corrupt; {_AGAIN}")
    machine = Machine()
    made = machine.read(BytesIO(data[member.start : member.end]))
    for storage in machine.storages:
        _check_room(storage, found.get(f"{root}/data/{storage.key}"))
    return made


def _root(found: Mapping[str, Member]) -> str:
    """Return the one folder that all files of the archive lie in."""
    roots = {name.partition("/")[0] for name in found}
    root = next(iter(roots), "")
    if f"{root}/constants.pkl" in found or any(name.startswith(f"{root}/code/") for name in found):
        told = "is a TorchScript archive, which is a program; where you trust it, save torch.jit.load(...).state_dict()"
        raise RefusedError(f"{told} with safetensors")
    if len(roots) != 1 or f"{root}/data.pkl" not in found:
        keras = "model.weights.h5" in found
        told = "a Keras model" if keras else "a zip archive that torch.save did not write"
        do = "load it in Keras and save the weights with safetensors" if keras else "unpack it and give the file inside"
        raise RefusedError(f"is {told}; {do}")
    return root


def _check_room(storage: Storage, member: Member | None) -> None:
    if member is None or member.size != storage.size:
        there = "none" if member is None else f"{member.size}"
        told = f"claims {storage.size} bytes for the numbers {shown(storage.key)} and has {there}"
        raise RefusedError(f"{told}: it is truncated or made up; {_AGAIN}")


def in_a_row(data: mmap.mmap) -> object:
    """Return what the main pickle of a file as torch wrote it before 1.6 would make: five pickles, then the numbers.

    These are as safe as the others once every claim is held against the file: torch's safe unpickler reads them too,
    but makes all storages of the claimed sizes before it looks for their numbers. Raises RefusedError.
    """
    file = BytesIO(data[:LARGEST_PICKLE])
    machine = Machine(legacy=True)
    _, version, system = (machine.read(file) for _ in range(3))
    if version != 1001 or not isinstance(system, dict) or system.get("little_endian") is not True:
        raise RefusedError(f"was written by an unknown version of torch, or on a machine of another kind; {_AGAIN}")
    made = machine.read(file)
    _check_row(data, file, machine)
    return made


def _check_row(data: mmap.mmap, file: BytesIO, machine: Machine) -> None:
    """Raise RefusedError unless the numbers of every storage, and nothing else, follow the pickles."""
    storages = {storage.key: storage for storage in machine.storages}
    keys = Machine().read(file)
    if not isinstance(keys, list) or not _the_same(keys, storages) or len(storages) < len(machine.storages):
        raise RefusedError(f"lists other numbers than its tensors use; {_AGAIN}")
    at = file.tell()
    for key in keys:
        count = int.from_bytes(data[at : at + 8], "little")
        if count != storages[key].numel:
            told = f"claims {storages[key].numel} numbers for {shown(key)} and has {count}"
            raise RefusedError(f"{told}: it is truncated or made up; {_AGAIN}")
        at += 8 + storages[key].size
    if at != len(data):
        raise RefusedError(f"should be {at} bytes long and has {len(data)}: it is truncated or made up; {_AGAIN}")


def _the_same(keys: list[object], storages: Collection[str]) -> bool:
    texts = [key for key in keys if isinstance(key, str)]
    return len(texts) == len(keys) == len(storages) and set(texts) == set(storages)
