"""The values of a spec file, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from imlp_audit.errors import Problem
from imlp_audit.records.check import Source


class Mark(NamedTuple):
    """A place in a file, lines and columns from 1."""

    line: int
    column: int


class Text(NamedTuple):
    """A scalar as it is written: `78.80`, `010`, `yes` and `null` are text."""

    text: str
    mark: Mark


class ListNode(NamedTuple):
    """A list and where it begins."""

    items: tuple[Node, ...]
    mark: Mark


class MapNode(NamedTuple):
    """A mapping and where it begins; its keys are distinct."""

    entries: tuple[tuple[Text, Node], ...]
    mark: Mark


Node: TypeAlias = Text | ListNode | MapNode
Path: TypeAlias = tuple[str | int, ...]


def plain(node: Node) -> object:
    """Return the values alone: nested dict, list and str."""
    match node:
        case Text():
            return node.text
        case ListNode():
            return [plain(item) for item in node.items]
        case MapNode():
            return {key.text: plain(value) for key, value in node.entries}


def mark_at(node: Node, path: Sequence[str | int], *, key: bool = False) -> Mark:
    """Return where the value at a path begins, or its key; for what isn't there, its nearest ancestor that is."""
    mark = node.mark
    for step in path:
        found = _child(node, step)
        if found is None:
            return node.mark
        name, node = found
        mark = name.mark if key else node.mark
    return mark


def _child(node: Node, step: str | int) -> tuple[Node, Node] | None:
    """Return the key (an item of a list has none, and is its own) and the value one step down."""
    if isinstance(node, ListNode) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step], node.items[step]
    if isinstance(node, MapNode):
        return next((entry for entry in node.entries if entry[0].text == step), None)
    return None


@dataclass(frozen=True)
class SpecText:
    """A spec file as it was read: the name to show, and its tree with a place for every value."""

    shown_as: str
    tree: Node


Value_co = TypeVar("Value_co", covariant=True)


@dataclass(frozen=True)
class Located(Generic[Value_co]):
    """A record, the file it comes from, and the path of keys and positions that leads to it there."""

    value: Value_co
    file: SpecText
    path: Path = ()

    def source(self, *below: str | int) -> Source:
        """Return the place of the record, or of a value below it."""
        return Source(file=self.file.shown_as, line=mark_at(self.file.tree, (*self.path, *below)).line)

    def problem(self, message: str, *below: str | int) -> Problem:
        """Return a problem with the record, or with a value below it."""
        return Problem(self.file.shown_as, *mark_at(self.file.tree, (*self.path, *below)), message)


def taken_twice(records: Iterable[Located[object]], key: str = "id") -> Iterator[Problem]:
    """Yield a problem for each record whose name under a key an earlier one has."""
    seen: dict[str, Located[object]] = {}
    for record in records:
        name = getattr(record.value, key)
        earlier = seen.setdefault(name, record)
        if earlier is not record:
            first = earlier.source(key)
            where = (
                f"in {first.file} too, line {first.line}"
                if record.file is not earlier.file
                else f"on line {first.line}"
            )
            yield record.problem(f"the {key} {name!r} is taken already; give each its own (it is {where})", key)
