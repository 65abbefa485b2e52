"""Words and numbers as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from textwrap import wrap
from typing import TypeAlias

from imlp_audit.numbers.interval import decimal_text, readable

WIDTH = 100
INDENT = "  "
_NAME = 11  # columns that the name of an entry takes

Lines: TypeAlias = list[str]


def words(text: str, *, first: str = INDENT, under: str = INDENT) -> Lines:
    """Break a text into lines; the first begins with `first`, all further ones with `under`."""
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=under, break_on_hyphens=False)


def entry(name: str, text: str) -> Lines:
    """Write a text beside its name; nothing for an empty one."""
    return words(f"{name:{_NAME}}{text}", under=INDENT + " " * _NAME) if text else []


def signed(value: int) -> str:
    """Write a difference with its sign, its digits in groups of three."""
    return f"+{readable(value)}" if value > 0 else readable(value)


def gap(units: Fraction) -> str:
    """Write how far a number is off, in units of a last digit, with one decimal place and its sign."""
    text = decimal_text(units, 1)
    sign = "+" if units > 0 and text != "0" else ""
    return sign + (text if "." in text else f"{text}.0")


def counted(number: int, noun: str) -> str:
    """Write a number of things: 1 layer, 2 layers."""
    return f"{readable(number)} {noun}{'' if number == 1 else 's'}"


def table(rows: Sequence[Sequence[str]], *, left: int = 1, right: int | None = None) -> Lines:
    """Align rows in columns, of which those from `left` up to `right` (the last, if None) are flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = range(left, len(widths) if right is None else right)
    return [
        (INDENT + INDENT.join(_cell(text, widths[i], flush_right=i in numbers) for i, text in enumerate(row))).rstrip()
        for row in rows
    ]


def _cell(text: str, width: int, *, flush_right: bool) -> str:
    return text.rjust(width) if flush_right else text.ljust(width)


def document(sections: Iterable[Lines]) -> str:
    """Put sections below each other, the empty ones left out."""
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"
