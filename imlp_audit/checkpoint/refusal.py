"""Why a file is no checkpoint that can be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from imlp_audit.errors import CheckpointError

_LISTED = 8
_LONGEST = 80  # characters of a name from a file that a message repeats


class RefusedError(Exception):
    """What is wrong with a file, and what to do: words that follow its name, "is ..." or "holds ..."."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn refusals and failures to read into CheckpointErrors that name the file."""
    try:
        yield
    except RefusedError as error:
        raise CheckpointError(f"{path} {error}") from error
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error


def shown(name: object) -> str:
    """Return a name from a file as a terminal can show it: what is no plain character escaped, and cut short."""
    text = str(name)[: 2 * _LONGEST].encode("unicode_escape").decode("ascii")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def listed(names: Iterable[object]) -> str:
    """Return names from a file as a terminal can show them, the first few of many."""
    told = [shown(name) for name in names]
    more = f" and {len(told) - _LISTED} more" if len(told) > _LISTED else ""
    return ", ".join(told[:_LISTED]) + more
