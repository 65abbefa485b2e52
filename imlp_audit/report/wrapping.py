"""Breaks styled text into lines between words. Words longer than a line are broken after a slash, a dot or the like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

# a word is kept whole, and so is a number whose digits are in groups: 5 717 416
_WORD = re.compile(r"[^\s\d]?\d{1,3}(?: \d{3})+(?!\d)\S*|\S+")
_BREAKABLE = re.compile(r"[/_.,:;=&?+-]")


def wrap(text: Text, width: int) -> list[Text]:
    """Return the lines of a text at a width; there is always one."""
    lines = [text.copy()] if cell_len(text.plain) <= width else list(text.divide(_breaks(text.plain, width)))
    for line in lines:
        line.rstrip()
    return lines


def longest_word(text: str) -> int:
    """Return the width of the widest word."""
    return max((cell_len(found[0]) for found in _WORD.finditer(text)), default=0)


def _breaks(text: str, width: int) -> Iterator[int]:
    """Yield where lines begin, except the first."""
    begin = end = 0  # the line so far
    for found in _WORD.finditer(text):
        if end > begin and cell_len(text[begin : found.end()]) > width:
            begin = found.start()
            yield begin
        end = found.end()
        while cell_len(text[begin:end]) > width:
            begin = _break_within(text, begin, end, width)
            yield begin


def _break_within(text: str, begin: int, end: int, width: int) -> int:
    """Return where the next line begins within a word that is longer than a line."""
    stop = begin + 1
    while stop < end and cell_len(text[begin : stop + 1]) <= width:
        stop += 1
    return max((found.end() for found in _BREAKABLE.finditer(text, begin, stop)), default=stop)
