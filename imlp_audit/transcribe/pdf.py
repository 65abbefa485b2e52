"""A PDF: words with their places, lines in reading order, and the tables between horizontal rules of one width."""

from __future__ import annotations

import io
import logging
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from imlp_audit.errors import UsageError
from imlp_audit.transcribe.grid import SourceDocument, SourceRow, SourceTable, SpanningCell, make_table

if TYPE_CHECKING:
    from pdfplumber.page import Page

_SPACE = 0.13  # of the size: a wider gap between two characters is a space
_SMALLER = 0.88  # of the size: what is raised or lowered is smaller
_SAME = 0.7  # points: characters of a line differ by less in their baselines
_LINE = 0.3  # of the size: words of a line differ by less in their baselines
MAX_PAGES = 400
_INSTEAD = "give the paper's LaTeX source (init) or its text (coverage)"
_THIN = 2.0  # points: a filled box that is not higher is a rule
_SHORTEST = 12.0  # points: a shorter rule is a fraction's or an accent's


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


def _cluster(words: Sequence[Word], apart: float) -> list[Line]:
    """Return what shares a baseline, from top to bottom, each line from left to right."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda one: (one.base, one.x0)):
        if not lines or word.base - lines[-1][0].base > apart:
            lines.append([])
        lines[-1].append(word)
    return [tuple(sorted(line, key=lambda one: one.x0)) for line in lines]


def _lines(words: Sequence[Word]) -> list[Line]:
    """Return the lines of a text, by the size that most words are near."""
    return _cluster(words, _LINE * sorted(word.size for word in words)[len(words) // 2]) if words else []


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
    for line in [tuple(words)] if gutter is None else _cluster(words, 1.0):
        if gutter is None or _crosses(line, gutter):
            yield from (*_lines(columns[0]), *_lines(columns[1]), *([line] if gutter is not None else _lines(line)))
            columns = ([], [])
            continue
        for word in line:
            columns[word.x1 > gutter].append(word)
    yield from (*_lines(columns[0]), *_lines(columns[1]))


def _crosses(line: Line, gutter: float) -> bool:
    if any(word.x0 < gutter < word.x1 for word in line):
        return True
    return any(a.x1 <= gutter <= b.x0 and b.x0 - a.x1 < 0.8 * a.size for a, b in pairwise(line))


def _find_gutter(words: Sequence[Word], width: float) -> float | None:
    """Return where the two columns of a page part; None for a page of one column."""
    lines = _cluster(words, 1.0)
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
        raise UsageError(f"{shown_as} cannot be read: {why}; {_INSTEAD}") from error
    if not any(page.lines for page in found):
        raise UsageError(f"{shown_as} has no text layer (a scan?): {_INSTEAD}")
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


_CELL = 0.45  # of the size: words further apart are of different cells
_CAPTION = re.compile(r"(?:Table|TABLE|Tab\.)\s+((?:[A-Z]\.?)?\d{1,3}[a-z]?|[IVX]{1,6})\s*(?:[.:|]\s*|$)(.*)")
_ALIKE = 3.0  # points: rules of one table begin and end within
_NEAR = 60.0  # points between a table and its caption
_LONGEST = 400
_FEW = 60  # rotated characters: an arXiv stamp has fewer

Columns: TypeAlias = list[tuple[float, float]]
"""The columns from left to right: where the text of each begins and ends."""
Region: TypeAlias = list[Rule]
"""A table's place: its rules from top to bottom, all of one width."""


@dataclass(frozen=True)
class _Caption:
    number: str
    text: str
    x0: float
    x1: float
    top: float
    bottom: float


def read_pdf(data: bytes, shown_as: str) -> SourceDocument:
    """Return the tables with rules of a PDF. Raises UsageError for one that cannot be read."""
    tables: dict[str, SourceTable] = {}
    notes: list[str] = []
    for page in read_pages(data, shown_as):
        captions = list(_captions(page))
        for at, region in enumerate(_regions(page, captions)):
            near = min(captions, key=lambda one: _distance(one, region), default=None)
            caption = near if near is not None and _distance(near, region) <= _NEAR else None
            captions = [one for one in captions if one is not caption]
            table = _read_table(page, region, caption, f"p{page.number}{'abcdefghij'[at % 10]}", shown_as)
            if table is not None:
                number = table.number if table.number not in tables else f"{table.number}p{table.line}"
                tables[number] = replace(table, number=number)
        notes += [f"page {page.number}: Table {one.number} has no rules that init can follow" for one in captions]
        if page.rotated > _FEW:
            notes.append(f"page {page.number}: {page.rotated} characters are rotated and were not read")
    return SourceDocument(tuple(tables.values()), notes=tuple(notes[:20]))


