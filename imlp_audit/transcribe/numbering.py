"""Numbers of tables: the paper's own where the source has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from imlp_audit.transcribe.grid import SourceTable

_STATED = re.compile(
    r"\s*Tab(?:le|\.)\s+((?:[A-Z]\.?)?\d{1,3}[a-z]?|[IVX]{1,6})\b\s*(?:[.:|–—-]\s*|$)", re.IGNORECASE | re.ASCII
)
PART = "+"
"""Stands before the letter of a table that is a part of a float without a number."""


def number_tables(tables: Sequence[SourceTable]) -> Iterator[SourceTable]:
    """Yield the tables with a number each; those without, or of which only the part is known, come after the others.

    A caption such as "Table 2: Results" begins with the number of its table; its text follows.
    """
    tables = [_read_number(table) for table in tables]
    taken = {table.number for table in tables}
    digits = [int(found[0]) for number in taken if (found := re.match(r"\d+", number))]
    free = count(max(digits, default=0) + 1)
    seen: set[str] = set()
    last = ""
    for table in tables:
        number = table.number
        if number.startswith(PART):
            last = str(next(free)) if number == f"{PART}a" else last
            number = last + number.removeprefix(PART)
        elif not number or number in seen:
            number = str(next(free))
        seen.add(number)
        yield replace(table, number=number)


def split_number(caption: str) -> tuple[str, str]:
    """Return the number of its table that a caption begins with, as in "Table 7. ", and the rest; "" without one."""
    stated = _STATED.match(caption)
    return (caption[: stated.end()], caption[stated.end() :]) if stated is not None else ("", caption)


def _read_number(table: SourceTable) -> SourceTable:
    stated = _STATED.match(table.caption) if not table.number else None
    if stated is None:
        return table
    return replace(table, number=stated[1].lower(), caption=table.caption[stated.end() :] or table.caption)
