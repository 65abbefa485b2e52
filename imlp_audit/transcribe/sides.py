"""The side of square images, as a cell, a label, a caption or a heading between rows gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from imlp_audit.transcribe.cells import split_mark

_SIDE = re.compile(r"(\d{2,4})\s*(?:\^2|²|\s*[×xX*]\s*\1)?(?:[\s-]*(?:px|pixels?))?", re.ASCII)
_PASTED = re.compile(r"\d\d[02468]2", re.ASCII)  # 224² that was copied as 2242
_BETWEEN = re.compile(r"\s*(?:[/,;|&→↑]|\band\b|\bto\b|->)\s*")  # two sizes in one cell
_SMALLEST, _LARGEST = 16, 1536
_OTHER_SIDES = frozenset({260, 299, 331, 380, 392, 456, 518})  # usual ones that are no multiple of 16
_LEAST = 32
_OTHER = r"(?:patch(?:es)?|windows?|kernels?|conv\w*|tokens?|grids?)"
_OTHERS_BEFORE = re.compile(rf"\b{_OTHER}(?:\s+(?:sizes?|of|is|at|=))*\s*$", re.IGNORECASE)
_OTHERS_AFTER = re.compile(rf"[\s-]*(?:pixels?\s+)?{_OTHER}\b", re.IGNORECASE)
_END = r"(?=\s*(?:$|[.;:,)](?!\d)|(?:and|or|for|on|in|with|unless|except|by|using|resolution|input|images?|inputs)\b))"
_NAMED = re.compile(
    rf"(?:\bres(?:olutions?|\.)|\b(?:input|image|crop|test)\s+sizes?|\bcrops?|\b(?:images|inputs?)\s+(?:of(?:\s+size)?|at)|\bat|@)"
    rf"\s*(?:is|of|=|:)?\s*(?P<side>\d{{2,4}}){_END}"
    rf"|(?<![\d.,])(?P<first>\d{{2,4}})(?=[\s-]*(?:resolution|(?:cent(?:er|ral|re)\s+)?crops?|sized)\b)",
    re.IGNORECASE | re.ASCII,
)
_OF_SPEED = re.compile(r"\b(?:throughput|latency|speed|fps|memory|inference time)\b[^.;]*$", re.IGNORECASE)
_OF_MORE = re.compile(
    r"\b(?:\w?flops?|\w?macs?|\w*-?adds?|complexity|acc\w*|top-?[15]|trained|tested|evaluated)\b[^.;]*$", re.IGNORECASE
)


def side_of(text: str) -> int | None:
    """Return the side of square images that a text such as 224^2 or 224x224 gives; None where it gives none."""
    found = _SIDE.fullmatch(split_mark(text)[0])
    if found is None or _PASTED.fullmatch(found[0]):
        return None
    return int(found[1]) if int(found[1]) >= _SMALLEST else None


def sides_in(text: str) -> tuple[int, ...]:
    """Return the sides of a text that gives one or several, as 224 / 384; none for any other."""
    sides = [side_of(part) for part in _BETWEEN.split(text)]
    return tuple(side for side in sides if side is not None) if None not in sides else ()


def may_be_side(number: int) -> bool:
    """Return whether a number without a unit may be the side of images: no year, no round number of epochs."""
    return number in _OTHER_SIDES or (number % 16 == 0 and number % 100 != 0 and _SMALLEST <= number <= _LARGEST)


def sides_named(text: str) -> tuple[int, ...]:
    """Return all sides of square images that a text gives, in order."""
    return tuple(dict.fromkeys([*_squares(text), *_named(text)]))


def find_oblong(text: str) -> tuple[int, int] | None:
    """Return the sides of images that are not square, if a text gives no other size."""
    found = {
        (int(one[2]), int(one[3]))
        for one in _OBLONG.finditer(text)
        if not (_OTHERS_BEFORE.search(text, 0, one.start()) or _OTHERS_AFTER.match(text, one.end()))
        and (not _OF_SPEED.search(text, 0, one.start()) or _OF_MORE.search(text, 0, one.start()))
    }
    return found.pop() if len(found) == 1 and not sides_named(text) else None


_OBLONG = re.compile(
    r"(?<![\d.×xX])(?!(\d+)\s*[×x]\s*\1(?!\d))([1-9]\d{2,3})\s*[×x]\s*([1-9]\d{2,3})(?![\d×x]|\.\d)", re.ASCII
)


def _squares(text: str) -> Iterator[int]:
    """Yield the sides that are written as squares or in pixels, and are not those of patches, windows or kernels."""
    for found in _SIDE.finditer(text):
        other = _OTHERS_BEFORE.search(text, 0, found.start()) or _OTHERS_AFTER.match(text, found.end())
        side = None if other or found[0].strip().isdigit() else side_of(found[0].strip())
        if side is not None and side >= _LEAST:
            yield side


def _named(text: str) -> Iterator[int]:
    """Yield the sides that a word before or after a plain number gives, as in "at resolution 224"."""
    for found in _NAMED.finditer(text):
        side = int(found["side"] or found["first"])
        if may_be_side(side):
            yield side
