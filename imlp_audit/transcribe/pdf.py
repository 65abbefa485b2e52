"""The text layer of a PDF: words with their places, lines in reading order, and the rules that are drawn."""

from __future__ import annotations

import io
import logging
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

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


def read_words(characters: Sequence[Word]) -> list[Word]:
    """Return the words of a page, given its characters."""
    return _attach_raised([word for line in cluster(characters, _SAME) for word in _split(line)])


def cluster(words: Sequence[Word], apart: float) -> Iterator[list[Word]]:
    """Yield what shares a baseline, from top to bottom, each line from left to right."""
    line: list[Word] = []
    for word in sorted(words, key=lambda one: (one.base, one.x0)):
        if line and word.base - line[0].base > apart:
            yield sorted(line, key=lambda one: one.x0)
            line = []
        line.append(word)
    if line:
        yield sorted(line, key=lambda one: one.x0)


def _split(line: Sequence[Word]) -> Iterator[Word]:
    """Yield the words of a line of characters."""
    word: Word | None = None
    for one in line:
        gap = one.x0 - word.x1 if word is not None else 0.0
        if word is not None and (one.text.isspace() or not -0.5 * one.size < gap < _SPACE * one.size):
            yield word
            word = None
        if one.text.isspace():
            continue
        word = one if word is None else replace(word, text=word.text + one.text, x1=max(word.x1, one.x1))
    if word is not None:
        yield word


def _attach_raised(words: Sequence[Word]) -> list[Word]:
    """Join each small word to the larger one that it stands beside, above or below its baseline."""
    ordered = sorted(words, key=lambda word: word.base)
    bases = [word.base for word in ordered]
    largest = max((word.size for word in ordered), default=0.0)
    attached: dict[int, list[int]] = {}
    for at, small in enumerate(ordered):
        near = range(bisect_left(bases, small.base - largest), bisect_left(bases, small.base + largest))
        small_enough = small.size < _SMALLER * largest  # a page of one size has nothing raised
        hosts = [other for other in near if _carries(ordered[other], small)] if small_enough else []
        if hosts:
            nearest = min(hosts, key=lambda other: (abs(ordered[other].base - small.base), -ordered[other].x1))
            attached.setdefault(nearest, []).append(at)
    parts = {at for inner in attached.values() for at in inner}
    return [_with_parts(ordered, attached, at) for at in range(len(ordered)) if at not in parts]


def _carries(host: Word, small: Word) -> bool:
    """Say whether a small word is raised or lowered at the end of another."""
    shift, gap = abs(host.base - small.base), small.x0 - host.x1
    beside = -0.3 * host.size < gap < 0.3 * host.size and small.x1 > host.x1
    return beside and small.size < _SMALLER * host.size and 0.1 * host.size < shift < 0.65 * host.size


def _with_parts(words: Sequence[Word], attached: dict[int, list[int]], at: int) -> Word:
    word = words[at]
    text, end = word.text, word.x1
    for part in (_with_parts(words, attached, one) for one in sorted(attached.get(at, ()))):
        text += _join_part(part, raised=part.base < word.base)
        end = max(end, part.x1)
    return replace(word, text=text, x1=end)


def _join_part(part: Word, *, raised: bool) -> str:
    if part.text.startswith(("±", "(")):
        return f" {part.text}"  # a spread or a change: no exponent and no index
    return ("^" if raised else "_") + part.text


def order_lines(words: Sequence[Word], width: float) -> list[Line]:
    """Return the lines of a page of this width: column by column between lines that run over both columns."""
    gutter = _find_gutter(words, width)
    if gutter is None:
        return _lines(words)
    done: list[Line] = []
    left: list[Word] = []
    right: list[Word] = []
    for line in cluster(words, 1.0):
        if _crosses(line, gutter):
            done += [*_lines(left), *_lines(right), tuple(line)]
            left, right = [], []
        left += [word for word in line if word.x1 <= gutter and not _crosses(line, gutter)]
        right += [word for word in line if word.x1 > gutter and not _crosses(line, gutter)]
    return [*done, *_lines(left), *_lines(right)]


