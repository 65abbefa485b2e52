"""Hidden files that are being written, and removing those whose writers were killed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
