"""Numbers that are not quantities: the parts of a name, of a reference, of the bibliography, ..."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from enum import StrEnum

from imlp_audit.coverage.lines import DocumentLine
from imlp_audit.numbers.forms import DecimalMark
from imlp_audit.numbers.scan import FoundNumber, find_numbers


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
_ID = r"\(?(?:[A-Z]\.?)?\d+(?:\.\d+)*[a-z]?\)?"
_RANGE = rf"(?:\s*[-–]\s*{_ID})?"
_RULES = (
    (ApartKind.LINK, r"https?://\S+|www\.\S+|\barXiv[: ]\S+|\bdoi[: ]\S+|\b10\.\d{4,}/\S+|\S+@\S+\.\w+"),
    (
        ApartKind.HEADING,
        r"\A\W*(?:\d+(?:\.\d+)*\.?|[A-Z]\.\d+(?:\.\d+)*)[ \t]+(?=[^\W\d_](?:[^\d\t]|(?<=[\w-])\d)*\Z)(?!.*[.,;:]\s*\Z)|"
        r"\A\s*#+\s*\d+(?:\.\d+)*",
    ),
    (ApartKind.ITEM, r"\A\s*[-*•]?\s*(?:\(\d+\)|\[\d+\]|\d+\.)\s+(?=\S)"),
    (
        ApartKind.REFERENCE,
        rf"(?<![^\W\d_])(?i:{_PARTS})\.?[\s~]*{_ID}(?:{_RANGE}(?:\s*,\s*{_ID})*\s*,?\s*(?:and|or|и|&)\s*{_ID}|{_RANGE})|"
        rf"(?<![^\W\d_])(?i:{_PART})\.?[\s~]*{_ID}{_RANGE}|(?<![\w\\])[A-Z]\.\d+(?:\.\d+)*(?!\w)|"
        r"\\tag\s*\{[^{}]*\}|(?:\\quad|[,.}])\s*\(\d+\)\s*\$*\s*\Z",
    ),
    (
        ApartKind.CITATION,
        r"(?:[^\W\d_]\.?,?|et al\.?,?)\s+\(?(?:19|20)\d\d[a-z]?(?=[;,)])|(?<=\()(?:19|20)\d\d[a-z]?(?=\))",
    ),
    (ApartKind.INDEX, r"_\s*(?:\d+|\{(?!\s*(?:\\pm|±|\+|-))(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})"),
    (ApartKind.NAME, r"(?<![\w\\])[^\W\d_](?:\w*)(?:[-/+.][\w]+)*|(?<![\w.])[23]D\b"),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _RULES)
_BIBLIOGRAPHY = re.compile(
    r"\A\W*(?:\d+\W+)?(?:references|bibliography|works cited|литература|список литературы)\W*\Z", re.IGNORECASE
)
_AFTER = re.compile(r"\A\W*(?:appendix|appendices|supplement|приложени)|\A[A-Z]\s+[A-Z]{3,}|\A#", re.IGNORECASE)
_CONTENTS = re.compile(r"\A\W*(?:table of contents|contents|содержание|оглавление)\W*\Z", re.IGNORECASE)
_CONTENTS_LINE = re.compile(r"\d(?:\s|</?\w+>)*\Z")
_CITED = re.compile(r"(?<![\w\\\]])\[\d+(?:\s*[,–-]\s*\d+)*\]")
_ENTRY = re.compile(r"\A\s*[-*•]?\s*\[(\d+)\]\s")

Spans = list[tuple[int, int, ApartKind]]


class ApartFinder:
    """Tells, of any place in a document, which number there is not a quantity."""

    def __init__(self, lines: Sequence[DocumentLine]) -> None:
        self.lines = lines
        self._whole = dict(_whole_lines(lines))
        self._cited = {found[1] for line in lines if "[" in line.text and (found := _ENTRY.match(line.text))}

    def spans(self, at: int) -> Spans:
        """Return the places in a line whose numbers are apart, and what they are there."""
        text = self.lines[at].text
        if at in self._whole:
            return [(0, len(text), self._whole[at])]
        found = _spans(text)
        if self._cited and "[" in text:
            found += [
                (one.start(), one.end(), ApartKind.CITATION)
                for one in _CITED.finditer(text)
                if set(re.findall(r"\d+", one[0])) <= self._cited
            ]
        return found


def _spans(text: str) -> Spans:
    return [(one.start(), one.end(), kind) for kind, pattern in _PATTERNS for one in pattern.finditer(text)]


def find_quantities(text: str, decimal: DecimalMark = ".") -> list[FoundNumber]:
    """Return the numbers of a single text that are quantities."""
    numbers = list(find_numbers(text, decimal))
    return [one for one, kind in zip(numbers, kinds_of(numbers, _spans(text)), strict=True) if kind is None]


def kinds_of(numbers: Sequence[FoundNumber], spans: Spans) -> list[ApartKind | None]:
    """Return what each number of a line is, if it is not a quantity; of several spans the first decides."""
    starts = [number.start for number in numbers]
    kinds: list[ApartKind | None] = [None] * len(numbers)
    for first, last, kind in spans:
        at = bisect_left(starts, first)
        while at < len(numbers) and numbers[at].end <= last:
            kinds[at] = kinds[at] or kind
            at += 1
    return kinds


def _whole_lines(lines: Sequence[DocumentLine]) -> Iterator[tuple[int, ApartKind]]:
    """Yield the lines in which no number is a quantity."""
    inside: ApartKind | None = None
    for at, line in enumerate(lines):
        text = line.text
        if not text.strip():
            continue
        if len(text) < 60 and _BIBLIOGRAPHY.match(text):
            inside = ApartKind.BIBLIOGRAPHY
        elif len(text) < 60 and _CONTENTS.match(text):
            inside = ApartKind.CONTENTS
        elif (inside is ApartKind.BIBLIOGRAPHY and _AFTER.match(text)) or (
            inside is ApartKind.CONTENTS and not _CONTENTS_LINE.search(text)
        ):
            inside = None
        if inside is not None:
            yield at, inside
        elif line.page is not None and text.strip().isdecimal() and _is_edge(lines, at):
            yield at, ApartKind.PAGE


def _is_edge(lines: Sequence[DocumentLine], at: int) -> bool:
    """Return whether a line is the first or the last of its page."""
    page = lines[at].page
    return at == 0 or at + 1 == len(lines) or page != lines[at - 1].page or page != lines[at + 1].page
