"""Where the numbers, tables, numbered parts and quotations of a document stand, and which numbers are no quantities."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import TypeAlias

from imlp_audit.numbers.parsing import FoundNumber, find_numbers
from imlp_audit.spec.schema import PrintedTable
from imlp_audit.transcribe.sources import DocumentLine, PrintedDocument

TABLE_CAPTION = re.compile(
    r"(?:\A|\t|\|)[\s*#>_]*(?:Table|TABLE|Tab\.|Таблица|Табл\.)\s*(?P<id>(?:[A-Z]\.?)?\d+)[*_]*\s*[:.|—–-]"
)


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
"""Places in a line whose numbers are apart, and what they are there; the first decides."""


def _spans_of(text: str) -> Spans:
    return [(one.start(), one.end(), kind) for kind, pattern in _PATTERNS for one in pattern.finditer(text)]


def find_quantities(text: str) -> list[FoundNumber]:
    """Return the numbers of a single text that are quantities."""
    return [one for one, kind in _with_kinds(text, _spans_of(text)) if kind is None]


def _with_kinds(text: str, spans: Spans) -> list[tuple[FoundNumber, ApartKind | None]]:
    """Return the numbers of a line, each with what it is if it is not a quantity."""
    numbers = list(find_numbers(text))
    starts = [number.start for number in numbers]
    kinds: list[ApartKind | None] = [None] * len(numbers)
    for first, last, kind in spans:
        at = bisect_left(starts, first)
        while at < len(numbers) and numbers[at].end <= last:
            if kind not in _WHOLE or "." not in numbers[at].key:
                kinds[at] = kinds[at] or kind
            at += 1
    return list(zip(numbers, kinds, strict=True))


_BIBLIOGRAPHY = re.compile(
    r"\A\W*(?:\d+\W+)?(?:references|bibliography|works cited|литература|список литературы)\W*\Z", re.IGNORECASE
)
_APPENDIX = re.compile(r"\A\W*(?:appendix|appendices|supplement|приложени)|\A#", re.IGNORECASE)
_LETTERED = re.compile(r"\A[A-H]\.?\s+[A-Z][^.,\d]{2,60}\Z")
_CONTENTS = re.compile(r"\A\W*(?:table of contents|contents|содержание|оглавление)\W*\Z", re.IGNORECASE)
_CONTENTS_LINE = re.compile(r"(?:\A\W*(?:<b>)?[\d.]+\s|\t|\. ?\.|  ).*\d(?:\s|</?\w+>)*\Z")
_CITED = re.compile(r"(?<![\w\\\]])\[\d+(?:\s*[,–-]\s*\d+)*\]")
_ENTRY = re.compile(r"\A\s*[-*•]?\s*\[(\d+)\]\s")
_ITEM = re.compile(r"\A\s*[-*•]?\s*(?:\((\d+)\)|(\d+)\.)\s+(?=\S)")
_HEADING = re.compile(
    r"\A\W*(?:(?P<number>\d+(?:\.\d+)*)\.?|[A-Z]\.\d+(?:\.\d+)*)[ \t]+(?P<title>[^\W\d_](?:[^\d\t]|(?<=[\w-])\d)*)\Z"
)
_MARKED = re.compile(r"\A\s*#+\s*\d+(?:\.\d+)*")
_MOST_WORDS = 12  # of a heading


def read_numbers(lines: Sequence[DocumentLine]) -> Iterator[tuple[int, FoundNumber, ApartKind | None]]:
    """Yield the numbers of a document in order: the index of the line, the number, and what it is if no quantity."""
    whole = {**dict(_parts(lines)), **dict.fromkeys(_page_numbers(lines), ApartKind.PAGE)}
    begins = [(ApartKind.ITEM, dict(_items(lines))), (ApartKind.HEADING, dict(_headings(lines)))]
    cited = {found[1] for line in lines if "[" in line.text and (found := _ENTRY.match(line.text))}
    for at, line in enumerate(lines):
        if re.search("[0-9]", line.text) is None:
            continue
        spans = [(0, ends[at], kind) for kind, ends in begins if at in ends]
        spans = [(0, len(line.text), whole[at])] if at in whole else [*spans, *_spans_of(line.text)]
        for one in _CITED.finditer(line.text) if cited else ():
            spans += [(*one.span(), ApartKind.CITATION)] if set(re.findall(r"\d+", one[0])) <= cited else []
        yield from ((at, number, kind) for number, kind in _with_kinds(line.text, spans))


def _headings(lines: Sequence[DocumentLine]) -> Iterator[tuple[int, int]]:
    """Yield the lines that begin with the number of a heading, and where it ends.

    A heading is marked as one, or it begins with a capital and stands alone or has the number after that of another: a
    line may also begin with a number because the one before it was full.
    """
    seen: set[tuple[int, ...]] = {(0,)}
    for at, line in enumerate(lines):
        marked, found = _MARKED.match(line.text), _HEADING.match(line.text)
        if marked is not None:
            yield at, marked.end()
        elif found is not None and _is_title(found["title"]):
            number = tuple(int(part[:6]) for part in (found["number"] or "").split(".") if part)
            alone = line.page is None and _is_blank(lines, at - 1) and _is_blank(lines, at + 1)
            if alone or _follows(number, seen):
                seen.add(number)
                yield at, found.start("title")


def _is_title(text: str) -> bool:
    return text[0].isupper() and text.rstrip()[-1] not in ".,;:" and len(text.split()) <= _MOST_WORDS


def _follows(number: tuple[int, ...], seen: set[tuple[int, ...]]) -> bool:
    """Return whether a number comes after one that was seen, such as 4.1 after 4, and 4.2 after 4.1."""
    *above, last = number or (0,)
    return (*above, last - 1) in seen or (last == 1 and tuple(above) in seen)


def _is_blank(lines: Sequence[DocumentLine], at: int) -> bool:
    return not 0 <= at < len(lines) or not lines[at].text.strip()


def _items(lines: Sequence[DocumentLine]) -> Iterator[tuple[int, int]]:
    """Yield the lines that begin with an item's number, the first or the one after another, and where it ends."""
    last: set[int] = set()
    for at, line in enumerate(lines):
        entry, found = _ENTRY.match(line.text), _ITEM.match(line.text)
        if entry is not None:
            yield at, entry.end()
        elif found is not None:
            number = int((found[1] or found[2])[:4])
            if number == 1 or number - 1 in last:
                last = (last if number > 1 else set()) | {number}
                yield at, found.end()


