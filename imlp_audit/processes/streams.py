"""The standard streams of a process: some may be closed, and code from outside prints into them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout


def open_closed_streams() -> None:
    """Open the null device as each standard stream that is closed.

    Otherwise the next pipe or file gets its number, and what is printed goes into that, in our own processes too.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one
            os.set_inheritable(null, True)


class _Redirected:
    """How many blocks of all threads are open, and what to undo when the last one ends."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.blocks = 0
        self.undo = ExitStack()


_redirected = _Redirected()


@contextmanager
def print_to_stderr() -> Iterator[None]:
    """Send what is printed to standard error, also what other processes and C code print.

    Standard output belongs to the process: if each of several threads that overlap put back what it found, the last
    one would put back standard error. So the first one redirects, and the last one puts back.
    """
    with _redirected.lock:
        if not _redirected.blocks:
            _redirect(_redirected.undo)
        _redirected.blocks += 1
    try:
        yield
    finally:
        with _redirected.lock:
            _redirected.blocks -= 1
            if not _redirected.blocks:
                _redirected.undo.close()


@contextmanager
def silenced() -> Iterator[None]:
    """Discard what is sent to standard error, also by C code."""
    with ExitStack() as undo:
        kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        undo.callback(os.close, kept)
        undo.callback(os.close, null)
        undo.callback(os.dup2, kept, 2)
        undo.callback(sys.stderr.flush)
        os.dup2(null, 2)
        yield


def _redirect(undo: ExitStack) -> None:
    if sys.stdout is not None:  # closed by whoever started us
        sys.stdout.flush()
    kept = os.dup(1)
    undo.callback(os.close, kept)
    undo.callback(os.dup2, kept, 1)
    os.dup2(2, 1)
    undo.enter_context(redirect_stdout(sys.stderr))
