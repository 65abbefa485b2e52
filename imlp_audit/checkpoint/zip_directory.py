"""The members of a zip archive as torch.save writes it: stored whole, one after the other, nothing left to tell twice.

Everything that two readers of zip files could take for two different things is refused, so that what is checked here
is what torch reads.
"""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from struct import Struct

from imlp_audit.checkpoint.refusal import RefusedError, shown
from imlp_audit.checkpoint.zip_end import ENTRY, FULL, broken, directory

MOST_MEMBERS = 50_000
_LONGEST_NAME = 512
_CHUNK = 1 << 20
_LOCAL = Struct("<4s5H3L2H")


@dataclass(frozen=True)
class Member:
    """A file of the archive: where its bytes are, and their CRC-32, 0 where none was made."""

    name: str
    header: int
    start: int
    size: int
    crc: int

    @property
    def end(self) -> int:
        """Where its bytes end."""
        return self.start + self.size


def members(data: mmap.mmap) -> dict[str, Member]:
    """Return the members by name. Raises RefusedError for an archive that torch.save did not write whole."""
    count, offset, size = directory(data)
    if count > MOST_MEMBERS:
        told = f"is an archive of {count} files, and {MOST_MEMBERS} are the most that are read"
        raise RefusedError(f"{told}; save model.state_dict() alone, with safetensors")
    entries = data[offset : offset + size]
    found: dict[str, Member] = {}
    folded: set[str] = set()
    at = 0
    for _ in range(count):
        member, at = _member(data, entries, at, offset)
        if member.name.casefold() in folded:
            raise RefusedError(f"is an archive with two files named {shown(member.name)}; save the weights again")
        folded.add(member.name.casefold())
        found[member.name] = member
    if at != size:
        raise broken("its directory is longer than its entries")
    _check_apart(found)
    return found


def _member(data: mmap.mmap, entries: bytes, at: int, end: int) -> tuple[Member, int]:
    """Return the member that an entry describes, and where the next entry begins."""
    if at + ENTRY.size > len(entries):
        raise broken("an entry of its directory is cut off")
    entry = ENTRY.unpack_from(entries, at)
    signature, _, _, flags, method, _, _, crc, packed, size, named, extra, comment, _, _, _, header = entry
    name_at = at + ENTRY.size
    raw, told = entries[name_at : name_at + named], entries[name_at + named : name_at + named + extra]
    if signature != b"PK\x01\x02" or len(told) < extra:
        raise broken("an entry of its directory is none")
    name = _name(raw)
    if method or flags & 1:
        how = "encrypted" if flags & 1 else "compressed"
        raise RefusedError(f"has {how} files ({shown(name)}), which torch.save never writes; save the weights again")
    size, packed, header = _wide(told, size, packed, header)
    if size != packed:
        raise broken(f"{shown(name)} is told to be {size} and {packed} bytes long")
    start = _start(data, header, raw, end)
    if start + size > end:
        raise broken(f"{shown(name)} claims {size} bytes, more than the archive has for it")
    return Member(name, header, start, size, crc), name_at + named + extra + comment


def _name(raw: bytes) -> str:
    """Return a member's name, which must be one of a file below the archive's folder."""
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise broken("a name in it is no text") from error
    tricky = "\\" in name or ":" in name or not name.isprintable() or len(name) > _LONGEST_NAME
    if tricky or any(part in ("", ".", "..") for part in name.split("/")):
        raise RefusedError(
            f"is an archive with a file named {shown(name)}, which torch.save never writes; do not use it"
        )
    return name


def _wide(extra: bytes, *numbers: int) -> list[int]:
    """Return the numbers of an entry, those that need 64 bits from its extra field."""
    if FULL not in numbers:
        return list(numbers)
    at = 0
    while at + 4 <= len(extra):
        kind, size = int.from_bytes(extra[at : at + 2], "little"), int.from_bytes(extra[at + 2 : at + 4], "little")
        if kind == 1 and size == 8 * numbers.count(FULL) and at + 4 + size <= len(extra):
            wide = iter(range(at + 4, at + 4 + size, 8))
            return [int.from_bytes(extra[(w := next(wide)) : w + 8], "little") if n == FULL else n for n in numbers]
        at += 4 + size
    raise broken("an entry of its directory lacks its 64-bit sizes")


def _start(data: mmap.mmap, header: int, raw: bytes, end: int) -> int:
    """Return where a member's bytes begin, after its own header, which must agree with the directory."""
    if header + _LOCAL.size > end:
        raise broken("a file in it begins behind its end")
    signature, _, flags, method, *_, named, extra = _LOCAL.unpack_from(data, header)
    at = header + _LOCAL.size
    if signature != b"PK\x03\x04" or method or flags & 1 or data[at : at + named] != raw:
        raise broken("a file in it and its directory disagree")
    return int(at + named + extra)


def _check_apart(found: dict[str, Member]) -> None:
    ordered = sorted(found.values(), key=lambda member: member.header)
    for one, following in pairwise(ordered):
        if one.end > following.header:
            raise broken(f"{shown(one.name)} and {shown(following.name)} overlap")


def corrupt_members(data: mmap.mmap, found: dict[str, Member]) -> Iterator[str]:
    """Yield the names of members whose bytes are not those that their checksum was made of."""
    for member in found.values():
        crc = 0
        for at in range(member.start, member.end, _CHUNK):
            crc = zlib.crc32(data[at : min(at + _CHUNK, member.end)], crc)
        if member.crc and crc != member.crc:
            yield member.name
