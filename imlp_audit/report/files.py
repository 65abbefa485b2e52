"""Writes files whole or not at all, even where the machine stops."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.processes.interrupts import hold_interrupts

try:
    import fcntl
except ImportError:  # on Windows; abandoned files stay there
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".imlp-audit."
"""How the name of a file begins while it is being written."""
_NAME = re.compile(re.escape(UNFINISHED) + "[0-9a-f]{8}")  # a user's own .imlp-audit.yaml is not ours


@contextmanager
def unfinished_file(folder: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield a new, empty file to write and rename; remove it on an error, and those of killed processes at once.

    Its mode is `mode` without the bits that the user's umask takes from new files. A lock shows that somebody is
    writing a file. It ends with the process, however that ends.
    """
    _remove_abandoned(folder)
    path, lock = _create(folder, mode)
    try:
        yield path
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _create(folder: Path, mode: int) -> tuple[Path, int | None]:
    while True:
        path = folder / f"{UNFINISHED}{os.urandom(4).hex()}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        if fcntl is None:
            os.close(descriptor)
            return path, None
        with suppress(OSError):  # a disk without locks: nobody removes files there
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # another process took it for abandoned before it was locked


def _remove_abandoned(folder: Path) -> None:
    if fcntl is None or not os.access(folder, os.R_OK):
        return
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name) is None:
            continue
        with suppress(OSError):  # BlockingIOError: somebody is writing it
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)


def check_writable(path: Path, *, links: bool = False) -> None:
    """Raise UsageError if a file can't be written there, before any work is done for it.

    Only a path that the user typed may be a link. Under a name that we chose, one may lie in a stranger's folder and
    lead anywhere.
    """
    folder = path.parent
    if not links:
        _refuse_link(path)
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:  # its name is too long, or its folder may not be searched
        raise UsageError(f"{path} could not be written: {error.strerror or error}; name another file") from error
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it")
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; create it first, or write elsewhere")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder} is not writable; write elsewhere")


def write_whole(path: Path, content: str | bytes, *, links: bool = False) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part. Raises OutputError.

    Raises UsageError for a link, or with `links` follows it. A path that isn't a regular file (a pipe, a device) is
    written to directly.
    """
    if not links:
        _refuse_link(path)
    path, data = path.resolve(), content.encode() if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        with hold_interrupts():
            _replace(path, data)
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror or error}") from error


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise UsageError(f"{path} is a link, which is not written through; remove it")


def append(path: Path, content: str) -> None:
    """Add text at the end of a file that others write to as well. Raises OutputError."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(content)
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror or error}") from error


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    with unfinished_file(path.parent, 0o666 if mode is None else mode | 0o600) as unfinished:
        with unfinished.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            unfinished.chmod(mode)
        unfinished.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Write a new name to the disk too: a rename isn't on it until its folder is."""
    if os.name == "nt":  # folders can't be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