def _lines(words: Sequence[Word]) -> list[Line]:
    size = sorted(word.size for word in words)[len(words) // 2] if words else 0.0
    return [tuple(line) for line in cluster(words, _LINE * size)]


def _crosses(line: Sequence[Word], gutter: float) -> bool:
    """Say whether the text of a line runs on over a place."""
    if any(word.x0 < gutter < word.x1 for word in line):
        return True
    return any(a.x1 <= gutter <= b.x0 and b.x0 - a.x1 < 0.8 * a.size for a, b in pairwise(line))


def _find_gutter(words: Sequence[Word], width: float) -> float | None:
    """Return where the two columns of a page part; None for a page of one column."""
    lines = list(cluster(words, 1.0))
    places = [width * part / 100 for part in range(42, 59)]
    crossing = {place: sum(_crosses(line, place) for line in lines) for place in places}
    place = min(places, key=lambda one: (crossing[one], abs(one - width / 2)))
    both = sum(any(word.x1 <= place for word in line) or any(word.x0 >= place for word in line) for line in lines)
    wide = sum(word.x1 < place for word in words), sum(word.x0 > place for word in words)
    return place if both and crossing[place] <= 0.4 * both and min(wide) > 0.2 * len(words) else None


def join_words(words: Sequence[Word]) -> str:
    """Return the text of a line, with more spaces where words stand further apart."""
    text = words[0].text if words else ""
    for before, word in pairwise(words):
        spaces = min(40, max(1, round((word.x0 - before.x1) / (word.size / 2))))
        text += " " * spaces + word.text
    return text


MAX_PAGES = 400
_MAX_CHARACTERS = 1_000_000
_THIN = 2.0  # points: a filled box that is not higher is a rule
_SHORTEST = 12.0  # points: a shorter rule is a fraction's or an accent's
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})


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
    left = _MAX_CHARACTERS
    for page in opened:
        characters = page.chars[:left]
        left -= len(characters)
        upright = [_place(one, float(page.height)) for one in characters if one["upright"] and one["matrix"][0] > 0]
        lines = order_lines(read_words(upright), float(page.width))
        yield PdfPage(
            page.page_number, tuple(lines), tuple(_join_rules(_read_rules(page))), len(characters) - len(upright)
        )
        page.close()
        if left <= 0:
            return


def _place(character: Mapping[str, Any], height: float) -> Word:
    x0, x1, base = (float(one) for one in (character["x0"], character["x1"], character["matrix"][5]))
    return Word(character["text"].translate(_LIGATURES), x0, x1, height - base, float(character["size"]))


def _read_rules(page: Page) -> Iterator[Rule]:
    for one in (*page.lines, *page.rects):
        top, bottom = float(one["top"]), float(one["bottom"])
        if bottom - top <= _THIN:
            yield Rule(float(one["x0"]), float(one["x1"]), (top + bottom) / 2)


def _join_rules(rules: Iterator[Rule]) -> Iterator[Rule]:
    """Yield whole rules: a table that is drawn cell by cell has one in many pieces."""
    open_rule: Rule | None = None
    for rule in sorted(rules, key=lambda one: (round(one.y), one.x0)):
        joins = open_rule is not None and abs(rule.y - open_rule.y) < 1 and rule.x0 <= open_rule.x1 + 2
        if open_rule is not None and joins:
            open_rule = replace(open_rule, x1=max(open_rule.x1, rule.x1))
            continue
        if open_rule is not None and open_rule.x1 - open_rule.x0 >= _SHORTEST:
            yield open_rule
        open_rule = rule
    if open_rule is not None and open_rule.x1 - open_rule.x0 >= _SHORTEST:
        yield open_rule
