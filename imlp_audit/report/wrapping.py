"""Breaks styled text into lines between words. Words longer than a line are broken after a slash, a dot or the like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from imlp_audit.report.lines import Line, cut, plain, strip_end, width_of

# a word is kept whole, and so is a number whose digits are in groups: 5 717 416
_WORD = re.compile(r"[^\s\d]?\d{1,3}(?: \d{3})+(?!\d)\S*|\S+")
_BREAKABLE = re.compile(r"[/_.,:;=&?+-]")


def wrap(line: Line, width: int) -> list[Line]:
    """Return the lines that a line makes at a width; there is always one."""
    text = plain(line)
    if width_of(text) <= width:
        return [strip_end(line)]
    return [strip_end(part) for part in cut(line, _breaks(text, width))]


def longest_word(text: str) -> int:
    """Return the width of the widest word."""
    return max((width_of(found[0]) for found in _WORD.finditer(text)), default=0)


def _breaks(text: str, width: int) -> Iterator[int]:
    """Yield where lines begin, except the first."""
    begin = end = 0  # the line so far
    for found in _WORD.finditer(text):
        if end > begin and width_of(text[begin : found.end()]) > width:
            begin = found.start()
            yield begin
        end = found.end()
        while width_of(text[begin:end]) > width:
            begin = _break_within(text, begin, end, width)
            yield begin


def _break_within(text: str, begin: int, end: int, width: int) -> int:
    """Return where the next line begins within a word that is longer than a line."""
    stop = begin + 1
    while stop < end and width_of(text[begin : stop + 1]) <= width:
        stop += 1
    return max((found.end() for found in _BREAKABLE.finditer(text, begin, stop)), default=stop)
