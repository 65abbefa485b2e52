"""A folder that one run at a time writes to."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from imlp_audit.errors import UsageError

_PATIENCE = 8.0  # seconds: what a killed run leaves behind, such as processes that read images, ends within five
_STEP = 0.1


@contextmanager
def claim_folder(folder: Path) -> Iterator[None]:
    """Keep other runs from a folder, which is made if it is missing. Raises UsageError if another run has it.

    The claim ends with the process, however it ends. Where the system or the disk knows no such claims there is none.
    """
    with suppress(OSError):  # whoever opens the folder says why
        folder.mkdir(exist_ok=True)
    descriptor = _open(folder)
    try:
        if descriptor is not None:
            _lock(descriptor, folder)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (OSError, AttributeError):
        return None


def _lock(descriptor: int, folder: Path) -> None:
    import fcntl

    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise UsageError(
                    f"another run is writing to {folder}; wait for it to end, or name other --predictions"
                ) from None
        except OSError:
            return None
        time.sleep(_STEP)