def _captions(page: PdfPage) -> Iterator[_Caption]:
    """Yield the captions of tables on a page, each with the lines right below that go on with it."""
    for at, line in enumerate(page.lines):
        found = _CAPTION.match(_text(line))
        if found is None:
            continue
        lines = [line]
        for below in page.lines[at + 1 : at + 9]:
            if not _goes_on(lines[-1], below, page.rules):
                break
            lines.append(below)
        words = [word for one in lines for word in one]
        text = " ".join([found[2], *map(_text, lines[1:])]).strip()[:_LONGEST]
        x0, x1 = min(word.x0 for word in words), max(word.x1 for word in words)
        yield _Caption(found[1].lower(), text, x0, x1, line[0].base - line[0].size, lines[-1][0].base)


def _text(line: Line) -> str:
    return " ".join(word.text for word in line)


def _goes_on(above: Line, below: Line, rules: Sequence[Rule]) -> bool:
    """Say whether a line of a caption goes on in another: as near as lines of one text, and no rule between."""
    step = below[0].base - above[0].base
    ruled = any(above[0].base < rule.y < below[0].base for rule in rules)
    return 0 < step < 1.35 * above[0].size and abs(below[0].size - above[0].size) < 0.5 and not ruled


def _regions(page: PdfPage, captions: Sequence[_Caption]) -> list[Region]:
    """Return where tables stand, from top to bottom: rules of one width without a caption between them."""
    found: list[Region] = []
    left = sorted(page.rules, key=lambda rule: rule.y)
    while left:
        first = left[0]
        alike = [one for one in left if abs(one.x0 - first.x0) < _ALIKE and abs(one.x1 - first.x1) < _ALIKE]
        left = [one for one in left if one not in alike]
        for above, rule in zip([None, *alike], alike, strict=False):
            if above is None or any(_parts(one, above, rule) for one in captions):
                found.append([])
            found[-1].append(rule)
    found = [one for one in found if len(one) > 1]
    outer = [one for one in found if not any(_is_inside(one, other) for other in found if other is not one)]
    return sorted(outer, key=lambda one: one[0].y)


def _parts(caption: _Caption, above: Rule, below: Rule) -> bool:
    return above.y < caption.bottom and caption.top < below.y and caption.x0 < above.x1 and above.x0 < caption.x1


def _holds(region: Region, x0: float, x1: float, y: float) -> bool:
    first, last = region[0], region[-1]
    return first.x0 - _ALIKE <= x0 and x1 <= first.x1 + _ALIKE and first.y < y < last.y + 1


def _is_inside(one: Region, other: Region) -> bool:
    return _holds(other, one[0].x0, one[0].x1, one[0].y) and one[-1].y <= other[-1].y


def _distance(caption: _Caption, region: Region) -> float:
    """Return how far a caption is above or below a table; far where it stands beside it."""
    first, last = region[0], region[-1]
    if caption.x1 < first.x0 or first.x1 < caption.x0:
        return 1e9
    return abs(first.y - caption.bottom if caption.bottom <= first.y + 2 else caption.top - last.y)


def _read_table(
    page: PdfPage, region: Region, caption: _Caption | None, number: str, shown_as: str
) -> SourceTable | None:
    """Return the table between some rules; None where there are not two columns and two lines."""
    words = [word for line in page.lines for word in line if _holds(region, word.x0, word.x1, word.base)]
    lines = _lines(words)
    inner = [rule.y for rule in region if region[0].y + _ALIKE < rule.y < region[-1].y - _ALIKE]
    split = inner[0] if inner else lines[0][0].base + 1 if lines else 0.0
    head = [line for line in lines if line[0].base < split]
    body = [line for line in lines if line[0].base >= split]
    columns = _find_columns(body, head)
    if not head or not body or len(columns) < 2:
        return None
    short = [rule for rule in page.rules if _holds(region, rule.x0, rule.x1, rule.y) and rule not in region]
    rows = [_head_row(line, columns, short, page.number) for line in head]
    if len(head) == 1 and len(_cells(head[0])) == 1:
        rows = [SourceRow(page.number, (SpanningCell(_text(head[0]), len(columns)),), head=True)]  # a title
    rows += _body_rows(body, columns, inner, page.number)
    name, text = (caption.number, caption.text) if caption else (number, "")
    table = make_table(name, text, rows, shown_as, page.number)
    note = f"read from the places of characters: compare every number with page {page.number} of {shown_as}"
    return replace(table, notes=(note, *table.notes), counted_in="page")


