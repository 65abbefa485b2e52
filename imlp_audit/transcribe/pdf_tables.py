"""The tables of a PDF: what stands between horizontal rules of one width."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from imlp_audit.transcribe.grid import (
    MOST_TABLES,
    SourceDocument,
    SourceRow,
    SourceTable,
    SpanningCell,
    make_table,
)
from imlp_audit.transcribe.pdf import Line, PdfPage, Rule, cluster, join_words, read_pages

_CELL = 0.45  # of the size: words further apart are of different cells


@dataclass(frozen=True)
class CellText:
    """Words of one cell, and where they stand."""

    text: str
    x0: float
    x1: float


Columns = tuple[tuple[float, float], ...]
"""The columns from left to right: where the text of each begins and ends."""


def group_words(line: Line) -> tuple[CellText, ...]:
    """Return the cells of a line."""
    cells: list[list[int]] = []
    for at, word in enumerate(line):
        if at and word.x0 - line[at - 1].x1 < _CELL * min(word.size, line[at - 1].size):
            cells[-1].append(at)
        else:
            cells.append([at])
    return tuple(
        CellText(
            " ".join(join_words(line[part[0] : part[-1] + 1]).split()),
            line[part[0]].x0,
            max(line[at].x1 for at in part),
        )
        for part in cells
    )


def find_columns(lines: Sequence[Sequence[CellText]], head: Sequence[Sequence[CellText]] = ()) -> Columns:
    """Return the columns of the lines with the most cells; a cell of another line widens the one column it is in.

    A number of cells that only one line has, of those below the headings and of these, is taken only if all differ.
    """
    counts = Counter(len(line) for line in (*lines, *head))
    numbers = {len(line) for line in lines}
    most = max((one for one in numbers if counts[one] > 1), default=max(numbers, default=0))
    columns = _merge([(group.x0, group.x1) for line in lines if len(line) == most for group in line])
    for group in (group for line in lines if 1 < len(line) < most for group in line):
        found = columns_of(group, columns)
        if len(found) == 1:
            x0, x1 = columns[found[0]]
            columns[found[0]] = (min(x0, group.x0), max(x1, group.x1))
    return tuple(columns)


def _merge(stretches: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for x0, x1 in sorted(stretches):
        if merged and x0 <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], x1))
        else:
            merged.append((x0, x1))
    return merged


def columns_of(group: CellText, columns: Sequence[tuple[float, float]]) -> list[int]:
    """Return the columns that a cell stands in; none where it stands in the white between them."""
    return [at for at, (x0, x1) in enumerate(columns) if group.x0 < x1 and x0 < group.x1]


@dataclass(frozen=True)
class Placed:
    """A cell and the columns that it is in; not certain where it stands in the white between two."""

    group: CellText
    columns: tuple[int, ...]
    certain: bool


def place_groups(line: Sequence[CellText], columns: Columns) -> list[Placed]:
    """Return the cells of a line with their columns: those that they stand in, else the nearest."""
    found = [(group, tuple(columns_of(group, columns))) for group in line]
    return [Placed(group, at or (_nearest(group, columns),), bool(at)) for group, at in found]


def _nearest(group: CellText, columns: Columns) -> int:
    middle = (group.x0 + group.x1) / 2
    return min(range(len(columns)), key=lambda at: abs(sum(columns[at]) / 2 - middle))


_CAPTION = re.compile(r"(?:Table|TABLE|Tab\.)\s+((?:[A-Z]\.?)?\d{1,3}[a-z]?|[IVX]{1,6})\s*(?:[.:|]\s*|$)(.*)")
_ALIKE = 3.0  # points: rules of one table begin and end within
_NEAR = 60.0  # points between a table and its caption
_LONGEST = 400


@dataclass(frozen=True)
class _Caption:
    number: str
    text: str
    x0: float
    x1: float
    top: float
    bottom: float


@dataclass(frozen=True)
class _Region:
    """A table's place: its rules from top to bottom, all of one width."""

    rules: tuple[Rule, ...]

    @property
    def top(self) -> float:
        return self.rules[0].y

    @property
    def bottom(self) -> float:
        return self.rules[-1].y

    def holds(self, x0: float, x1: float, y: float) -> bool:
        """Say whether something at a height is inside."""
        first = self.rules[0]
        return first.x0 - _ALIKE <= x0 and x1 <= first.x1 + _ALIKE and self.top < y < self.bottom + 1


