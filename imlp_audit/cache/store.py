"""Records in a folder, each in a file named by all that it depends on. Losing a file costs time and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from imlp_audit.errors import UsageError
from imlp_audit.records.base import Record

Kept = TypeVar("Kept", bound=Record)

MOST_BYTES = 256 * 2**20
_PATTERN = "[0-9a-f][0-9a-f]/*"
_UNFINISHED = ".part"
_ABANDONED = 3600  # seconds after which nobody finishes an unfinished file


@dataclass
class Store:
    """Records by keys. Without a folder it holds nothing and keeps nothing.

    A file is the digest of what follows, a key and a record, a line each. A file that isn't whole, or that another key
    has written, counts as none. `found` and `made` count the records that were there, and that were not.
    """

    folder: Path | None = None
    found: Counter[type[Record]] = field(default_factory=Counter)
    made: Counter[type[Record]] = field(default_factory=Counter)
    problem: str | None = None

    def read(self, key: str, kind: type[Kept]) -> Kept | None:
        """Return the record of a key, None where there is none."""
        path = self._path(key)
        content = _read_whole(path, key) if path is not None else None
        if path is None or content is None:
            return None
        try:
            record = kind.model_validate_json(content)
        except ValidationError:  # a version of ours that forgot to name itself in the key
            return None
        with suppress(OSError):
            os.utime(path)  # what is used stays longest
        self.found[kind] += 1
        return record

    def keep(self, key: str, record: Record) -> None:
        """Keep a record, if the folder can be written to; if not, `problem` says why."""
        self.made[type(record)] += 1
        path = self._path(key)
        if path is None or self.problem is not None:
            return
        body = _line(key) + record.model_dump_json().encode()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=_UNFINISHED)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(_digest(body).encode() + b"\n" + body)
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            self.problem = f"{self.folder}: {error.strerror or error}"

    def trim(self, most: int = MOST_BYTES) -> None:
        """Remove what was not used for longest until the rest is small enough, and what killed runs left unfinished."""
        if not self.made:
            return
        now, total = time.time(), 0
        for path, status in sorted(self._files(), key=lambda one: -one[1].st_mtime):
            total += status.st_size
            abandoned = path.suffix == _UNFINISHED and now - status.st_mtime > _ABANDONED
            if total > most or abandoned:
                with suppress(OSError):
                    path.unlink()

    def size(self) -> tuple[int, int]:
        """Return the number of files and of bytes."""
        sizes = [status.st_size for _, status in self._files()]
        return len(sizes), sum(sizes)

    def clear(self) -> None:
        """Remove all files that are ours. Raises UsageError where one can't be removed."""
        for path, _ in self._files():
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise UsageError(f"{path} could not be removed: {error.strerror or error}") from error

    def _path(self, key: str) -> Path | None:
        name = _digest(key.encode())
        return self.folder / name[:2] / f"{name[2:]}.json" if self.folder is not None else None

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self.folder.glob(_PATTERN) if self.folder is not None else ():
            if path.suffix in (".json", _UNFINISHED):
                with suppress(OSError):  # somebody else removed it
                    yield path, path.stat()


def _read_whole(path: Path, key: str) -> bytes | None:
    """Return the record in a file; None where the file is not there or not as it was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, _, body = content.partition(b"\n")
    first, _, record = body.partition(b"\n")
    return record if digest.decode(errors="replace") == _digest(body) and first == _line(key)[:-1] else None


def _line(text: str) -> bytes:
    return json.dumps(text).encode() + b"\n"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
