"""Text edits of a paper's YAML: what a command adds to it; the rest stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml


def with_model(text: str, line: int, recipe: str) -> str:
    """Return a spec's text in which the row that begins on a line has a model in place of candidates."""
    row = next(
        one for one in _mappings(_compose(text)) if one.start_mark.line == line - 1 and "candidates" in _keys(one)
    )
    key, value = _keys(row)["candidates"]
    begin, start, stop, end = (mark.index for mark in (row.start_mark, key.start_mark, value.end_mark, row.end_mark))
    stop = start + len(text[start:stop].rstrip())  # a list that is indented ends where the next key begins
    changed = f"{text[begin:start]}model: {{{recipe}}}{text[stop:end]}"
    changed = re.sub(r"^[ ]*named: true[ ]*\r?\n|\bnamed: true, *|, *named: true\b", "", changed, count=1, flags=re.M)
    return f"{text[:begin]}{changed}{text[end:]}"


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


def _mappings(node: yaml.Node) -> Iterator[yaml.MappingNode]:
    """Yield the mappings of a document, the outer ones first."""
    if isinstance(node, yaml.MappingNode):
        yield node
        for _, value in node.value:
            yield from _mappings(value)
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _mappings(item)
