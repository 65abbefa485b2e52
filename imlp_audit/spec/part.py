"""The part of a paper that was asked for: the checks of some files, and those that ids and globs name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

OF_TABLES = ("columns", "marks", "repeats")
"""The kinds of checks whose ids have a table's after them: `imlp/marks/1/deit_b`."""


@dataclass(frozen=True)
class SelectedPart:
    """The files (as shown) and the ids or globs that were asked for; the whole paper where there are neither."""

    files: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether nothing narrows it."""
        return not (self.files or self.ids)

    def __or__(self, other: SelectedPart) -> SelectedPart:
        if self.is_whole or other.is_whole:
            return SelectedPart()
        return SelectedPart(self.files | other.files, self.ids | other.ids)

    def has(self, name: str, file: str) -> bool:
        """Return whether a check (or a row, or a system) by its id and file belongs to it."""
        return self.is_whole or file in self.files or any(names(target, name) for target in self.ids)

    def touches_row(self, row: str, file: str) -> bool:
        """Return whether a row, or a check of one of its cells, belongs to it."""
        return self.has(row, file) or any(_begins(target, row) for target in self.ids)


WHOLE = SelectedPart()
"""The part that is all of a paper."""


def is_glob(target: str) -> bool:
    """Return whether a target has a sign that stands for other characters."""
    return bool(set(target) & set("*?["))


def names(target: str, name: str) -> bool:
    """Return whether an id or a glob names a check: the check itself, or the table, row or kind that it belongs to."""
    return any(fnmatchcase(name, pattern) for pattern in _patterns(target))


def _patterns(target: str) -> Iterator[str]:
    paper, _, rest = target.partition("/")
    yield target
    yield f"{target}/*"
    if rest.count("/") < 2:  # a table or a row, not a cell
        for kind in OF_TABLES:
            yield from (f"{paper}/{kind}/{rest}", f"{paper}/{kind}/{rest}/*")


def _begins(target: str, row: str) -> bool:
    """Return whether an id or a glob of cells begins with one that names the row."""
    return fnmatchcase(row, "/".join(target.split("/")[:3]))
