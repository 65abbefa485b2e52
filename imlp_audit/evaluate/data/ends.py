"""Files with the same bytes, found by their two ends: only files whose ends are equal are read in full."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from itertools import chain
from pathlib import Path

from imlp_audit.evaluate.data.decode import MAX_BYTES

_BYTES = 64  # at either end
_FOOTER = 64 * 1024  # of a file of parquet: the sizes of its columns, and their smallest and largest values
_READERS = 8  # disks and networks answer several requests at once


@dataclass(frozen=True)
class FileSpan:
    """Bytes of a file: `size` of them from `offset`, or the whole file if `size` is None."""

    path: str
    offset: int = 0
    size: int | None = None

    def read(self) -> bytes:
        """Return the bytes."""
        with Path(self.path).open("rb") as file:
            file.seek(self.offset)
            return file.read(-1 if self.size is None else self.size)


@dataclass(frozen=True)
class Ends:
    """The number of bytes, and the first and the last ones."""

    size: int
    head: bytes
    tail: bytes


def read_ends(spans: Sequence[FileSpan]) -> Iterator[Ends | str]:
    """Yield both ends of each span, or the reason why it cannot be read."""
    batches = [spans[start : start + 250] for start in range(0, len(spans), 250)]
    with ThreadPoolExecutor(_READERS) as pool:
        yield from chain.from_iterable(pool.map(lambda batch: [_read_end(span) for span in batch], batches))


def read_tail(path: str) -> tuple[int, bytes] | str:
    """Return the size and the last bytes of a file, where a table describes its columns, or why it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _FOOTER))
            return size, file.read(_FOOTER)
    except OSError as error:
        return error.strerror or str(error)


def hash_spans(spans: Sequence[FileSpan]) -> Iterator[bytes | str]:
    """Yield the SHA-256 of all bytes of each span, or the reason why it cannot be read."""
    with ThreadPoolExecutor(_READERS) as pool:
        yield from pool.map(_hash_span, spans)


def find_alike(spans: Mapping[str, FileSpan], ends: Mapping[str, Ends | str]) -> tuple[tuple[str, ...], ...]:
    """Return groups of at least two ids that have the same bytes; empty and huge files are left out."""
    groups: dict[Ends, list[str]] = defaultdict(list)
    for one, found in ends.items():
        if isinstance(found, Ends) and 0 < found.size <= MAX_BYTES:
            groups[found].append(one)
    equal = (_by_bytes({one: spans[one] for one in group}) for group in groups.values() if len(group) > 1)
    return tuple(group for groups_ in equal for group in groups_)


def _by_bytes(spans: Mapping[str, FileSpan]) -> Iterator[tuple[str, ...]]:
    digests: dict[bytes, list[str]] = defaultdict(list)
    for one, span in spans.items():
        with suppress(OSError):
            digests[sha256(span.read()).digest()].append(one)
    yield from (tuple(group) for group in digests.values() if len(group) > 1)


def _hash_span(span: FileSpan) -> bytes | str:
    found = _read_end(span)
    if isinstance(found, str):
        return found
    try:
        with Path(span.path).open("rb") as file:
            if span.size is None:
                return file_digest(file, "sha256").digest()
            file.seek(span.offset)
            return sha256(file.read(min(span.size, MAX_BYTES + 1))).digest()  # of larger ones none is an image
    except OSError as error:
        return error.strerror or str(error)


def _read_end(span: FileSpan) -> Ends | str:
    try:
        file = os.open(span.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # opening a pipe would wait for a writer
    except OSError as error:
        return error.strerror or str(error)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"
        size = status.st_size if span.size is None else span.size
        last = span.offset + max(0, size - _BYTES)
        length = min(size, _BYTES)
        return Ends(size, os.pread(file, length, span.offset), os.pread(file, length, last))
    except OSError as error:
        return error.strerror or str(error)
    finally:
        os.close(file)