def read_pdf(data: bytes, shown_as: str) -> SourceDocument:
    """Return the tables with rules of a PDF. Raises UsageError for one that cannot be read."""
    tables: list[SourceTable] = []
    notes: list[str] = []
    for page in read_pages(data, shown_as):
        captions = list(_captions(page))
        regions = list(_regions(page, captions))
        for at, region in enumerate(regions):
            caption = min(captions, key=lambda one: _distance(one, region), default=None)
            if caption is not None and _distance(caption, region) <= _NEAR:
                captions.remove(caption)
            else:
                caption = None
            table = _read_table(page, region, caption, f"p{page.number}{'abcdefghij'[at % 10]}", shown_as)
            if table is not None:
                tables.append(table)
        notes += [f"page {page.number}: Table {one.number} has no rules that init can follow" for one in captions]
        if page.rotated > _FEW:
            notes.append(f"page {page.number}: {page.rotated} characters are rotated and were not read")
    return SourceDocument(tuple(_number(tables))[:MOST_TABLES], notes=tuple(notes[:20]))


_FEW = 60  # rotated characters: an arXiv stamp has fewer


def _number(tables: Sequence[SourceTable]) -> Iterator[SourceTable]:
    """Yield the tables, a number that another has already with its page."""
    taken: set[str] = set()
    for table in tables:
        number = table.number if table.number not in taken else f"{table.number}p{table.line}"
        taken.add(number)
        yield replace(table, number=number)


def _captions(page: PdfPage) -> Iterator[_Caption]:
    """Yield the captions of tables on a page, each with the lines right below that go on with it."""
    for at, line in enumerate(page.lines):
        found = _CAPTION.match(_text(line))
        if found is None:
            continue
        lines = [line]
        for below in page.lines[at + 1 :]:
            if not _goes_on(lines[-1], below, page.rules) or len(lines) > 8:
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


def _regions(page: PdfPage, captions: Sequence[_Caption]) -> Iterator[_Region]:
    """Yield where tables stand, from top to bottom: rules of one width without a caption between them."""
    found: list[_Region] = []
    for rules in _of_one_width(page.rules):
        part: list[Rule] = []
        for rule in rules:
            if part and _parted(part[-1], rule, captions):
                found.append(_Region(tuple(part)))
                part = []
            part.append(rule)
        found.append(_Region(tuple(part)))
    found = [one for one in found if len(one.rules) > 1]
    inner = {at for at, one in enumerate(found) for other in found if other is not one and _inside(one, other)}
    yield from sorted((one for at, one in enumerate(found) if at not in inner), key=lambda one: one.top)


