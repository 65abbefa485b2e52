"""Records in a folder, each in a file named by all that it depends on. Losing a file costs time and nothing else."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import stat
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from imlp_audit.files import MAX_DOCUMENT_BYTES, MAX_SPEC_BYTES, FileError, read_bytes
from imlp_audit.records.base import Record

VARIABLE = "IMLP_AUDIT_CACHE"


def cache_folder() -> Path | None:
    """Return the folder that the environment names, or the user's own; None where there is neither."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "imlp-audit"
    except RuntimeError:  # a user without a home
        return None


_PACKAGE = Path(__file__).resolve().parent.parent
LIBRARIES = ("torch", "torchvision", "timm", "transformers", "fvcore", "numpy", "cvxpy", "hypothesis")

# Layers of the import order: what is measured comes from these and nothing else of ours.
MEASURING = ("count", "models", "checkpoint", "records", "numbers", "processes", "files", "errors")
EVERYTHING = ("",)
TESTING = ("claims", *MEASURING)


@cache
def fingerprint(parts: Sequence[str]) -> str:
    """Return a digest of our own code in some parts, of Python and of the libraries that they depend on."""
    about = [platform.python_version(), platform.machine(), *map(_version, LIBRARIES)]
    paths = [_PACKAGE / part for part in parts]
    own = [
        fingerprint_folder(one) if one.is_dir() else _fingerprint(_PACKAGE, [one.with_suffix(".py")]) for one in paths
    ]
    return digest_of([*about, *own])


def fingerprint_folder(folder: Path) -> str:
    """Return a digest of all Python in a folder. Raises FileError."""
    return _fingerprint(folder, sorted(folder.rglob("*.py")))


def digest_of(parts: Iterable[str | bytes]) -> str:
    """Return a digest of texts in order, and of where each ends."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(f"{len(data)} ".encode() + data)
    return whole.hexdigest()


def _fingerprint(root: Path, files: Iterable[Path]) -> str:
    return digest_of(
        text for path in files for text in (path.relative_to(root).as_posix(), read_bytes(path, MAX_SPEC_BYTES))
    )


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"{library} not installed"


Kept = TypeVar("Kept", bound=Record)

MOST_BYTES = 256 * 2**20
_LARGEST = MAX_DOCUMENT_BYTES  # of a record
_UNFINISHED = ".part"
_NAME = re.compile(rf"imlp-audit-([0-9a-f]{{64}}\.json|\w+{re.escape(_UNFINISHED)})")
_ABANDONED = 3600  # seconds after which nobody finishes an unfinished file


@dataclass
class Store:
    """Records by keys. Without a folder it holds nothing and keeps nothing.

    A file is named by the digest of its key, and holds a record after a digest of both: one that isn't whole, or that
    another key has written, counts as none. A folder that others may write to is not used, and `problem` says so.
    `found` and `made` count the records, each once, that were there and that were not.
    """

    folder: Path | None = None
    found: Counter[type[Record]] = field(default_factory=Counter)
    made: Counter[type[Record]] = field(default_factory=Counter)
    problem: str | None = None
    _seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.folder is not None and (why := _why_not_ours(self.folder)) is not None:
            self.folder, self.problem = None, f"{self.folder} {why}"

    def read(self, key: str, kind: type[Kept]) -> Kept | None:
        """Return the record of a key, None where there is none."""
        if self.folder is None:
            return None
        path = self.folder / _name_of(key)
        try:
            digest, _, content = read_bytes(path, _LARGEST, links=False).partition(b"\n")
            record = kind.model_validate_json(content) if digest == _seal(key, content) else None
        except (FileError, ValidationError):  # the latter: a version of ours that forgot to name itself in the key
            return None
        if record is not None:
            with suppress(OSError):
                os.utime(path, follow_symlinks=False)  # what is used stays longest
            self.found[kind] += key not in self._seen
            self._seen.add(key)
        return record

    def keep(self, key: str, record: Record) -> None:
        """Keep a record, if the folder can be written to; if not, `problem` says why."""
        self.made[type(record)] += key not in self._seen
        self._seen.add(key)
        content = record.model_dump_json().encode()
        body = _seal(key, content) + b"\n" + content
        if self.folder is None or self.problem is not None or len(body) > _LARGEST:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self.folder, prefix="imlp-audit-", suffix=_UNFINISHED)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(body)
                Path(name).replace(self.folder / _name_of(key))
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
            if total > most or (path.suffix == _UNFINISHED and now - status.st_mtime > _ABANDONED):
                with suppress(OSError):
                    path.unlink()

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the regular files that are named as ours, with their state."""
        for path in self.folder.glob("imlp-audit-*") if self.folder is not None else ():
            with suppress(OSError):  # somebody else removed it
                status = path.lstat()
                if _NAME.fullmatch(path.name) and stat.S_ISREG(status.st_mode):
                    yield path, status


def _why_not_ours(folder: Path) -> str | None:
    """Say why what lies in a folder is not to be believed; None for one that is ours, or not there yet."""
    try:
        status = folder.stat()
    except (OSError, ValueError):
        return None  # keeping says why
    if os.name == "nt" or not stat.S_ISDIR(status.st_mode):
        return None
    if status.st_uid not in (0, os.geteuid()):
        return "belongs to another user; name a folder of your own"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"may be written by other users; run `chmod go-w {shlex.quote(str(folder))}`, or name another folder"
    return None


def _name_of(key: str) -> str:
    return f"imlp-audit-{hashlib.sha256(key.encode()).hexdigest()}.json"


def _seal(key: str, content: bytes) -> bytes:
    return digest_of((key, content)).encode()


Result = TypeVar("Result", bound=Record)


def remember(
    store: Store, asked: str | None, kind: type[Result], make: Callable[[], Result], is_whole: Callable[[Result], bool]
) -> Result:
    """Return what an earlier run made of the same question, or make it, and keep it if it is whole.

    `asked` holds all that the result depends on, except for our own code and its libraries; None if that is not known.
    """
    if asked is None:
        return make()
    key = f"{kind.__name__} {fingerprint(EVERYTHING)} {asked}"
    result = store.read(key, kind)
    if result is None:
        result = make()
        if is_whole(result):
            store.keep(key, result)
            store.trim()
    return result