def _parts(lines: Sequence[DocumentLine]) -> Iterator[tuple[int, ApartKind]]:
    inside: ApartKind | None = None
    for at, line in enumerate(lines):
        text = line.text
        if not text.strip():
            continue
        if len(text) < 60 and _BIBLIOGRAPHY.match(text):
            inside = ApartKind.BIBLIOGRAPHY
        elif len(text) < 60 and _CONTENTS.match(text):
            inside = ApartKind.CONTENTS
        elif inside is not None and _ends(inside, text):
            inside = None
        if inside is not None:
            yield at, inside


def _ends(inside: ApartKind, text: str) -> bool:
    """Return whether a line is the first one after the bibliography, or after the table of contents."""
    if inside is ApartKind.CONTENTS:
        return not _CONTENTS_LINE.search(text)
    return bool(_APPENDIX.match(text) or _LETTERED.match(text) or TABLE_CAPTION.search(text))


def _page_numbers(lines: Sequence[DocumentLine]) -> list[int]:
    """Return the lines of a PDF that are a page number: the first or last of a page, as far from it as another is."""
    edges = (at for at in range(len(lines)) if lines[at].page is not None and _is_edge(lines, at))
    off = {at: int(text[:6]) - (lines[at].page or 0) for at in edges if (text := lines[at].text.strip()).isdecimal()}
    often = Counter(off.values())
    return [at for at, distance in off.items() if distance == 0 or often[distance] > 1]


def _is_edge(lines: Sequence[DocumentLine], at: int) -> bool:
    page = lines[at].page
    return at == 0 or at + 1 == len(lines) or page != lines[at - 1].page or page != lines[at + 1].page


Span: TypeAlias = tuple[int, int]
"""Where something begins and ends in the text of a document."""


def find_windows(table: PrintedTable, document: PrintedDocument) -> Iterator[tuple[Span, bool]]:
    """Yield where a table may stand, nearest to its caption first, and whether no other caption is there."""
    texts = [line.text for line in document.lines]
    captions = [(at, _slug(found["id"])) for at, text in enumerate(texts) if (found := TABLE_CAPTION.search(text))]
    reach = 4 * len(table.rows) + 4 * len(table.columns) + 30
    ends = [-1, *(at for at, _ in captions), len(texts)]
    for (at, name), before, after in zip(captions, ends, ends[2:], strict=False):
        if name == _slug(table.table):
            yield (document.starts[at + 1], document.starts[min(after, at + reach)]), True
            yield (document.starts[max(before + 1, at - reach)], document.starts[at]), True
            yield (document.starts[max(0, at - reach)], document.starts[min(len(texts), at + reach)]), False


def _slug(text: str) -> str:
    return fold(text.replace(".", ""))


