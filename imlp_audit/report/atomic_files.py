"""Writes files whole or not at all, even where the machine stops."""

from __future__ import annotations

import os
from pathlib import Path

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.processes.interrupts import hold_interrupts


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


def _replace(path: Path, data: bytes) -> None:
    """Write a new file beside it, with its mode or the user's for new files, and give that its name."""
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    unfinished = path.with_name(f".imlp-audit.{os.urandom(4).hex()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode | 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if mode is not None:
            unfinished.chmod(mode)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    if os.name != "nt":  # folders can't be opened there
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)  # a rename isn't on the disk until its folder is
        finally:
            os.close(descriptor)
