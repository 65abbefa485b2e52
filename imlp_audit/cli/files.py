"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from imlp_audit.errors import OutputError, UsageError


def check_writable(path: Path) -> None:
    """Raise UsageError where a file could not be written there, before any work is done for it."""
    folder = path.parent
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it")
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; make it first, or write elsewhere")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder} cannot be written to; write elsewhere")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part. Raises OutputError.

    A link is written through; what is no regular file (a pipe, a device) is written to as it is.
    """
    path, data = path.resolve(), content.encode() if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror or error}") from error


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
