"""Progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Announce = Callable[[int], Callable[[str], None]]


def _silent(_: int) -> Callable[[str], None]:
    return lambda name: None


@contextmanager
def progress(*, shown: bool, doing: str = "counting") -> Iterator[Announce]:
    """Yield what is to be told how many models there are, and then of each; shows a bar on a terminal alone."""
    if not shown or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def announce(total: int) -> Callable[[str], None]:
            task = bar.add_task("loading torch", total=total)
            begun = -1

            def tell(name: str) -> None:
                nonlocal begun
                begun += 1
                bar.update(task, completed=begun, description=name)

            return tell

        yield announce
