"""Writing to standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from imlp_audit.errors import ClosedPipeError, OutputError


def emit(text: str) -> None:
    """Write to standard output. Raises ClosedPipeError where nobody reads it, OutputError where it cannot be written.

    On a broken stream Python would complain again when it ends, so the stream is given up.
    """
    if sys.stdout is None:
        raise OutputError("standard output is closed; nothing could be written")
    try:
        sys.stdout.writelines(text.splitlines(keepends=True))  # in one piece, Python may not notice a closed pipe
        sys.stdout.flush()
    except (BrokenPipeError, OSError, ValueError) as error:  # ValueError: standard output was closed
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # for what is left of the process
        if isinstance(error, BrokenPipeError):
            raise ClosedPipeError from error
        raise OutputError(f"standard output could not be written: {error}") from error
