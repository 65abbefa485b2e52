"""Files that code from outside creates: they are named, and removed once its process has ended."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

_CREATES = {"open": 0, "os.mkdir": 0, "os.rename": 1, "os.link": 1, "os.symlink": 1}
"""Events of Python's audit hooks, and which of their arguments is the path that may be new."""
_WRITES = os.O_WRONLY | os.O_RDWR
_journals: list[int] = []
_listeners: list[Callable[[str], None]] = []


@contextmanager
def removing_created() -> Iterator[Path]:
    """Yield a file for `journal_in`, in another process; what that has named there is removed at the end.

    Folders that hold more than that stay.
    """
    with TemporaryDirectory(prefix="imlp-audit-") as folder:
        journal = Path(folder, "created")
        journal.touch()
        try:
            yield journal
        finally:
            for name in reversed(journal.read_bytes().split(b"\0")[:-1]):
                path = Path(os.fsdecode(name))
                with suppress(OSError):  # the code has removed it, or put more into the folder
                    if path.is_dir() and not path.is_symlink():
                        path.rmdir()
                    else:
                        path.unlink()


def journal_in(path: Path) -> None:
    """Name what code creates in this process, and in copies of it, in a file of the process that waits for it."""
    _journals.append(os.open(path, os.O_WRONLY | os.O_APPEND))


@contextmanager
def telling_written(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell of the files that Python opens for writing within this block."""
    _listen()
    _listeners.append(tell)
    try:
        yield
    finally:
        _listeners.pop()


@cache
def _listen() -> None:
    sys.addaudithook(_hear)  # it stays until the process ends, which foreign code has to itself


def _hear(event: str, given: tuple[object, ...]) -> None:
    if not _listeners or event not in _CREATES:
        return
    path = given[_CREATES[event]]
    if event == "open" and not (isinstance(given[2], int) and given[2] & _WRITES):
        return
    if not isinstance(path, str | bytes) or path == os.devnull:
        return
    name = os.fsdecode(path)
    new = bool(_journals) and not os.path.lexists(name)
    if new:
        os.write(_journals[-1], os.fsencode(Path(name).absolute()) + b"\0")
    if event == "open":
        _listeners[-1](f"the code opened {name} for writing; such files {'are removed' if new else 'stay'}")
