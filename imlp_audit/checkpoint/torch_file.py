"""What a file that torch.save wrote claims to hold, and whether it has the bytes for it.

A zip archive has its members uncompressed, one after the other. The standard `zipfile` parses its directory; an archive
in which two readers could find different members, or in which members share bytes, is refused.
"""

from __future__ import annotations

import mmap
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise

from imlp_audit.checkpoint.container import OpenFile, RefusedError, escape_name, refuse_foreign
from imlp_audit.checkpoint.pickles import LARGEST_PICKLE, Content, PickleReader, Storage

_LARGEST_DIRECTORY = 4 << 20  # bytes: 50,000 files; parsing more takes seconds
_AGAIN = "download it or save it again"
_CHUNK = 1 << 20
_HEADER = 30  # bytes before the name
_END = struct.Struct("<4s4H2LH")


@dataclass(frozen=True)
class ZipMember:
    """A file of the archive: where its header and its bytes are, and their CRC-32, 0 where none was made."""

    name: str
    header: int
    start: int
    size: int
    crc: int

    @property
    def end(self) -> int:
        """Where its bytes end."""
        return self.start + self.size


def _read_members(opened: OpenFile) -> dict[str, ZipMember]:
    """Return the members by name. Raises RefusedError for an archive that torch.save did not write."""
    infos = _parse_directory(opened)
    refuse_foreign([info.filename for info in infos])
    members = [_check_member(opened.data, info) for info in infos]
    for one, following in pairwise(sorted(members, key=lambda member: member.header)):
        if one.end > following.header:
            raise _refusal(f"{escape_name(one.name)} and {escape_name(following.name)} overlap")
    by_name = {member.name: member for member in members}
    if len(by_name) < len(members) or min(member.header for member in members):
        raise _refusal("it has a name twice, or does not begin with its first file")
    return by_name


def _parse_directory(opened: OpenFile) -> list[zipfile.ZipInfo]:
    """Return the entries of the directory, of which the record at the end gives number and size."""
    magic, disk, _, _, count, size, _, _ = _END.unpack_from(opened.data[-_END.size :].ljust(_END.size))
    if magic != b"PK\x05\x06" or disk:
        raise _refusal("it does not end with the record that torch writes")
    if size > _LARGEST_DIRECTORY:
        raise RefusedError("is an archive of too many files; save model.state_dict() alone, with safetensors")
    try:
        with zipfile.ZipFile(opened.file, metadata_encoding="utf-8") as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise _refusal(escape_name(error)) from error
    if count not in (len(infos), 0xFFFF):  # the latter stands for a number that is given in 64 bits elsewhere
        raise _refusal(f"the record at its end claims {count} files, and its directory lists {len(infos)}")
    return infos


def _check_member(data: mmap.mmap, info: zipfile.ZipInfo) -> ZipMember:
    """Return the member that an entry of the directory describes, and its own header, which must agree."""
    name, header = info.orig_filename, info.header_offset
    shown = escape_name(name)
    if not name.isprintable() or ".." in name.split("/"):
        raise RefusedError(f"is an archive with a file named {shown}, which torch.save never writes; do not use it")
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.file_size != info.compress_size:
        raise RefusedError(f"has a compressed or encrypted file ({shown}), as torch.save never does; save it again")
    start = header + _HEADER
    fields = data[header:start]
    named = start + len(name.encode())
    if len(fields) < _HEADER or fields[:4] != b"PK\x03\x04":
        raise _refusal(f"{shown} begins where no file does")
    if data[start:named] != name.encode() or int.from_bytes(fields[26:28], "little") != named - start:
        raise _refusal(f"its directory and {shown} disagree")
    member = ZipMember(name, header, named + int.from_bytes(fields[28:30], "little"), info.file_size, info.CRC)
    if member.end > len(data):
        raise _refusal(f"{shown} claims {member.size} bytes, more than the archive has")
    return member


def _find_corrupt(data: mmap.mmap, members: Iterable[ZipMember]) -> Iterator[str]:
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
    members = _read_members(opened)
    root = next(iter(members)).partition("/")[0]
    member = members.get(f"{root}/data.pkl")
    if member is None or any(not name.startswith(f"{root}/") for name in members):
        raise RefusedError("is a zip archive that torch.save did not write; unpack it and give the file inside")
    if member.size > LARGEST_PICKLE:
        raise RefusedError(
            f"has a pickle of {member.size} bytes; the limit is {LARGEST_PICKLE}; save model.state_dict() alone, "
            "with safetensors"
        )
    order = members.get(f"{root}/byteorder")
    if order is not None and opened.data[order.start : order.end] != b"little":
        raise RefusedError(f"was written on a big-endian machine; {_AGAIN}")
    for corrupt in _find_corrupt(opened.data, members.values()):  # which torch does not look for
        raise RefusedError(f"is corrupt: {escape_name(corrupt)} is not as it was written; {_AGAIN}")
    reader = PickleReader(BytesIO(opened.data[member.start : member.end]))
    tree = reader.read_next()
    return Content(tree, {one.key: _find_span(one, members.get(f"{root}/data/{one.key}")) for one in reader.storages})


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
    reader = PickleReader(file, legacy=True)
    _, version, system = (reader.read_next() for _ in range(3))
    if version != 1001 or not isinstance(system, dict) or system.get("little_endian") is not True:
        raise RefusedError(f"was written by an unknown version of torch, or on a big-endian machine; {_AGAIN}")
    return Content(reader.read_next(), _find_numbers(data, file, reader))


def _find_numbers(data: mmap.mmap, file: BytesIO, reader: PickleReader) -> dict[str, range]:
    """Return the bytes of each storage. Raises RefusedError unless these, and nothing else, follow the pickles."""
    storages = {storage.key: storage for storage in reader.storages}
    listed = PickleReader(file).read_next()
    keys = [key for key in listed if isinstance(key, str)] if isinstance(listed, list) else []
    if keys != listed or sorted(keys) != sorted(storages) or len(storages) < len(reader.storages):
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
