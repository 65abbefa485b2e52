"""Records of a spec together with the place in a file that they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from imlp_audit.errors import Problem
from imlp_audit.records.check import Source
from imlp_audit.spec.yaml_nodes import Node, mark_at

T_co = TypeVar("T_co", covariant=True)
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class SpecText:
    """A spec file as it was read: the name to show, and its tree with a place for every value."""

    shown_as: str
    tree: Node


@dataclass(frozen=True)
class Located(Generic[T_co]):
    """A record, the file it comes from, and the path of keys and positions that leads to it there."""

    value: T_co
    file: SpecText
    path: Path = ()

    def source(self, *below: str | int) -> Source:
        """Return the place of the record, or of a value below it."""
        return Source(file=self.file.shown_as, line=mark_at(self.file.tree, (*self.path, *below)).line)

    def problem(self, message: str, *below: str | int) -> Problem:
        """Return a problem with the record, or with a value below it."""
        mark = mark_at(self.file.tree, (*self.path, *below))
        return Problem(self.file.shown_as, mark.line, mark.column, message)
