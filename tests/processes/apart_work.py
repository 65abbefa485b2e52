"""Work for a process of its own, which is started quickly: this module imports no framework."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator


def work(given: str) -> Iterator[str]:
    """Yield a word, then what happens to code that does not end, then a word."""
    yield "first"
    if given == "never":
        try:
            while True:
                time.sleep(0.01)
        except Exception as error:  # as a model's failure is caught
            frame = traceback.extract_tb(error.__traceback__)[0]
            yield f"{frame.name}: {error}"
    if given == "stubborn":
        while True:
            try:
                time.sleep(30)
            except Exception:
                continue
    yield "last"
