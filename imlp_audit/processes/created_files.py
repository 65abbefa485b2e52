"""Files that code from outside creates: they are named, and removed once its process has ended."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from shutil import rmtree
from stat import S_ISDIR
from tempfile import TemporaryDirectory

from imlp_audit.processes.interrupts import on_interrupt

_CREATES = {"open": 0, "os.mkdir": 0, "os.rename": 1, "os.link": 1, "os.symlink": 1, "sqlite3.connect": 0}
_TAKES_AWAY = {"os.remove": 0, "os.rename": 0}
_STARTS = {"subprocess.Popen": 0, "os.system": 0, "os.posix_spawn": 0, "os.exec": 0}
"""Events of Python's audit hooks, and which of their arguments is the path."""
_WRITES = os.O_WRONLY | os.O_RDWR
_journals: list[int] = []
_listeners: list[Callable[[str], None]] = []
_created, _older = set[str](), set[str]()
"""What the code has created, and what was there before and the code has taken away: in its place, nothing is new."""


@contextmanager
def removing_created() -> Iterator[Path]:
    """Yield a file for `journal_in`, in another process; what that has named there is removed at the end.

    What is older than this block stays, whoever has moved it, and so do folders that hold more than that.
    """
    with TemporaryDirectory(prefix="imlp-audit-") as folder:
        journal = Path(folder, "created")
        journal.touch()
        begun = journal.stat().st_mtime_ns

        def end() -> None:
            _remove_created(journal, begun)
            rmtree(folder, ignore_errors=True)

        with on_interrupt(end):
            try:
                yield journal
            finally:
                _remove_created(journal, begun)


def _remove_created(journal: Path, begun: int) -> None:
    names = journal.read_bytes().split(b"\0")[:-1] if journal.is_file() else []
    for name, folder in reversed([*zip(names[::2], names[1::2], strict=False)]):
        path = Path(os.fsdecode(name))
        with suppress(OSError):  # the code has removed it, or put more into the folder
            found = path.lstat()
            if found.st_mtime_ns < begun or os.fsencode(os.path.realpath(path.parent)) != folder:
                continue  # something else that is there now
            if S_ISDIR(found.st_mode):
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
    if not _listeners:
        return
    if event in _STARTS:
        _listeners[-1](f"the code started {given[_STARTS[event]]!s:.100}; what that writes is not seen, and stays")
    taken = _path(given[_TAKES_AWAY[event]]) if event in _TAKES_AWAY else None
    if taken is not None and taken not in _created:
        _older.add(taken)
    if event not in _CREATES or (event == "open" and not (isinstance(given[2], int) and given[2] & _WRITES)):
        return
    path = _path(given[_CREATES[event]])
    if path is None or path == os.devnull:
        return
    if _journals and not {taken, path} & _older and not os.path.lexists(path):
        os.write(_journals[-1], b"%s\0%s\0" % (os.fsencode(path), os.fsencode(os.path.realpath(Path(path).parent))))
        _created.add(path)
    if event == "open":
        what = "are removed" if path in _created else "stay"
        _listeners[-1](f"the code opened {path} for writing; such files {what}")


def _path(given: object) -> str | None:
    return str(Path(os.fsdecode(given)).absolute()) if isinstance(given, str | bytes) else None
