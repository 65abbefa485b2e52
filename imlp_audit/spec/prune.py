"""A spec without the parts that are wrong, and with misspelt keys mended: what is wrong with the rest is found too."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from imlp_audit.errors import Problem
from imlp_audit.spec.tree import ListNode, MapNode, Node, Path, Text

_ENTRIES = frozenset(
    {
        "claims",
        "systems",
        "preprocessing",
        "findings",
        "entries",
        "equations",
        "rows",
        "columns",
        "conventions",
        "fitted",
        "readings",
    }
)
"""The keys whose entries stand or fall as a whole, apart from the numbers of a row."""


def prune(tree: Node, paths: Iterable[Path]) -> tuple[Node | None, frozenset[str]]:
    """Return a tree without the values at some paths, and the words that it lost; nothing where the whole is wrong.

    Of a path that leads to nothing, the nearest value above it is taken out; of one inside an entry, such as a row or a
    claim, the entry.
    """
    wrong = {_existing(tree, _unit(path)) for path in paths}
    if () in wrong:
        return None, frozenset(_words(tree))
    lost: set[str] = set()
    return _without(tree, wrong, (), lost), frozenset(lost)


def respell(node: Node, meant: Mapping[Path, str], here: Path = ()) -> Node:
    """Return a tree with other names for the keys at some paths."""
    match node:
        case Text():
            return node
        case ListNode():
            return ListNode(tuple(respell(one, meant, (*here, i)) for i, one in enumerate(node.items)), node.mark)
        case MapNode():
            entries = [
                (Text(meant.get((*here, key.text), key.text), key.mark), respell(value, meant, (*here, key.text)))
                for key, value in node.entries
            ]
            return MapNode(tuple(entries), node.mark)


def follows(problem: Problem, lost: Collection[str]) -> bool:
    """Return whether a problem may only be that what it names was taken out; what it suggests instead is no matter."""
    named = re.findall(r"'([^']*)'", re.sub(r"; did you mean '[^']*'\?$", "", problem.message))
    return any(word in lost for name in named for word in (name, *name.split("/")))


def _unit(path: Path) -> Path:
    """Return the path of the entry that a value is in: without a part of it, an entry would mean something else."""
    at = next((i + 2 for i, step in enumerate(path) if step in _ENTRIES), len(path))
    return path if path[at : at + 1] in (("printed",), ("delta",)) else path[:at]


def _existing(tree: Node, path: Path) -> Path:
    """Return the part of the path that exists. For a text in a list it is the list: its first entry is the default."""
    for count, step in enumerate(path):
        found = dict(_children(tree)).get(step)
        if found is None or (isinstance(tree, ListNode) and isinstance(found, Text)):
            return path[:count]
        tree = found
    return path


def _children(node: Node) -> Iterator[tuple[str | int, Node]]:
    match node:
        case Text():
            return
        case ListNode():
            yield from enumerate(node.items)
        case MapNode():
            yield from ((key.text, value) for key, value in node.entries)


def _without(node: Node, wrong: Collection[Path], here: Path, lost: set[str]) -> Node:
    def keeps(step: str | int, value: Node) -> bool:
        if (*here, step) not in wrong:
            return True
        lost.update([*_word(step), *_words(value)])
        return False

    match node:
        case Text():
            return node
        case ListNode():
            kept = [_without(one, wrong, (*here, i), lost) for i, one in enumerate(node.items) if keeps(i, one)]
            return ListNode(tuple(kept), node.mark)
        case MapNode():
            entries = [
                (key, _without(value, wrong, (*here, key.text), lost))
                for key, value in node.entries
                if keeps(key.text, value)
            ]
            return MapNode(tuple(entries), node.mark)


def _words(node: Node) -> Iterator[str]:
    """Yield what others may refer to: keys, ids and names."""
    for step, value in _children(node):
        yield from _word(step)
        yield from [value.text] if step in ("id", "table", "name") and isinstance(value, Text) else _words(value)


def _word(step: str | int) -> list[str]:
    """Return a key; a position in a list names nothing."""
    return [step] if isinstance(step, str) else []
