"""What a file that torch.save wrote claims to hold, and whether it has the bytes for it.

A zip archive has its members uncompressed, one after the other. The standard `zipfile` parses the directory. It and
torch's own reader accept more than torch.save writes: bytes before the archive, records that disagree, members that
overlap. Any archive that two readers could take for two different things is refused, so that what is checked here is
what torch reads.
"""

from __future__ import annotations

import mmap
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from itertools import pairwise
from struct import Struct

from imlp_audit.checkpoint.container import OpenFile, refuse_foreign
from imlp_audit.checkpoint.pickle_machine import LARGEST_PICKLE, Machine, Storage
from imlp_audit.checkpoint.refusal import RefusedError, escape_name
from imlp_audit.checkpoint.tensors import Content, ZipMember

MOST_MEMBERS = 50_000
_AGAIN = "download it or save it again"
_LONGEST_NAME = 512
_CHUNK = 1 << 20
_ENTRY_SIZE = 46  # of the directory, before its name, extra field and comment
_ENTRY = b"PK\x01\x02"
_FULL = 0xFFFFFFFF  # stands for a number that is given in 64 bits elsewhere
_SATURATED = (0xFFFF, _FULL, _FULL)
_LOCAL = Struct("<4s5H3L2H")
_END = Struct("<4s4H2LH")
_LOCATOR = Struct("<4sLQL")
_END64 = Struct("<4sQ2H2L4Q")


def read_members(opened: OpenFile) -> dict[str, ZipMember]:
    """Return the members by name. Raises RefusedError for an archive that torch.save did not write."""
    count, offset, size = _find_directory(opened.data)
    infos = _parse_directory(opened, count, offset, size)
    refuse_foreign([info.orig_filename for info in infos])
    members = [_check_member(opened.data, info, offset) for info in infos]
    for one, other in pairwise(sorted(members, key=lambda member: member.name.casefold())):
        if one.name.casefold() == other.name.casefold():
            raise RefusedError(f"is an archive with two files named {escape_name(other.name)}; save the weights again")
    for one, following in pairwise(sorted(members, key=lambda member: member.header)):
        if one.end > following.header:
            raise _refusal(f"{escape_name(one.name)} and {escape_name(following.name)} overlap")
    return {member.name: member for member in members}


def _parse_directory(opened: OpenFile, count: int, offset: int, size: int) -> list[zipfile.ZipInfo]:
    """Return the entries of the directory, whose place and size the records at the end give."""
    if max(count, opened.data[offset : offset + size].count(_ENTRY)) > MOST_MEMBERS:  # parsing more takes seconds
        raise RefusedError(
            f"is an archive of more than {MOST_MEMBERS} files; save model.state_dict() alone, with safetensors"
        )
    try:
        with zipfile.ZipFile(opened.file, metadata_encoding="utf-8") as archive:
            infos = archive.infolist()
    except UnicodeDecodeError as error:
        raise _refusal("a file name in it is not UTF-8 text") from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise _refusal(escape_name(error)) from error
    if len(infos) != count:
        raise _refusal(f"the record at its end claims {count} files, and its directory lists {len(infos)}")
    for info in infos[-1:]:  # zipfile takes what there is of an entry that is cut off
        lengths = (len(info.orig_filename.encode()), len(info.extra), len(info.comment))
        if lengths != struct.unpack_from("<3H", opened.data, offset + size - sum(lengths) - _ENTRY_SIZE + 28):
            raise _refusal("the last entry of its directory is cut off")
    return infos


def _check_member(data: mmap.mmap, info: zipfile.ZipInfo, directory: int) -> ZipMember:
    """Return the member that an entry of the directory describes."""
    name = _check_name(info.orig_filename)
    shown = escape_name(name)
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
        how = "an encrypted" if info.flag_bits & 1 else "a compressed"
        raise RefusedError(f"has {how} file ({shown}), which torch.save never writes; save the weights again")
    if info.file_size != info.compress_size:
        raise _refusal(f"{shown} has two sizes, {info.file_size} and {info.compress_size} bytes")
    start = _find_start(data, info.header_offset, name.encode(), directory)
    if start + info.file_size > directory:
        raise _refusal(f"{shown} claims {info.file_size} bytes, more than the archive has")
    return ZipMember(name, info.header_offset, start, info.file_size, info.CRC)


def _check_name(name: str) -> str:
    """Return a member's name, which must be that of a file below the archive's folder."""
    tricky = "\\" in name or ":" in name or not name.isprintable() or len(name) > _LONGEST_NAME
    if tricky or any(part in ("", ".", "..") for part in name.split("/")):
        raise RefusedError(
            f"is an archive with a file named {escape_name(name)}, which torch.save never writes; do not use it"
        )
    return name


def _find_start(data: mmap.mmap, header: int, name: bytes, directory: int) -> int:
    """Return where a member's bytes begin: after its own header, which must agree with the directory."""
    if header + _LOCAL.size > directory:
        raise _refusal("a file in it begins after its end")
    signature, _, flags, method, *_, named, extra = _LOCAL.unpack_from(data, header)
    at = header + _LOCAL.size
    if signature != b"PK\x03\x04" or method or flags & 1 or data[at : at + named] != name:
        raise _refusal("a file in it and its directory disagree")
    return int(at + named + extra)