def _of_one_width(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    left = sorted(rules, key=lambda rule: rule.y)
    while left:
        alike = [one for one in left if abs(one.x0 - left[0].x0) < _ALIKE and abs(one.x1 - left[0].x1) < _ALIKE]
        left = [one for one in left if one not in alike]
        yield alike


def _parted(above: Rule, below: Rule, captions: Sequence[_Caption]) -> bool:
    between = [one for one in captions if above.y < one.bottom and one.top < below.y]
    return any(one.x0 < above.x1 and above.x0 < one.x1 for one in between)


def _inside(one: _Region, other: _Region) -> bool:
    return other.holds(one.rules[0].x0, one.rules[0].x1, one.top) and one.bottom <= other.bottom


def _distance(caption: _Caption, region: _Region) -> float:
    """Return how far a caption is above or below a table; far where it stands beside it."""
    rule = region.rules[0]
    if caption.x1 < rule.x0 or rule.x1 < caption.x0:
        return 1e9
    return abs(region.top - caption.bottom if caption.bottom <= region.top + 2 else caption.top - region.bottom)


def _read_table(
    page: PdfPage, region: _Region, caption: _Caption | None, number: str, shown_as: str
) -> SourceTable | None:
    """Return the table between some rules; None where there are not two columns and two lines."""
    words = [word for line in page.lines for word in line if region.holds(word.x0, word.x1, word.base)]
    size = sorted(word.size for word in words)[len(words) // 2] if words else 0.0
    lines = [tuple(line) for line in cluster(words, 0.3 * size)]
    inner = [rule.y for rule in region.rules if region.top + _ALIKE < rule.y < region.bottom - _ALIKE]
    split = inner[0] if inner else lines[0][0].base + 1 if lines else 0.0
    head = [line for line in lines if line[0].base < split]
    body = [line for line in lines if line[0].base >= split]
    columns = find_columns([group_words(line) for line in body], [group_words(line) for line in head])
    if not head or not body or len(columns) < 2:
        return None
    between = _between_rows(body)
    short = [rule for rule in page.rules if region.holds(rule.x0, rule.x1, rule.y) and rule not in region.rules]
    rows = [_head_row(line, columns, short, page.number) for line in head]
    if len(head) == 1 and len(group_words(head[0])) == 1:
        rows = [SourceRow(page.number, (SpanningCell(_text(head[0]), len(columns)),), head=True)]  # a title
    rows += _body_rows([line for line in body if line not in between], columns, inner, page.number)
    table = make_table(
        caption.number if caption else number, caption.text if caption else "", rows, shown_as, page.number
    )
    notes = [f"read from the places of characters: compare every number with page {page.number} of {shown_as}"]
    notes += [f"{_text(line)!r} stands between two rows; decide which it is for" for line in between]
    return replace(table, notes=(*notes, *table.notes), counted_in="page")


def _between_rows(body: Sequence[Line]) -> list[Line]:
    """Return the lines of one cell that stand between two rows, closer to both than rows are to each other."""
    rows = [line for line in body if len(group_words(line)) > 1]
    steps = sorted(b[0].base - a[0].base for a, b in pairwise(rows))
    usual = steps[len(steps) // 2] if steps else 0.0
    return [
        line
        for above, line, below in zip(body, body[1:], body[2:], strict=False)
        if len(group_words(line)) == 1
        and max(line[0].base - above[0].base, below[0].base - line[0].base) < 0.75 * usual
    ]


def _head_row(line: Line, columns: Columns, short: Sequence[Rule], page: int) -> SourceRow:
    """Return a row of headings; one right above a short rule is over all columns that the rule is over."""
    wide: list[CellText] = []
    for group in group_words(line):
        middle = (group.x0 + group.x1) / 2
        under = [one for one in short if 0 < one.y - line[0].base < line[0].size and one.x0 <= middle <= one.x1]
        wide += [replace(group, x0=min(one.x0, group.x0), x1=max(one.x1, group.x1)) for one in under[:1]] or [group]
    return SourceRow(page, _cells(place_groups(wide, columns), len(columns)), head=True)


def _cells(placed: Sequence[Placed], width: int) -> tuple[SpanningCell, ...]:
    """Return a cell for each column; text over several columns is in each of them."""
    texts = [[one.group.text for one in placed if at in one.columns] for at in range(width)]
    return tuple(SpanningCell(" ".join(text)) for text in texts)


def _body_rows(lines: Sequence[Line], columns: Columns, inner: Sequence[float], page: int) -> Iterator[SourceRow]:
    above = lines[0][0].base
    for line in lines:
        ruled = any(above < rule <= line[0].base for rule in inner)
        above = line[0].base
        groups = group_words(line)
        if len(groups) == 1 and not groups[0].text[:1].isdigit() and groups[0].x0 > columns[0][1]:
            yield SourceRow(page, (SpanningCell(groups[0].text, len(columns)),), ruled)
            continue
        placed = place_groups(groups, columns)
        yield SourceRow(page, _cells(placed, len(columns)), ruled, doubt=_doubt(placed))


def _doubt(placed: Sequence[Placed]) -> str | None:
    """Say what is uncertain about a row: a cell between columns or over several, two cells in one column."""
    for one in placed:
        if not one.certain:
            return f"{one.group.text!r} stands between two columns"
        if len(one.columns) > 1 and len(placed) > 1:
            return f"{one.group.text!r} stands over {len(one.columns)} columns and is in each"
    shared = [a.group.text for a, b in pairwise(placed) if set(a.columns) & set(b.columns)]
    return f"{shared[0]!r} and what follows it are in one column" if shared else None
