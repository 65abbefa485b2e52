"""Progress on stderr, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from imlp_audit.interrupts import on_interrupt, write_error

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

Announce = Callable[[int], Callable[[str], None]]
TellImages = Callable[[int, int], None]


@contextmanager
def show_progress(*, shown: bool, doing: str = "counting") -> Iterator[Announce]:
    """Yield `announce(total)`, which returns a callback; call it with the name of each step as it begins."""
    if not shown or not sys.stderr.isatty():
        yield lambda total: lambda name: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with _bar(*columns) as bar:

        def announce(total: int) -> Callable[[str], None]:
            task = bar.add_task("loading torch", total=total)
            begun = -1

            def begin(name: str) -> None:
                nonlocal begun
                begun += 1
                bar.update(task, completed=begun, description=name)

            return begin

        yield announce


@contextmanager
def show_image_progress(*, shown: bool) -> Iterator[TellImages]:
    """Yield a callback; call it with how many images of how many are done. It shows their speed and the time left.

    Images that were done at the first call, or before the count fell back, don't count for the speed.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with _bar(*columns) as bar:
        task = bar.add_task("images", total=None)

        def tell(done: int, total: int) -> None:
            one = bar.tasks[task]
            if one.total is None or done < one.completed:
                bar.reset(task, total=total, completed=done)
            speed = one.speed
            bar.update(task, completed=done, description=f"images, {speed:.1f} a second" if speed else "images")

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
