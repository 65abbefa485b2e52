"""An interrupt (Ctrl-C) ends the process at once with exit code 130, and SIGTERM likewise with 143.

Python would raise KeyboardInterrupt wherever it happens to be, and libraries swallow it: torch while it imports numpy,
pydantic while it builds classes, any destructor. So the process ends inside the signal handler. That is safe because
files appear whole or not at all. Code that has more to do before the process ends registers it with `on_interrupt`.

Before `exit_on_interrupt` runs, Python is on its own. An interrupt while it starts ends the process by the signal
(130 for a shell), or with exit code 1 and a traceback while it runs `site`.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SIGNAL_EXIT = 128  # of a shell, for a process that a signal has ended, plus the signal's number


class _Interrupts:
    """What an interrupt has to wait for, and what has to be done before the process ends. Signals are per process."""

    def __init__(self) -> None:
        self.actions: list[Callable[[], None]] = []
        self.holds: list[int] = []  # of these threads; a list and not a count: threads change it at the same time
        self.arrived: int | None = None  # the number of the signal
        self.ending: int | None = None  # the thread that runs the actions


_interrupts = _Interrupts()


def exit_on_interrupt() -> None:
    """From now on, end this process on an interrupt. Where a signal is ignored, as in the background, it stays so."""
    owner = os.getpid()
    _interrupts.arrived, _interrupts.ending = None, None

    def handle(number: int, _frame: FrameType | None) -> None:
        if os.getpid() != owner:  # a forked copy, such as a process that reads images, has nothing to save
            os._exit(_SIGNAL_EXIT + number)
        _interrupts.arrived = number
        _end_unless_held()

    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handle)


@contextmanager
def on_interrupt(action: Callable[[], None]) -> Iterator[None]:
    """Within this block, run an action before an interrupt ends the process. The last one registered runs first.

    The action runs between any two steps of the interrupted code. It must not wait for a lock, nor use `sys.stderr`
    (see `write_error`).
    """
    _interrupts.actions.append(action)
    try:
        yield
    finally:
        with suppress(ValueError):  # it has run
            _interrupts.actions.remove(action)


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Let an interrupt wait until this block ends. For blocks of milliseconds, such as replacing a file.

    A thread that would begin such a block after the interrupt waits for the end of the process instead.
    """
    thread = threading.get_ident()
    begun = thread in _interrupts.holds or thread == _interrupts.ending
    _interrupts.holds.append(thread)  # before `arrived` is read: the handler sets `arrived` before it reads the holds
    if _interrupts.arrived is not None and not begun:
        _interrupts.holds.remove(thread)
        _end_unless_held()
        threading.Event().wait()
    try:
        yield
    finally:
        _interrupts.holds.remove(thread)
        if _interrupts.arrived is not None:
            _end_unless_held()


def write_error(text: str) -> None:
    """Write to standard error from an action: unbuffered, because a buffer can't be entered twice."""
    with suppress(OSError):
        os.write(2, text.encode())


def _end_unless_held() -> None:
    if not _interrupts.holds and _interrupts.ending is None:
        _end()


def _end() -> None:
    _interrupts.ending = threading.get_ident()
    with suppress(ValueError):  # only the main thread may change handlers
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # a second interrupt must not cut the actions short
    while _interrupts.actions:
        action = _interrupts.actions.pop()
        with suppress(Exception):  # there is nobody left to report it to
            action()
    os._exit(_SIGNAL_EXIT + (_interrupts.arrived or signal.SIGINT))
