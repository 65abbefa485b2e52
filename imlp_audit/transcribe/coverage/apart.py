"""Numbers that are not quantities: the parts of a name, of a reference, of the bibliography, ..."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from enum import StrEnum

from imlp_audit.numbers.forms import DecimalMark, FoundNumber, find_numbers


class ApartKind(StrEnum):
    """What a number is that is not a quantity."""

    BIBLIOGRAPHY = "in the bibliography"
    CONTENTS = "in the table of contents"
    PAGE = "a page number"
    LINK = "part of an address or an identifier"
    HEADING = "the number of a heading"
    ITEM = "the number of an item in a list"
    REFERENCE = "a reference to a part of the document"
    CITATION = "part of a citation"
    INDEX = "an index of a symbol"
    NAME = "part of a name"


_PART = (
    r"Tab(?:le)?|Fig(?:ure)?|Eq(?:n|uation)?|Sec(?:tion)?|§|Appendix|Theorem|Lemma|Definition|Corollary|Proposition|"
    r"Alg(?:orithm)?|Chapter|Remark|(?:[Ii]n)?equality|Таблиц[аеуы]|Таблицей|Табл|Рис(?:унок|унка|унке)?|Раздел|Глава"
)
_PARTS = (
    r"Tables|Tabs|Figures|Figs|Equations|Eqs|Sections|Secs|Appendices|Theorems|Lemmas|Definitions|Algorithms|Chapters|"
    r"Таблиц(?:ах|ы)?|Рисунк(?:ах|и)|Раздел(?:ах|ы)"
)
_ID = r"\(?(?:[A-Z]\.?)?\d+(?:\.\d+)*[a-z]?\)?(?![\d%])"
_RANGE = rf"(?:[-–]{_ID})?"
_YEAR = r"(?:19[5-9]\d|20[0-3]\d)[a-z]?"
_RULES = (
    (
        ApartKind.LINK,
        r"https?://\S+|www\.\S+|\barXiv[: ]\S+|\bdoi[: ]\S+|\b10\.\d{4,}/\S+|(?<!\S)\S{1,200}@\S{1,200}\.\w+",
    ),
    (
        ApartKind.REFERENCE,
        rf"(?<![^\W\d_])(?i:{_PARTS})\.?[\s~]*{_ID}(?:{_RANGE}(?:\s*,\s*{_ID})*\s*,?\s*(?:and|or|и|&)\s*{_ID}|{_RANGE})|"
        rf"(?<![^\W\d_])(?i:{_PART})\.?[\s~]*{_ID}{_RANGE}|(?<![\w\\])[A-Z]\.\d+(?:\.\d+)*(?!\w)|"
        r"\\tag\s*\{[^{}]*\}|(?:\\quad|[,.}])\s*\(\d+\)\s*\$*\s*\Z",
    ),
    (
        ApartKind.CITATION,
        rf"(?<=[^\W\d_],)\s+{_YEAR}(?=[;)]|,\s+{_YEAR})|(?<=\.,)\s+{_YEAR}(?=[;)])|"
        rf"\b[^\W\d_]\w+(?: et al\.?,?| (?:and|&) [^\W\d_]\w+)\s+\({_YEAR}\)",
    ),
    (ApartKind.INDEX, r"_\s*(?:\d+|\{(?!\s*(?:\\pm|±|\+|-))(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})"),
    (ApartKind.NAME, r"(?<![\w\\])[^\W\d_](?:\w*)(?:[-/+.][\w]+)*|(?<![\w.])[23]D\b"),
)
_WHOLE = frozenset({ApartKind.INDEX, ApartKind.NAME})
"""Kinds that have whole numbers alone: 72.2_{0.3} has no index, and Acc/72.6 is not a name."""
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _RULES)
Spans = list[tuple[int, int, ApartKind]]


def spans_of(text: str) -> Spans:
    """Return the places in a line whose numbers are apart, as far as the line alone shows it."""
    return [(one.start(), one.end(), kind) for kind, pattern in _PATTERNS for one in pattern.finditer(text)]


def find_quantities(text: str, decimal: DecimalMark = ".") -> list[FoundNumber]:
    """Return the numbers of a single text that are quantities."""
    numbers = list(find_numbers(text, decimal))
    return [one for one, kind in zip(numbers, kinds_of(numbers, spans_of(text)), strict=True) if kind is None]


def kinds_of(numbers: Sequence[FoundNumber], spans: Spans) -> list[ApartKind | None]:
    """Return what each number of a line is, if it is not a quantity; of several spans the first decides."""
    starts = [number.start for number in numbers]
    kinds: list[ApartKind | None] = [None] * len(numbers)
    for first, last, kind in spans:
        at = bisect_left(starts, first)
        while at < len(numbers) and numbers[at].end <= last:
            if kind not in _WHOLE or "." not in numbers[at].key:
                kinds[at] = kinds[at] or kind
            at += 1
    return kinds
