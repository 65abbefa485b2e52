"""The decimal mark of a table: a point or a comma, by how most of its numbers are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from imlp_audit.numbers.forms import DecimalMark
from imlp_audit.transcribe.grid import GridRow

_AROUND = r"[~≈(]?\s*[+\-−–]?\s*({})\s*\D{{0,20}}"
_COMMA = re.compile(_AROUND.format(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,(?!\d{3}(?!\d))\d+"), re.ASCII)
_POINT = re.compile(_AROUND.format(r"\d{1,3}(?:,\d{3})+\.\d+|\d+\.\d+"), re.ASCII)
_NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*", re.ASCII)
_BEGIN = re.compile(r"[~≈(]?\s*[+\-−–]?\s*\d", re.ASCII)
_SWAP = str.maketrans(".,", ",.")


def find_decimal(rows: Sequence[GridRow]) -> DecimalMark:
    """Return a comma where more numbers have one before their decimals than have a point; 1,415 has no decimals."""
    texts = [text for row in rows for text in row.cells]
    commas = sum(_COMMA.fullmatch(text) is not None for text in texts)
    return "," if commas > sum(_POINT.fullmatch(text) is not None for text in texts) else "."


def with_points(rows: Sequence[GridRow]) -> Iterator[GridRow]:
    """Yield rows with a point in place of the decimal comma of every number, and a comma between its groups.

    A text that begins with no number, such as RegNetY-1.6GF, is a name.
    """
    for row in rows:
        yield replace(row, cells=tuple(_swap(text) if _BEGIN.match(text) else text for text in row.cells))


def _swap(text: str) -> str:
    return _NUMBER.sub(lambda found: swap_marks(found[0]), text)


def swap_marks(number: str) -> str:
    """Return a number with a comma for each point, and a point for each comma."""
    return number.translate(_SWAP)
