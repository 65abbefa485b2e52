"""The text layer of a PDF: words with their places, lines in reading order, and the rules that are drawn."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imlp_audit.errors import UsageError
from imlp_audit.files import MAX_DOCUMENT_BYTES, read_bytes
from imlp_audit.transcribe.pdf_words import Line, Word, join_words, order_lines, read_words

if TYPE_CHECKING:
    from pdfplumber.page import Page

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


def pages(path: Path) -> tuple[str, ...]:
    """Return the text of each page, column by column, with words as far apart as they are printed.

    Raised and lowered characters stand behind `^` and `_`: 224² is 224^2 and never 2242. Raises UsageError as
    `read_pages` does, and ModuleNotFoundError where pdfplumber (the extra `pdf`) is not installed.
    """
    data = read_bytes(path, MAX_DOCUMENT_BYTES)
    return tuple("\n".join(map(join_words, page.lines)) for page in read_pages(data, path.name))


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
