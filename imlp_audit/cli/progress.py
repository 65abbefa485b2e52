"""Progress on stderr, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING

from imlp_audit.processes.interrupts import on_interrupt, write_error

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

Announce = Callable[[int], Callable[[str], None]]
TellImages = Callable[[int, int], None]
_BAR = 12  # columns


@contextmanager
def show_progress(*, shown: bool, doing: str = "counting") -> Iterator[Announce]:
    """Yield `announce(total)`, which returns a callback; call it with the name of each step as it begins."""
    if not shown or not sys.stderr.isatty():
        yield lambda total: lambda name: None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn(doing), BarColumn(_BAR), TimeElapsedColumn(), TextColumn("{task.description}"))
    with _bar(*columns) as bar:
        room = bar.console.width - len(doing) - _BAR - len(" 0:00:00   ")

        def announce(total: int) -> Callable[[str], None]:
            pace = Pace(total)
            task = bar.add_task("loading torch", total=None)

            def begin(name: str) -> None:
                pace.begin(monotonic())
                left = pace.left
                known = f"about {left:.0f} s left  " if left is not None else ""
                bar.update(
                    task,
                    completed=pace.spent,
                    total=None if left is None else pace.spent + left,
                    description=known + fit_name(name, room - len(known)),
                )

            return begin

        yield announce


class Pace:
    """How long the steps of a run take. The first loads libraries, so it says nothing about the others."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._begun: list[float] = []

    def begin(self, now: float) -> None:
        """Note that the next step begins, at a time in seconds."""
        self._begun.append(now)

    @property
    def spent(self) -> float:
        """The seconds from the first step to the one that began last."""
        return self._begun[-1] - self._begun[0] if self._begun else 0

    @property
    def left(self) -> float | None:
        """The seconds that the step that began last and those after it take at this pace; None before one has ended."""
        ended = len(self._begun) - 2  # apart from the first
        if ended < 1:
            return None
        return (self._begun[-1] - self._begun[1]) / ended * (self._total - len(self._begun) + 1)


def fit_name(name: str, room: int) -> str:
    """Return the name of a step if it fits, the last part of an id if that does, and nothing otherwise."""
    return next((one for one in (name, name.rpartition("/")[2]) if len(one) <= room), "")


class ImagePace:
    """How fast images are done since the last call that brought none.

    Batches that threads compute at the same time are done at the same moment: the pace is that of all since the start,
    not that of the last ones.
    """

    def __init__(self) -> None:
        self._began, self._before, self._last = 0.0, 0, sys.maxsize

    def speed(self, done: int, now: float) -> float | None:
        """Return the images a second when `done` are done at the time `now`, None while nothing is known."""
        if done <= self._last:
            self._began, self._before = now, done
        self._last = done
        return (done - self._before) / (now - self._began) if now > self._began else None


@contextmanager
def show_image_progress(*, shown: bool) -> Iterator[TellImages]:
    """Yield a callback; call it with how many images of how many are done. It shows their speed and the time left.

    Images that were done before the last call that brought none, or before the count fell back, don't count.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    with _bar(BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")) as bar:
        task, pace = bar.add_task("images", total=None), ImagePace()

        def tell(done: int, total: int) -> None:
            speed = pace.speed(done, monotonic())
            left = f", {timedelta(seconds=round((total - done) / speed))} left" if speed else ""
            text = f"images, {speed:.1f} a second{left}" if speed else "images"
            bar.update(task, total=total, completed=done, description=text)

        yield tell


@contextmanager
def _bar(*columns: ProgressColumn) -> Iterator[Progress]:
    """Yield a bar that disappears in the end. An interrupt erases its line and shows the cursor that the bar hides."""
    from rich.console import Console
    from rich.progress import Progress

    with (
        on_interrupt(lambda: write_error("\r\x1b[2K\x1b[?25h")),
        Progress(*columns, console=Console(stderr=True), transient=True) as bar,
    ):
        yield bar