def _find_directory(data: mmap.mmap) -> tuple[int, int, int]:
    """Return how many entries the directory has, where it begins and its size, by the records at the end."""
    end = len(data) - _END.size
    if end < 0 or data[end : end + 4] != b"PK\x05\x06":
        raise _refusal("it does not end with the directory of its files")
    _, disk, first, here, count, size, offset, comment = _END.unpack_from(data, end)
    if disk or first or here != count or comment:
        raise _refusal("torch does not write a record such as the one at its end")
    at = end - _LOCATOR.size
    if at >= 0 and data[at : at + 4] == b"PK\x06\x07":
        narrow = (count, offset, size)
        end, (count, offset, size) = _find_directory64(data, at)
        if any(n not in pair for n, *pair in zip(narrow, (count, offset, size), _SATURATED, strict=True)):
            raise _refusal("the two records at its end disagree")
    if offset + size != end:
        raise _refusal("its directory is not where the record at its end says")
    if count * _ENTRY_SIZE > size:
        raise _refusal(f"a directory of {size} bytes has no room for {count} files")
    return count, offset, size


def _find_directory64(data: mmap.mmap, locator: int) -> tuple[int, tuple[int, int, int]]:
    _, disk, at, disks = _LOCATOR.unpack_from(data, locator)
    if disk or disks > 1 or at + _END64.size != locator or data[at : at + 4] != b"PK\x06\x06":
        raise _refusal("its 64-bit record is not where it should be")
    *_, here, count, size, offset = _END64.unpack_from(data, at)
    if here != count:
        raise _refusal("it is one of several volumes")
    return at, (count, offset, size)


def find_corrupt(data: mmap.mmap, members: Iterable[ZipMember]) -> Iterator[str]:
    """Yield the names of members whose bytes do not have their checksum."""
    for member in members:
        crc = 0
        for at in range(member.start, member.end, _CHUNK):
            crc = zlib.crc32(data[at : min(at + _CHUNK, member.end)], crc)
        if member.crc and crc != member.crc:
            yield member.name


def _refusal(why: str) -> RefusedError:
    return RefusedError(f"is a zip archive that is truncated, corrupt or changed: {why}; download it or save it again")


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
    for corrupt in find_corrupt(opened.data, members.values()):  # which torch does not look for
        raise RefusedError(f"is corrupt: {escape_name(corrupt)} is not as it was written; download it again")
    return Content(tree, spans)


def _find_root(members: Mapping[str, ZipMember]) -> str:
    """Return the one folder that all files of the archive are in."""
    roots = {name.partition("/")[0] for name in members}
    root = next(iter(roots), "")
    if len(roots) != 1 or f"{root}/data.pkl" not in members:
        raise RefusedError("is a zip archive that torch.save did not write; unpack it and give the file inside")
    return root


def _find_span(storage: Storage, member: ZipMember | None) -> range:
    """Return the bytes of a storage, which must be as many as it claims."""
    if member is None or member.size != storage.size:
        has = "none" if member is None else str(member.size)
        raise RefusedError(
            f"claims {storage.size} bytes for the numbers {escape_name(storage.key)} and has {has}: it is truncated or "
            f"forged; {_AGAIN}"
        )
    return range(member.start, member.end)


def read_legacy(data: mmap.mmap) -> Content:
    """Return what a file of torch before 1.6 holds: five pickles, then the numbers. Raises RefusedError."""
    file = BytesIO(data[:LARGEST_PICKLE])
    machine = Machine(legacy=True)
    _, version, system = (machine.read(file) for _ in range(3))
    if version != 1001 or not isinstance(system, dict) or system.get("little_endian") is not True:
        raise RefusedError(f"was written by an unknown version of torch, or on a big-endian machine; {_AGAIN}")
    return Content(machine.read(file), _find_numbers(data, file, machine))


def _find_numbers(data: mmap.mmap, file: BytesIO, machine: Machine) -> dict[str, range]:
    """Return the bytes of each storage. Raises RefusedError unless these, and nothing else, follow the pickles."""
    storages = {storage.key: storage for storage in machine.storages}
    listed = Machine().read(file)
    keys = [key for key in listed if isinstance(key, str)] if isinstance(listed, list) else []
    if keys != listed or sorted(keys) != sorted(storages) or len(storages) < len(machine.storages):
        raise RefusedError(f"lists other numbers than its tensors use; {_AGAIN}")
    at, spans = file.tell(), {}
    for key in keys:
        count = int.from_bytes(data[at : at + 8], "little")
        if count != storages[key].numel:
            raise RefusedError(
                f"claims {storages[key].numel} numbers for {escape_name(key)} and has {count}: it is truncated or "
                f"forged; {_AGAIN}"
            )
        spans[key] = range(at + 8, at + 8 + storages[key].size)
        at = spans[key].stop
    if at != len(data):
        raise RefusedError(f"should be {at} bytes long and has {len(data)}: it is truncated or forged; {_AGAIN}")
    return spans
