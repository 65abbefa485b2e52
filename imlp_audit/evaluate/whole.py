"""Files that are there whole or not at all, also where the machine stops."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from imlp_audit.errors import OutputError


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that whoever reads it, at any time, finds the old one or the new one. Raises OutputError."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(file.fileno(), path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
                os.fsync(file.fileno())
            Path(name).replace(path)
            _sync_folder(path.parent)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    """Have the disk know a new name too: a rename is not on it before its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
