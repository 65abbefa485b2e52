"""Text edits of a paper's YAML: what a command adds to it; the rest stays as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

_EMPTY = '""'


def with_model(text: str, path: Sequence[str | int], recipe: str) -> str:
    """Return a spec's text in which the row at a path of keys and positions has a model in place of candidates."""
    row = _find(text, path)
    keys = _keys(row)
    in_braces = isinstance(row, yaml.CollectionNode) and bool(row.flow_style)
    start, stop = _span(*keys["candidates"])
    stop = start + len(text[start:stop].rstrip())  # a list that is indented ends where the next key begins
    edits = [(start, stop, f"model: {{{recipe}}}")]
    if "named" in keys:
        edits.append((*_removed(text, *_span(*keys["named"]), in_braces=in_braces), ""))
    for start, stop, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[stop:]
    return text


def with_unit(text: str, path: Sequence[str | int], unit: str) -> str:
    """Return a spec's text in which the column at a path has another unit."""
    start, stop = _span(*_keys(_find(text, path))["unit"])
    return f"{text[:start]}unit: {unit or _EMPTY}{text[stop:]}"


def _find(text: str, path: Sequence[str | int]) -> yaml.Node:
    node = _compose(text)
    for step in path:
        node = node.value[step] if isinstance(step, int) else _keys(node)[step][1]
    return node


def _span(key: yaml.Node, value: yaml.Node) -> tuple[int, int]:
    return key.start_mark.index, value.end_mark.index


def _removed(text: str, start: int, stop: int, *, in_braces: bool) -> tuple[int, int]:
    """Return what to cut for a key to go: with a comma in braces, else with its line if nothing else is on it."""
    if in_braces:
        after, before = re.match(r"\s*,\s*", text[stop:]), re.search(r",\s*$", text[:start])
        return (start, stop + after.end()) if after else (before.start() if before else start, stop)
    line = text.rfind("\n", 0, start) + 1
    rest = re.match(r"[ ]*\r?\n", text[stop:])
    return (line, stop + rest.end()) if rest and not text[line:start].strip() else (start, stop)


def with_counters(text: str, counters: Sequence[str]) -> str:
    """Return a spec's text with the counters of its FLOPs, the default first."""
    _, about = _keys(_compose(text))["about"]
    at, written = about.start_mark.index, f"flops: [{', '.join(counters)}]"
    if about.flow_style:
        return f"{text[: at + 1]}{written}, {text[at + 1 :]}"
    end = "\r\n" if "\r\n" in text else "\n"
    return f"{text[:at]}{written}{end}{' ' * about.start_mark.column}{text[at:]}"


def _compose(text: str) -> yaml.Node:
    node = yaml.compose(text, yaml.CSafeLoader)
    assert node is not None  # a spec that was read
    return node


def _keys(node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.CollectionNode]]:
    return {key.value: (key, value) for key, value in node.value}
