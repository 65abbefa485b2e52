"""The errors a user can cause or meet; each says what is wrong, where, and what to do next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

_MOST_NAMES = 8  # names that a message lists where none is similar
_MOST_COMPARED = 5000  # names that are looked at for a similar one: transformers has 2,300 models
_LONGEST = 200  # characters of a name that may be a misspelling
_MOST_WRITTEN = 1000  # characters of a problem, which may quote what is in a spec


class AuditError(Exception):
    """Root of every error that the tool raises on purpose."""


@dataclass(frozen=True, order=True)
class Problem:
    """One thing wrong with a spec, at a place in a file: line and column from 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        message = self.message if len(self.message) <= _MOST_WRITTEN else f"{self.message[:_MOST_WRITTEN]}..."
        return f"{self.file}:{self.line}:{self.column}: {message}"


class SpecError(AuditError):
    """A spec cannot be used; carries every problem found, in file order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))


class UsageError(AuditError):
    """The command line asks for something that cannot be done."""


class DocumentError(UsageError):
    """A JSON document cannot be used: `place` are the keys that lead to what is wrong, `line` its line if known."""

    def __init__(self, message: str, place: Sequence[str | int] = (), line: int | None = None) -> None:
        self.place, self.line = tuple(place), line
        super().__init__(message)


class OutputError(AuditError):
    """A result could not be written where it was to go."""


class ClosedPipeError(AuditError):
    """Whoever read the output has stopped reading, and wants no more."""


class BuildError(AuditError):
    """A model cannot be built from its recipe, or cannot be counted."""


class UntrustedError(BuildError):
    """A model would have to be built by code that the user has not said to trust."""


class DatasetError(AuditError):
    """Images, or their labels, cannot be used."""


class CheckpointError(AuditError):
    """A file of weights cannot be used."""


class MissingLibraryError(AuditError):
    """A library, or a part of one, is not installed."""


class SolverError(AuditError):
    """A solver did not end with a solution."""


def did_you_mean(name: str, known: Collection[str], nouns: str = "known") -> str:
    """Suggest the known name that is most like an unknown one, or list some of the known names."""
    folded = {one.casefold(): one for one in islice(known, _MOST_COMPARED)}
    near = get_close_matches(name.casefold(), folded, n=1) if len(name) <= _LONGEST else []
    if near:
        return f"did you mean {str(folded[near[0]])!r}?"
    more = f" and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else ""
    return f"{nouns}: {', '.join(list(known)[:_MOST_NAMES]) or 'none'}{more}"
