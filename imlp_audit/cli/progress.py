"""Progress on stderr, where that is a terminal: rich's bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

from imlp_audit.processes.interrupts import on_interrupt, write_error

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
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column

    name = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
    with _bar(TextColumn(doing), BarColumn(12), TimeElapsedColumn(), TimeRemainingColumn(), name) as bar:

        def announce(total: int) -> Callable[[str], None]:
            task, begun = bar.add_task("loading torch", total=total), count()
            return lambda name: bar.update(task, completed=next(begun), description=name)

        yield announce


@contextmanager
def show_image_progress(*, shown: bool) -> Iterator[TellImages]:
    """Yield a callback; call it with how many images of how many are done. It shows their speed and the time left.

    Images that were done before the first call don't count for the speed.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("images{task.description}"), TimeRemainingColumn())
    with _bar(*columns) as bar:
        task = bar.add_task("", total=None)
        (row,) = bar.tasks

        def tell(done: int, total: int) -> None:
            change = bar.reset if row.total is None else bar.update
            change(task, completed=done, total=total, description=f", {row.speed:.1f} a second" if row.speed else "")

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