def _cells(line: Line) -> list[Word]:
    cells: list[list[Word]] = []
    for word in line:
        if cells and word.x0 - cells[-1][-1].x1 < _CELL * min(word.size, cells[-1][-1].size):
            cells[-1].append(word)
        else:
            cells.append([word])
    return [
        replace(part[0], text=" ".join(join_words(part).split()), x1=max(word.x1 for word in part)) for part in cells
    ]


def _find_columns(body: Sequence[Line], head: Sequence[Line]) -> Columns:
    """Return the columns of the lines with the most cells; a cell of another line widens the one column it is in.

    A number of cells that only one line has is taken only if all differ.
    """
    lines = list(map(_cells, body))
    counts = Counter(map(len, [*lines, *map(_cells, head)]))
    numbers = {len(line) for line in lines}
    most = max((one for one in numbers if counts[one] > 1), default=max(numbers, default=0))
    columns: Columns = []
    for x0, x1 in sorted((cell.x0, cell.x1) for line in lines if len(line) == most for cell in line):
        if columns and x0 <= columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
        else:
            columns.append((x0, x1))
    for cell in (cell for line in lines if 1 < len(line) < most for cell in line):
        if len(found := _columns_of(cell, columns)) == 1:
            x0, x1 = columns[found[0]]
            columns[found[0]] = (min(x0, cell.x0), max(x1, cell.x1))
    return columns


def _columns_of(cell: Word, columns: Columns) -> list[int]:
    return [at for at, (x0, x1) in enumerate(columns) if cell.x0 < x1 and x0 < cell.x1]


def _head_row(line: Line, columns: Columns, short: Sequence[Rule], page: int) -> SourceRow:
    """Return a row of headings; one right above a short rule is over all columns that the rule is over."""
    wide: list[Word] = []
    for cell in _cells(line):
        middle = (cell.x0 + cell.x1) / 2
        under = (one for one in short if 0 < one.y - line[0].base < line[0].size and one.x0 <= middle <= one.x1)
        rule = next(under, None)
        wide.append(replace(cell, x0=min(rule.x0, cell.x0), x1=max(rule.x1, cell.x1)) if rule is not None else cell)
    return _place(wide, columns, page, head=True)


def _place(cells: Sequence[Word], columns: Columns, page: int, *, ruled: bool = False, head: bool = False) -> SourceRow:
    """Return a row with each cell in the columns that it stands in, else in the nearest; what is uncertain is noted."""
    texts: list[list[str]] = [[] for _ in columns]
    doubts: list[str] = []
    before: tuple[str, list[int]] = ("", [])
    for cell in cells:
        at = _columns_of(cell, columns)
        if not at:
            doubts.append(f"{cell.text!r} stands between two columns")
            middle = (cell.x0 + cell.x1) / 2
            at = [min(range(len(columns)), key=lambda one: abs(sum(columns[one]) / 2 - middle))]
        elif len(at) > 1 and len(cells) > 1:
            doubts.append(f"{cell.text!r} stands over {len(at)} columns and is in each")
        elif set(before[1]) & set(at):
            doubts.append(f"{before[0]!r} and what follows it are in one column")
        for one in at:
            texts[one].append(cell.text)
        before = (cell.text, at)
    row = tuple(SpanningCell(" ".join(text)) for text in texts)
    return SourceRow(page, row, ruled, head, doubt=doubts[0] if doubts and not head else None)


def _body_rows(lines: Sequence[Line], columns: Columns, inner: Sequence[float], page: int) -> Iterator[SourceRow]:
    above = lines[0][0].base
    for line in lines:
        ruled = any(above < rule <= line[0].base for rule in inner)
        above = line[0].base
        cells = _cells(line)
        if len(cells) == 1 and not cells[0].text[:1].isdigit() and cells[0].x0 > columns[0][1]:
            yield SourceRow(page, (SpanningCell(cells[0].text, len(columns)),), ruled)
        else:
            yield _place(cells, columns, page, ruled=ruled)
