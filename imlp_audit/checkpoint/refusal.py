"""Reasons for rejecting a checkpoint file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from imlp_audit.errors import CheckpointError
from imlp_audit.numbers.words import list_some

_MOST_NAMES = 8
_LONGEST_NAME = 120  # characters of a name from a file that a message repeats


class RefusedError(Exception):
    """What is wrong with a file, and what to do; the message continues after the file's name: "is empty; ..."."""


@contextmanager
def name_in_errors(path: Path) -> Iterator[None]:
    """Turn refusals and read errors into CheckpointErrors that begin with the file's name."""
    try:
        yield
    except RefusedError as error:
        raise CheckpointError(f"{path} {error}") from error
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error


def escape_name(name: object) -> str:
    """Return a name from a file so that a terminal can show it: special characters escaped, long names cut."""
    text = str(name)[: 2 * _LONGEST_NAME].encode("unicode_escape").decode("ascii")
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


def list_names(names: Iterable[object]) -> str:
    """Return the first few of several names from a file, escaped, and how many more there are."""
    return list_some([escape_name(name) for name in names], _MOST_NAMES)