# commands, tags, Greek (a command in LaTeX, a letter in a text) and signs; a point or comma between digits stays
_DROPPED = re.compile(r"\\[A-Za-z]+|</?[A-Za-z]+>|[\u0370-\u03ff]+|(?<![0-9])[.,]+|[.,]+(?![0-9])|[^\w.,\\<]+|[\\<]|_+")
_SPLITS_BEFORE, _SPLITS_AFTER = re.compile(r"[0-9][.,]?\Z"), re.compile(r"[.,]?[0-9]")


class QuoteFinder:
    """A text in which quotations are looked up."""

    def __init__(self, text: str) -> None:
        self._text, self._folded = text, fold(text)
        gaps = [(0, 0), *(found.span() for found in _DROPPED.finditer(text))]
        self._pieces = [end for _, end in gaps]  # where a piece that folding keeps begins in the text
        lengths = (start - end for (_, end), (start, _) in pairwise(gaps))
        self._starts = list(accumulate(lengths, initial=0))  # where it begins in the folded text

    def find(self, quote: str) -> list[Span]:
        """Return the places where a quotation stands, without those that begin or end inside a number."""
        wanted = fold(quote)
        starts = (found.start() for found in re.finditer(f"(?={re.escape(wanted)})", self._folded)) if wanted else ()
        spans = ((self._place(at), self._place(at + len(wanted) - 1) + 1) for at in starts)
        return [span for span in spans if not self._splits(*span)]

    def find_parts(self, quote: str) -> list[Span]:
        """Return where the parts of a quotation stand that leaves out words by [...]; none if one is not there."""
        found = [self.find(part) for part in quote.split("[...]")]
        return [span for spans in found for span in spans] if all(found) else []

    def _place(self, at: int) -> int:
        """Return where a character of the folded text stands in the text."""
        piece = bisect_right(self._starts, at) - 1
        return self._pieces[piece] + at - self._starts[piece]

    def _splits(self, start: int, end: int) -> bool:
        """Return whether a span has a part of a number at its beginning or its end."""
        return bool(
            (self._text[start].isdecimal() and _SPLITS_BEFORE.search(self._text[max(0, start - 2) : start]))
            or (self._text[end - 1].isdecimal() and _SPLITS_AFTER.match(self._text, end))
        )


def fold(text: str) -> str:
    """Return the letters and digits of a text in lower case, and its decimal marks."""
    return _DROPPED.sub("", text).replace("İ", "I").lower()  # the one letter that lower case makes two of


_TAG = r"\\tag\s*\{\s*\(?([A-Z]?\.?\d+)\)?\s*\}|\(([A-Z]?\.?\d+)\)\s*(?:\\end\{[a-z]+\*?\}\s*)?(?:\$+\s*)?$"
_TAGS = re.compile(_TAG, re.MULTILINE)
_DISPLAY = re.compile(r"\$\$.*?\$\$[^\n]*|^(?:(?!\$\$)[^\n])+$", re.DOTALL | re.MULTILINE)
_PARAGRAPH = re.compile(
    r"^[ \t*#>_]*(Theorem|Lemma|Definition|Corollary|Algorithm)\s+([A-Z]?\.?\d+)[\s*.:(]", re.MULTILINE
)
_MOST_LINES = 15  # of a paragraph; more are a page without empty lines
_LINES = re.compile(rf"(?:[^\S\n]*\S[^\n]*\n?){{1,{_MOST_LINES + 1}}}")


def find_parts(text: str) -> dict[str, list[Span]]:
    """Return the spans of numbered parts by what coverage.yaml calls them, such as "Equation 3"."""
    parts: dict[str, list[Span]] = {}
    for name, span in (*_displays(text), *_paragraphs(text)):
        parts.setdefault(name, []).append(span)
    return parts


def _displays(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the displays between $$ and $$, and single lines, that end with a number in brackets."""
    for found in _DISPLAY.finditer(text):
        if found[0].startswith("$$") or "=" in found[0]:
            for name in sorted({one[1] or one[2] for one in _TAGS.finditer(found[0])}):
                yield f"Equation {name}", found.span()


def _paragraphs(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the first paragraph that begins with each name, to an empty line; without any, to the end of a sentence."""
    first = {f"{one[1]} {one[2]}": one for one in reversed(list(_PARAGRAPH.finditer(text)))}
    for name, found in first.items():
        body = _LINES.match(text, found.start())
        lines = (body or found)[0].rstrip("\n").split("\n")
        if len(lines) > _MOST_LINES:
            ends = (count for count, line in enumerate(lines[:_MOST_LINES], 1) if line.rstrip().endswith("."))
            lines = lines[: next(ends, 1)]
        yield name, (found.start(), found.start() + len("\n".join(lines)))
