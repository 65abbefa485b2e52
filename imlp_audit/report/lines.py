"""Lines of a terminal: pieces of text, each with its style in rich's words. They are tuples, and `+` joins them.

`rich.text` does more with lines, and takes as long to import as a long list takes to lay out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

from rich.cells import cell_len

Line: TypeAlias = tuple[tuple[str, str], ...]


def styled(text: str, style: str = "") -> Line:
    """Return a line of one piece."""
    return ((text, style),)


def plain(line: Line) -> str:
    """Return a line's text."""
    return line[0][0] if len(line) == 1 else "".join(text for text, _ in line)


def width_of(text: str) -> int:
    """Return how many columns a text takes on a terminal."""
    return len(text) if text.isascii() else cell_len(text)


def restyle(line: Line, style: str) -> Line:
    """Return a line with a style below those of its pieces; neighbours that had none become one piece."""
    pieces: list[tuple[str, str]] = []
    for text, own in line:
        if not own and pieces and pieces[-1][1] == style:
            pieces[-1] = (pieces[-1][0] + text, style)
        elif text:
            pieces.append((text, f"{style} {own}".strip()))
    return tuple(pieces)


def cut(line: Line, offsets: Iterable[int]) -> Iterator[Line]:
    """Yield the parts of a line between some offsets in its text, in order; all of it where there are none."""
    for begin, end in pairwise((0, *offsets, len(plain(line)))):
        yield tuple(_between(line, begin, end))


def _between(line: Line, begin: int, end: int) -> Iterator[tuple[str, str]]:
    at = 0
    for text, style in line:
        part = text[max(begin - at, 0) : max(end - at, 0)]
        if part:
            yield part, style
        at += len(text)


def strip_end(line: Line) -> Line:
    """Return a line without the spaces at its end."""
    while line:
        *before, (text, style) = line
        stripped = text.rstrip()
        if stripped:
            return line if stripped == text else (*before, (stripped, style))
        line = tuple(before)
    return line
