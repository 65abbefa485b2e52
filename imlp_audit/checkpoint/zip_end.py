"""The record at the end of a zip archive: where the directory of its files lies, told once, twice in large files."""

from __future__ import annotations

import mmap
from struct import Struct

from imlp_audit.checkpoint.refusal import RefusedError

ENTRY = Struct("<4s6H3L5H2L")
FULL = 0xFFFFFFFF  # stands for a number that is told in 64 bits elsewhere
_END = Struct("<4s4H2LH")
_LOCATOR = Struct("<4sLQL")
_END64 = Struct("<4sQ2H2L4Q")
_SATURATED = (0xFFFF, FULL, FULL)


def broken(why: str) -> RefusedError:
    """Return the error of an archive that is not as torch.save left it."""
    return RefusedError(f"is a zip archive that is truncated, corrupt or changed: {why}; download it or save it again")


def directory(data: mmap.mmap) -> tuple[int, int, int]:
    """Return the number of entries of the directory, its offset and its size. Raises RefusedError."""
    end = len(data) - _END.size
    if end < 0 or data[end : end + 4] != b"PK\x05\x06":
        raise broken("it does not end with the directory of its files")
    _, disk, first, here, count, size, offset, comment = _END.unpack_from(data, end)
    if disk or first or here != count or comment:
        raise broken("the record at its end is none that torch writes")
    at = end - _LOCATOR.size
    if at >= 0 and data[at : at + 4] == b"PK\x06\x07":
        narrow = (count, offset, size)
        end, (count, offset, size) = _directory64(data, at)
        if any(n not in pair for n, *pair in zip(narrow, (count, offset, size), _SATURATED, strict=True)):
            raise broken("the two records at its end disagree")
    if offset + size != end:
        raise broken("its directory does not lie where the record at its end says")
    if count * ENTRY.size > size:
        raise broken(f"a directory of {size} bytes has no room for {count} files")
    return count, offset, size


def _directory64(data: mmap.mmap, locator: int) -> tuple[int, tuple[int, int, int]]:
    _, disk, at, disks = _LOCATOR.unpack_from(data, locator)
    if disk or disks > 1 or at + _END64.size != locator or data[at : at + 4] != b"PK\x06\x06":
        raise broken("its 64-bit record does not lie where it should")
    *_, here, count, size, offset = _END64.unpack_from(data, at)
    if here != count:
        raise broken("it is one of several volumes")
    return at, (count, offset, size)
