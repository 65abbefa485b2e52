"""The text layer of a PDF: words with their places, lines in reading order, and the rules that are drawn."""

from __future__ import annotations

import io
import logging
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from imlp_audit.errors import UsageError

if TYPE_CHECKING:
    from pdfplumber.page import Page

_SPACE = 0.13  # of the size: a wider gap between two characters is a space
_SMALLER = 0.88  # of the size: what is raised or lowered is smaller
_SAME = 0.7  # points: characters of a line differ by less in their baselines
_LINE = 0.3  # of the size: words of a line differ by less in their baselines


@dataclass(frozen=True)
class Word:
    """Characters without a space between them: their extent and baseline in points from the page's upper left corner.

    Whatever is raised or lowered stands in the text behind `^` or `_`: 224² is 224^2.
    """

    text: str
    x0: float
    x1: float
    base: float
    size: float


Line = tuple[Word, ...]


def cluster(words: Sequence[Word], apart: float) -> Iterator[Line]:
    """Yield what shares a baseline, from top to bottom, each line from left to right."""
    line: list[Word] = []
    for word in sorted(words, key=lambda one: (one.base, one.x0)):
        if line and word.base - line[0].base > apart:
            yield tuple(sorted(line, key=lambda one: one.x0))
            line = []
        line.append(word)
    if line:
        yield tuple(sorted(line, key=lambda one: one.x0))


def _attach_raised(words: Sequence[Word]) -> list[Word]:
    """Join each small word to the nearest larger one that it stands beside, above or below its baseline."""
    ordered = sorted(words, key=lambda word: word.base)
    bases = [word.base for word in ordered]
    largest = max((word.size for word in ordered), default=0.0)
    hosts: dict[int, int] = {}
    for at, small in enumerate(ordered):
        if small.size < _SMALLER * largest:  # a page of one size has nothing raised
            near = range(bisect_left(bases, small.base - largest), bisect_left(bases, small.base + largest))
            able = [other for other in near if _carries(ordered[other], small)]
            if able:
                hosts[at] = min(able, key=lambda other: (abs(bases[other] - small.base), -ordered[other].x1))
    joined = list(ordered)
    for at in sorted(hosts, key=lambda one: (ordered[one].size, -ordered[one].x0)):  # a script of a script first
        part, host = joined[at], joined[hosts[at]]
        sign = " " if part.text.startswith(("±", "(")) else "^" if part.base < host.base else "_"
        joined[hosts[at]] = replace(host, text=host.text + sign + part.text, x1=max(host.x1, part.x1))
    return [word for at, word in enumerate(joined) if at not in hosts]


def _carries(host: Word, small: Word) -> bool:
    shift, gap = abs(host.base - small.base), small.x0 - host.x1
    beside = -0.3 * host.size < gap < 0.3 * host.size and small.x1 > host.x1
    return beside and small.size < _SMALLER * host.size and 0.1 * host.size < shift < 0.65 * host.size


def _order_lines(words: Sequence[Word], width: float) -> Iterator[Line]:
    """Yield the lines of a page of this width: column by column between lines that run over both columns."""
    gutter = _find_gutter(words, width)
    columns: tuple[list[Word], list[Word]] = ([], [])
    for line in [tuple(words)] if gutter is None else cluster(words, 1.0):
        if gutter is None or _crosses(line, gutter):
            yield from (*_lines(columns[0]), *_lines(columns[1]), *([line] if gutter is not None else _lines(line)))
            columns = ([], [])
            continue
        for word in line:
            columns[word.x1 > gutter].append(word)
    yield from (*_lines(columns[0]), *_lines(columns[1]))


def _lines(words: Sequence[Word]) -> Iterator[Line]:
    yield from cluster(words, _LINE * usual_size(words))


