"""Progress over images on stderr: how many, how fast, and how long it still takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[int, int], None]


@contextmanager
def image_progress(*, shown: bool) -> Iterator[Tell]:
    """Yield what is to be told how many images of how many are done; shows a bar on a terminal alone.

    What is done when it is told first, or when less is done than before, counts for no speed.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("images", total=None)

        def tell(done: int, total: int) -> None:
            one = bar.tasks[task]
            if one.total is None or done < one.completed:
                bar.reset(task, total=total, completed=done)
            speed = one.speed
            bar.update(task, completed=done, description=f"images, {speed:.1f} a second" if speed else "images")

        yield tell
