"""The three standard streams of a process, some of which whoever started it may have closed."""

from __future__ import annotations

import os


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