def usual_size(words: Sequence[Word]) -> float:
    """Return the size of the text that most words are near."""
    return sorted(word.size for word in words)[len(words) // 2] if words else 0.0


def _crosses(line: Line, gutter: float) -> bool:
    if any(word.x0 < gutter < word.x1 for word in line):
        return True
    return any(a.x1 <= gutter <= b.x0 and b.x0 - a.x1 < 0.8 * a.size for a, b in pairwise(line))


def _find_gutter(words: Sequence[Word], width: float) -> float | None:
    """Return where the two columns of a page part; None for a page of one column."""
    lines = list(cluster(words, 1.0))
    crossing = {at: sum(_crosses(line, at) for line in lines) for at in (width * part / 100 for part in range(42, 59))}
    place = min(crossing, key=lambda one: (crossing[one], abs(one - width / 2)))
    both = sum(any(word.x1 <= place or word.x0 >= place for word in line) for line in lines)
    least = min(sum(word.x1 < place for word in words), sum(word.x0 > place for word in words))
    return place if both and crossing[place] <= 0.4 * both and least > 0.2 * len(words) else None


def join_words(words: Sequence[Word]) -> str:
    """Return the text of a line, with more spaces where words stand further apart."""
    text = words[0].text if words else ""
    for before, word in pairwise(words):
        spaces = min(40, max(1, round((word.x0 - before.x1) / (word.size / 2))))
        text += " " * spaces + word.text
    return text


MAX_PAGES = 400
_THIN = 2.0  # points: a filled box that is not higher is a rule
_SHORTEST = 12.0  # points: a shorter rule is a fraction's or an accent's


@dataclass(frozen=True)
class Rule:
    """A horizontal line that is drawn on a page."""

    x0: float
    x1: float
    y: float


@dataclass(frozen=True)
class PdfPage:
    """A page: its lines in reading order, and its rules. `rotated` counts the characters that are left out."""

    number: int
    lines: tuple[Line, ...]
    rules: tuple[Rule, ...]
    rotated: int = 0


def read_pages(data: bytes, shown_as: str) -> tuple[PdfPage, ...]:
    """Return the pages of a PDF. Raises UsageError for one that is broken, locked or without a text layer."""
    import pdfplumber

    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)  # it warns of each font that it does not know
    try:
        with pdfplumber.open(io.BytesIO(data)) as document:
            found = tuple(_read_all(document.pages[:MAX_PAGES]))
    except MemoryError:
        raise
    except Exception as error:  # a file that breaks the format makes pdfminer raise anything
        locked = "password" in f"{error!r}".lower()
        deep = "recursion" in f"{error!r}"
        what = "its objects are nested too deeply" if deep else error or type(error).__name__
        why = "it asks for a password" if locked else f"it is not a sound PDF ({what})"
        raise UsageError(f"{shown_as} cannot be read: {why}; give the paper's LaTeX source instead") from error
    if not any(page.lines for page in found):
        advice = "give the paper's LaTeX source, or type the table as CSV"
        raise UsageError(f"{shown_as} has no text layer (a scan?): {advice}")
    return found


def _read_all(opened: Sequence[Page]) -> Iterator[PdfPage]:
    for page in opened:
        upright = page.filter(lambda one: one["object_type"] != "char" or (one["upright"] and one["matrix"][0] > 0))
        found = upright.extract_words(
            x_tolerance_ratio=_SPACE, y_tolerance=_SAME, extra_attrs=["size"], return_chars=True
        )
        words = [
            Word(one["text"], one["x0"], one["x1"], float(page.height) - one["chars"][0]["matrix"][5], one["size"])
            for one in found
        ]
        lines = tuple(_order_lines(_attach_raised(words), float(page.width)))
        yield PdfPage(page.page_number, lines, tuple(_rules(page)), len(page.chars) - len(upright.chars))
        page.close()


def _rules(page: Page) -> Iterator[Rule]:
    """Yield the horizontal rules, whole: a table that is drawn cell by cell has one in many pieces."""
    drawn = [
        (float(one["x0"]), float(one["x1"]), float(one["top"]), float(one["bottom"]))
        for one in (*page.lines, *page.rects)
    ]
    pieces = [Rule(x0, x1, (top + bottom) / 2) for x0, x1, top, bottom in drawn if bottom - top <= _THIN]
    whole: list[Rule] = []
    for rule in sorted(pieces, key=lambda one: (round(one.y), one.x0)):
        if whole and abs(rule.y - whole[-1].y) < 1 and rule.x0 <= whole[-1].x1 + 2:
            whole[-1] = replace(whole[-1], x1=max(whole[-1].x1, rule.x1))
        else:
            whole.append(rule)
    yield from (rule for rule in whole if rule.x1 - rule.x0 >= _SHORTEST)
