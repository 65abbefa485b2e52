"""The values of a spec file, each with its place; and a file without what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
        at = (*self.path, *below)
        return Problem(self.file.shown_as, *mark_at(self.file.tree, at), message, at)


def taken_twice(named: Iterable[tuple[str, Located[object], str]]) -> Iterator[Problem]:
    """Yield the names under a key of records that an earlier one has, at both places where they are in two files."""
    seen: dict[str, Located[object]] = {}
    for name, located, key in named:
        earlier = seen.setdefault(name, located)
        if earlier is located:
            continue
        message = f"the {key} {name!r} is taken already; give each its own"
        here, first = located.problem(message, key), earlier.problem(message, key)
        if first.file == here.file:
            yield here
            continue
        there = replace(first, message=f"{message} (it is in {here.file} too, line {here.line})")
        yield replace(here, message=f"{message} (it is in {first.file} too, line {first.line})", other=there)


_ENTRIES = frozenset(
    {"claims", "systems", "preprocessing", "findings", "entries", "equations"}
    | {"rows", "columns", "conventions", "fitted", "readings"}
)
"""The keys whose entries stand or fall as a whole, apart from the numbers of a row."""


def prune(tree: Node, paths: Iterable[Path]) -> tuple[Node | None, frozenset[str]]:
    """Return a tree without the values at some paths, and the words that it lost; nothing where the whole is wrong.

    Of a path that leads to nothing, the nearest value above it is taken out; of one inside an entry, such as a row or a
    claim, the entry.
    """
    wrong = dict(_find(tree, _unit(path)) for path in paths)
    lost = frozenset(word for path, node in wrong.items() for word in (*path[-1:], *_words(node)))
    rest = None if () in wrong else _rebuild(tree, (), lambda path, key: None if path in wrong else key)
    return rest, frozenset(word for word in lost if isinstance(word, str))


def respell(tree: Node, meant: Mapping[Path, str]) -> Node:
    """Return a tree with other names for the keys at some paths."""
    return _rebuild(tree, (), lambda path, key: meant.get(path, key))


def follows(problem: Problem, lost: Collection[str]) -> bool:
    """Return whether a problem may only be that what it names was taken out; what it suggests instead is no matter."""
    named = re.findall(r"'([^']*)'", re.sub(r"; did you mean '[^']*'\?$", "", problem.message))
    return any(word in lost for name in named for word in (name, *name.split("/")))


def _unit(path: Path) -> Path:
    """Return the path of the entry that a value is in: without a part of it, an entry would mean something else."""
    at = next((i + 2 for i, step in enumerate(path) if step in _ENTRIES), len(path))
    return path if path[at : at + 1] in (("printed",), ("delta",)) else path[:at]


def _find(tree: Node, path: Path) -> tuple[Path, Node]:
    """Return the part of the path that exists, and what is there.

    For a text in a list it is the list: its first entry is the default.
    """
    for count, step in enumerate(path):
        found = _child(tree, step)
        if found is None or (isinstance(tree, ListNode) and isinstance(found[1], Text)):
            return path[:count], tree
        tree = found[1]
    return path, tree


def _rebuild(node: Node, here: Path, name: Callable[[Path, str], str | None]) -> Node:
    """Return a tree with the keys that `name` gives, without the keys and items for which it gives none."""
    match node:
        case Text():
            return node
        case ListNode():
            paths = [(*here, index) for index in range(len(node.items))]
            kept = [(path, one) for path, one in zip(paths, node.items, strict=True) if name(path, "") is not None]
            return ListNode(tuple(_rebuild(one, path, name) for path, one in kept), node.mark)
        case MapNode():
            entries = [(name((*here, key.text), key.text), key, value) for key, value in node.entries]
            return MapNode(
                tuple(
                    (Text(new, key.mark), _rebuild(value, (*here, key.text), name))
                    for new, key, value in entries
                    if new is not None
                ),
                node.mark,
            )


def _words(node: Node) -> Iterator[str]:
    """Yield what others may refer to: keys, ids and names."""
    if isinstance(node, ListNode):
        yield from (word for item in node.items for word in _words(item))
    for key, value in node.entries if isinstance(node, MapNode) else ():
        yield key.text
        yield from [value.text] if key.text in ("id", "table", "name") and isinstance(value, Text) else _words(value)
