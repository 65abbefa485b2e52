"""The tables of a PDF: what stands between horizontal rules of one width."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from imlp_audit.transcribe.grid import SourceDocument, SourceRow, SourceTable, SpanningCell, make_table
from imlp_audit.transcribe.pdf import Line, PdfPage, Rule, Word, cluster, join_words, read_pages, usual_size

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
    lines = list(cluster(words, 0.3 * usual_size(words)))
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
