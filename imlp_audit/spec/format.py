"""One layout for spec files: spaces, indentation and line ends; keys, values, their order and all comments stay."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import yaml

from imlp_audit.spec.parse_yaml import parse_tree
from imlp_audit.spec.tree import plain

_LEVEL = 2
_OPEN = (yaml.FlowMappingStartToken, yaml.FlowSequenceStartToken)
_CLOSE = (yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)


def format_spec(text: str, shown_as: str = "spec.yaml") -> str:
    """Return a spec's text in the usual layout; as it is where it cannot be read without a problem.

    A level is indented by two spaces, and so are the items of a list below their key. There is one space behind a colon
    and a comma, none inside braces and at the end of a line, at most one empty line in a row, and each line ends in a
    line feed. The result has the same keys and values in the same order, and the same comments.
    """
    source = text.removeprefix("\ufeff").replace("\r\n", "\n")
    source = source if source.endswith("\n") else f"{source}\n"
    tree, problems = parse_tree(source, shown_as)
    if tree is None or problems:
        return text
    tokens = _scan(source)
    layout = _lay_out(tokens)
    done = _join(_space(source, tokens), layout)
    again, _ = parse_tree(done, shown_as)
    same = again is not None and plain(again) == plain(tree)
    return done if same and _comments(done) == _comments(source) else text


def _scan(source: str) -> list[yaml.Token]:
    return list(yaml.scan(source, Loader=yaml.CSafeLoader))


def _is_seen(token: yaml.Token) -> bool:
    return bool(token.end_mark.index > token.start_mark.index)


def _space(source: str, tokens: Sequence[yaml.Token]) -> list[str]:
    """Return the lines with the usual spaces between the tokens of each."""
    edits: list[tuple[int, int, str]] = []
    for before, after in pairwise(filter(_is_seen, tokens)):
        start, end = before.end_mark.index, after.start_mark.index
        space = _gap(before, after)
        if space is not None and source[start:end].strip(" ") == "" and source[start:end] != space:
            edits.append((start, end, space))
    for start, end, space in reversed(edits):
        source = source[:start] + space + source[end:]
    return source.split("\n")


def _gap(before: yaml.Token, after: yaml.Token) -> str | None:
    """Return the space between two tokens of a line; None where it may be any."""
    if isinstance(before, _OPEN) or isinstance(after, (*_CLOSE, yaml.FlowEntryToken, yaml.ValueToken)):
        return ""
    if isinstance(before, (yaml.ValueToken, yaml.FlowEntryToken, yaml.BlockEntryToken)):
        return " "
    return None


@dataclass(frozen=True)
class _Block:
    """A mapping or a list that is open: the column that its entries have, and the one that they get.

    A list may be `unmarked`: in the column of its key, without a token where it begins and ends.
    """

    old: int
    new: int
    listed: bool = False
    unmarked: bool = False


@dataclass
class _Layout:
    """How far each line moves to the right: lines that begin something, and lines inside a text or braces."""

    begun: dict[int, tuple[int, int]] = field(default_factory=dict)  # the column that a line has, and the one it gets
    inside: dict[int, int] = field(default_factory=dict)  # by how much a line moves
    texts: set[int] = field(default_factory=set)  # lines inside a text, whose spaces may be part of it


def _lay_out(tokens: Sequence[yaml.Token]) -> _Layout:
    layout, blocks = _Layout(), [_Block(-_LEVEL, -_LEVEL)]
    last = -1  # the last line that something stands on
    flow = 0
    key = False
    for token in tokens:
        _open_or_close(blocks, token, flow)
        key = key or isinstance(token, yaml.KeyToken)
        flow -= isinstance(token, _CLOSE)
        if not _is_seen(token):
            continue
        start, end, block = token.start_mark, token.end_mark, blocks[-1]
        if start.line > last:
            entry = not flow and (key or isinstance(token, yaml.BlockEntryToken))
            moved = block.new if entry else start.column + block.new - block.old
            layout.begun[start.line] = (start.column, moved)
        stop = end.line if end.column else end.line - 1  # a text of lines ends before the next line
        for line in range(start.line + 1, stop + 1):
            layout.inside[line] = block.new - block.old
            layout.texts.add(line)
        flow += isinstance(token, _OPEN)
        last, key = max(last, stop), False
    return layout


def _open_or_close(blocks: list[_Block], token: yaml.Token, flow: int) -> None:
    """Keep the open blocks up to date at a token."""
    column, last = token.start_mark.column, blocks[-1]
    if isinstance(token, (yaml.BlockMappingStartToken, yaml.BlockSequenceStartToken)):
        blocks.append(_Block(column, last.new + _LEVEL, isinstance(token, yaml.BlockSequenceStartToken)))
    elif isinstance(token, yaml.BlockEntryToken) and not last.listed:
        blocks.append(_Block(column, last.new + _LEVEL, listed=True, unmarked=True))
    elif isinstance(token, (yaml.KeyToken, yaml.BlockEndToken)) and not flow:
        if last.unmarked:
            blocks.pop()
        if isinstance(token, yaml.BlockEndToken):
            blocks.pop()


def _join(lines: Sequence[str], layout: _Layout) -> str:
    """Return the text of the lines, each moved to where it goes, without spare spaces and empty lines."""
    done: list[str] = []
    begun = sorted(layout.begun)
    for number, line in enumerate(lines):
        bare = line.lstrip(" ")
        if number in layout.texts:
            done.append(" " * (len(line) - len(bare) + layout.inside[number]) + bare if bare else line)
        elif bare.strip():
            done.append(" " * _column(number, len(line) - len(bare), layout, begun) + bare.rstrip())
        elif done and done[-1].strip():
            done.append("")
    while done and not done[-1].strip():
        done.pop()
    return "\n".join([*done, ""])


def _column(number: int, old: int, layout: _Layout, begun: Sequence[int]) -> int:
    """Return where a line goes: a comment goes with the nearest line below or above that is in its column."""
    if number in layout.begun:
        return layout.begun[number][1]
    at = bisect_left(begun, number)
    above = layout.begun[begun[at - 1]] if at > 0 else None
    below = layout.begun[begun[at]] if at < len(begun) else None
    like = next((one for one in (below, above) if one is not None and one[0] == old), None)
    near = like or (above if above is not None and below is not None and old > below[0] else below)
    return old if near is None else old + near[1] - near[0]


def _comments(source: str) -> list[str]:
    """Return the comments of a text in order: what stands between its tokens apart from spaces."""
    tokens = [one for one in _scan(source) if _is_seen(one)]
    ends = [0, *(one.end_mark.index for one in tokens)]
    starts = [*(one.start_mark.index for one in tokens), len(source)]
    between = (line.strip() for end, start in zip(ends, starts, strict=True) for line in source[end:start].split("\n"))
    return [line for line in between if line]
