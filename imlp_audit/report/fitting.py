"""What fits on a terminal: texts that are cut at a word, and the lines that blocks take."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

from imlp_audit.report.document import Block, Code, Heading, Inline, Item, List, Paragraph, plain_text

COLUMNS = 80  # of the narrowest terminal that screens are made for
_SPARE = 4  # columns that lines lose where long words are broken early


def shorten(text: str, most: int) -> str:
    """Return the words of a text that fit into so many columns, with three dots where some don't.

    A bracket that is open where the dots stand is closed behind them.
    """
    if _width(text) <= most:
        return text
    kept = _first_words(text, most - 3)
    if _OPEN.search(kept) is None:
        return f"{kept}..."
    kept = _first_words(text, most - 4)
    return f"{kept}...{')' if _OPEN.search(kept) is not None else ''}"


_OPEN = re.compile(r"\([^()\[\]]*$")


def _first_words(text: str, most: int) -> str:
    """Return the first words of a text that fit into so many columns; a part of the first where none does."""
    ends = accumulate(map(_width, text))
    kept = text[: sum(end <= most for end in ends)]
    return kept[: kept.rfind(" ")] if " " in kept else kept


def _width(text: str) -> int:
    """Return the columns that a text takes on a terminal: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def items_that_fit(items: Sequence[Item], lines: int, columns: int = COLUMNS, *, at_least: int) -> list[Item]:
    """Return the first items that fit into so many lines."""
    kept: list[Item] = []
    for item in items:
        lines -= lines_of_item(item, columns)
        if lines < 0 and len(kept) >= at_least:
            break
        kept.append(item)
    return kept


def lines_of(block: Block, columns: int = COLUMNS) -> int:
    """Return about how many lines a block of an overview takes, with the blank line before it."""
    match block:
        case List():
            entries = [item if isinstance(item, Item) else Item(item) for item in block.items]
            return 1 + sum(lines_of_item(entry, columns) for entry in entries)
        case Paragraph() | Heading():
            return 1 + _lines_of_text(block.text, columns - _SPARE)
        case Code():
            return 2 + block.text.count("\n")
        case _:
            return 1


def lines_of_item(item: Item, columns: int = COLUMNS) -> int:
    """Return about how many lines an entry of a list takes."""
    rest = columns - _SPARE - (_width(item.label) or 2)
    below = sum(lines_of_item(one if isinstance(one, Item) else Item(one), columns - 2) for one in item.items)
    return _lines_of_text(item.text, rest) + below


def _lines_of_text(text: Inline, columns: int) -> int:
    lines, used = 1, 0
    for width in map(_width, plain_text(text).split()):
        if used and used + 1 + width > columns:
            lines, used = lines + 1, 0
        used += width + (1 if used else 0)
        lines += (used - 1) // columns
        used = (used - 1) % columns + 1
    return lines
