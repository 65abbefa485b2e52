"""Which tables of a document are meant, and a draft of each: its rows, their numbers, the models proposed for them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count

from imlp_audit.errors import UsageError
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MISSING, is_printed, read_cell, refusal
from imlp_audit.transcribe.columns import NOUNS, ColumnGuess, ColumnRole, TableColumns, read_columns, why_no_total
from imlp_audit.transcribe.grid import GridRow, SourceDocument, SourceTable
from imlp_audit.transcribe.labels import LabelParts, read_label, sides_in, sides_named
from imlp_audit.transcribe.proposed_models import Proposal, Surroundings, propose

_TWO = re.compile(r"\d[\d.,]*\s+(?!\d{3}(?:\s|$))\d[\d.,]*")  # not 25 557 032
_RESULT = re.compile(r"[\W_]*\d+[.,]\d+.*|.*%")
_MOST_LISTED = 30
_LONGEST = 70  # characters of a caption
_MOST_SIDES = 4
_MOST_AROUND = 2_000  # characters around a table that are searched for each row


@dataclass(frozen=True)
class RowNumbers:
    """A row's numbers and printed changes by the slugs of their columns, and the sides of the images.

    `left_out` says what of the printed text is in neither.
    """

    printed: dict[str, str]
    changes: dict[str, str]
    sides: tuple[int, ...]
    left_out: tuple[str, ...]

    @property
    def side(self) -> int | None:
        """The side of the images; None where the row gives none or several."""
        return self.sides[0] if len(self.sides) == 1 else None


def read_numbers(row: GridRow, columns: TableColumns) -> RowNumbers:
    """Read the cells of a row."""
    printed: dict[str, str] = {}
    changes: dict[str, str] = {}
    left_out: list[str] = []
    for at, guess in columns.numbers:
        text, slug = row.cells[at], columns.slugs[at]
        counted = guess.measure is not None and guess.measure.counted
        totalled = guess.measure is not None and guess.measure.totalled
        usual = "G" if guess.measure is Measure.FLOPS else "M"
        misfit = None if guess.unit_headed else why_no_total(text, guess.unit, usual)
        if misfit is not None:
            left_out.append(f"{slug} {text!r}: {misfit}")
            continue
        if totalled and "±" not in text and is_printed(text, guess.unit, NOUNS):
            printed[slug] = text
            continue
        cell = read_cell(text, guess.unit, spread=not counted)
        if cell.number is not None and cell.unit in ("", guess.unit) and is_printed(cell.number, guess.unit):
            printed[slug] = cell.number
        elif text not in MISSING:
            left_out.append(f"{slug} {text!r}: {_why(cell.number, cell.unit, guess.unit, text)}")
            continue
        if cell.percent is not None and guess.unit != "%":
            changes[slug] = cell.percent
        elif cell.change is not None:
            left_out.append(f"{slug} {text!r}: {_why_no_change(cell.change, guess)}")
        left_out += [f"{slug} {text!r}: without {part!r}" for part in cell.left_out if slug in printed]
        left_out += [f"{slug} {text!r}: the mark {cell.mark!r} is not kept"] if cell.mark else []
    sides = sides_in(row.cells[columns.size]) if columns.size is not None else ()
    return RowNumbers(printed, changes, sides, tuple(left_out))


def _why_no_change(change: str, guess: ColumnGuess) -> str:
    kind = f"not in percent (if it is, add `delta: {{...: {change}%}}`)"
    if guess.unit == "%":
        kind = "in points" if not change.endswith("%") else "in points or not"
    return f"the change {change} is {kind}, and a spec holds changes in percent of the baseline's number"


def _why(number: str | None, unit: str, expected: str, text: str) -> str:
    if any(character.isdigit() and not character.isascii() for character in text):
        return "its digits are not those of ASCII; type them as 0 to 9"
    if number is not None and unit != expected:
        return f"it is in {unit}, and the column in {expected or 'full'}"
    return refusal(text, expected) or "not a number that a spec can hold"


def _continue_labels(table: SourceTable, columns: TableColumns) -> Iterator[GridRow]:
    """Yield the rows, of which blank labels are those above them, with what the columns of texts say of the row.

    So "ResNet-50" stays what it is, and a blank cell under it beside "Taylor" becomes "ResNet-50 (Taylor)".
    """
    above, at = "", columns.label
    for row in table.rows:
        if row.single is not None or row.cells[at]:
            above = "" if row.single is not None else row.cells[at]
            yield row
            continue
        texts = [row.cells[one] for one in columns.texts if row.cells[one] not in MISSING]
        label = f"{above} ({', '.join(texts)})" if above and texts else ""
        yield replace(row, cells=(*row.cells[:at], label, *row.cells[at + 1 :]))


def choose_tables(document: SourceDocument, wanted: Sequence[str], shown_as: str) -> list[SourceTable]:
    """Return the tables with these numbers, labels or words of their captions; without them, all.

    Raises UsageError, with the tables that there are, for one that means none.
    """
    tables = document.tables
    if not tables:
        advice = f"; {document.advice}" if document.advice else ""
        raise UsageError(f"{shown_as} has no table that init can read{advice}")
    if not wanted:
        return list(tables)
    found: dict[int, SourceTable] = {}
    for one in wanted:
        named = _named(tables, one.strip())
        if not named:
            listed = "\n".join(map(describe_table, tables[:_MOST_LISTED]))
            more = f"\n  ... and {len(tables) - _MOST_LISTED} more" if len(tables) > _MOST_LISTED else ""
            complaint = f"no table of {shown_as} with the number, the label or the caption {one!r}; it has"
            raise UsageError(f"--table: {complaint}\n{listed}{more}")
        found |= {id(table): table for table in named}
    return [table for table in tables if id(table) in found]


def _named(tables: Sequence[SourceTable], wanted: str) -> list[SourceTable]:
    number, words = wanted.lower().removeprefix("table").strip(" .:"), wanted.lower().split()
    exact = [
        one for one in tables if number == one.number or wanted in (one.label, (one.label or "").partition(":")[2])
    ]  # "main" is the label tab:main
    parts = [one for one in tables if number.isdigit() and re.fullmatch(rf"{number}[a-z]+", one.number)]
    return exact or parts or [one for one in tables if words and all(word in one.caption.lower() for word in words)]


def describe_table(table: SourceTable) -> str:
    """Return a line on a table: its number, label, size and caption."""
    label = f" ({table.label})" if table.label else ""
    caption = table.caption if len(table.caption) <= _LONGEST else table.caption[: _LONGEST - 3] + "..."
    size = f"{len(table.rows)} x {len(table.headings)}"
    return f"  {table.number}{label}, {table.place}, {size}: {caption or 'no caption'}"


@dataclass(frozen=True)
class DraftRow:
    """A row of the draft: its numbers as a spec takes them, and what may be its model.

    `side` is that of its images, where the row gives it; `doubt` is what was uncertain in reading it. `said` is what
    else is printed of it, by the heading of its column, of which `variant` is what sets it apart from most rows.
    """

    id: str
    label: LabelParts
    proposal: Proposal
    numbers: RowNumbers
    side: int | None = None
    baseline: str | None = None
    training: str | None = None
    doubt: str | None = None
    said: Mapping[str, str] = field(default_factory=dict)
    variant: str | None = None


@dataclass(frozen=True)
class Draft:
    """A table as a spec may hold it. `skipped` are the rows without a number that a spec can hold, and why.

    `images` are the sides of images that its texts name.
    """

    table: SourceTable
    columns: TableColumns
    rows: tuple[DraftRow, ...]
    skipped: tuple[str, ...]
    images: tuple[int, ...]

    @property
    def counted(self) -> bool:
        """Whether a row has a number of parameters or FLOPs, which can be counted."""
        slugs = {
            self.columns.slugs[at] for at, guess in self.columns.numbers if guess.measure and guess.measure.totalled
        }
        return any(slugs & row.numbers.printed.keys() for row in self.rows)

    @property
    def why_not_counted(self) -> str:
        """What a table has in place of such a number."""
        headings = list_some([heading or "(no heading)" for heading in self.table.headings], 12) or "none"
        skipped = "".join(f"; left out {one}" for one in self.skipped[:3])
        notes = "".join(f"; {guess.heading!r}: {guess.note}" for guess in self.columns.guesses if guess.note)
        rows = count_of(len(self.table.rows), "row")
        return f"no readable number of parameters or FLOPs in {rows} with the headings {headings}{notes}{skipped}"


def draft_table(table: SourceTable, title: str = "") -> Draft:
    """Read a table; `title` is that of its document."""
    columns = read_columns(table)
    table = replace(table, rows=tuple(_continue_labels(table, columns)))
    drafter = _Drafter(table, columns, title)
    for row in table.rows:
        drafter.add(row)
    of_rows = (side for row in drafter.rows for side in row.numbers.sides if row.side is None)
    images = tuple(dict.fromkeys([*drafter.around.sides, *of_rows]))[:_MOST_SIDES]
    rows = tuple(_told_apart(list(_with_variants(drafter.rows)), columns.scored))
    return Draft(table, columns, rows, tuple(drafter.skipped), images)


class _Drafter:
    """Reads the rows of a table in order: what a row means may depend on those above it."""

    def __init__(self, table: SourceTable, columns: TableColumns, title: str) -> None:
        self.table, self.columns = table, columns
        notes = [table.around, *(row.single for row in table.rows if row.single is not None)]
        headings = " | ".join(table.headings)
        sides = sides_named(" | ".join([table.caption, headings, *notes]))
        caption = f"{title}. {table.caption}"[:_MOST_AROUND]
        self.around = Surroundings(caption, headings[:_MOST_AROUND], sides, table.file)
        self.rows: list[DraftRow] = []
        self.skipped: list[str] = []
        self._group = ""  # the heading between rows that this is under
        self._by_label: dict[str, list[tuple[str, DraftRow]]] = {}  # with the heading that each row is under
        self._ids: set[str] = set()
        self._first_side: dict[str, int | None] = {}  # of the images, by slug
        self._numbers: defaultdict[str, int] = defaultdict(lambda: 1)

    def add(self, row: GridRow) -> None:
        """Read one row."""
        if row.single is not None and row.single in (row.cells[self.columns.label], row.cells[0]):
            self._group = row.single
            return
        numbers = read_numbers(row, self.columns)
        label = read_label(row.cells[self.columns.label], self.rows[-1].label if self.rows else None, self._by_label)
        if not numbers.printed:
            reason = f": {numbers.left_out[0]}" if numbers.left_out else ""
            place = f"{self.table.counted_in} {row.line}"
            self.skipped.append(f"{place}, {label.text or 'a row without a label'}{reason}")
            return
        cells = [row.cells[at] for at, _ in self.columns.numbers]
        above = sides_named(self._group)
        side = numbers.side or label.size or (above[0] if len(above) == 1 else None)
        base = self._find_base(label, numbers.side)
        named = replace(label, name=f"{base.label.name} {label.name}") if base is not None and label.added else label
        drafted = DraftRow(
            self._new_id(label, base, side),
            label,
            propose(named, self.around, self._group, side),
            numbers,
            side,
            base.id if base else None,
            _training(row, self.columns, label, self._group),
            doubt=row.doubt or next((f"two numbers in one cell: {one}" for one in cells if _TWO.fullmatch(one)), None),
            said=self._read_texts(row, label),
        )
        self._by_label.setdefault(label.text.casefold(), []).append((self._group, drafted))
        self.rows.append(drafted)

    def _read_texts(self, row: GridRow, label: LabelParts) -> dict[str, str]:
        """Return what is printed of a row besides its label and numbers, "" for nothing, by where it stands."""
        others = [at for at in self.columns.others if self.columns.guesses[at].role is not ColumnRole.SIZE]
        texts = {self.columns.guesses[at].heading: row.cells[at] for at in others}
        named = label.text if label.text in f"{self.table.caption} {self.table.around}" else ""
        texts |= {"under": self._group, "mark": label.mark, "the caption says": named}
        return {key: "" if text in MISSING else text for key, text in texts.items()}

    def _find_base(self, label: LabelParts, side: int | None) -> DraftRow | None:
        """Return the row that a label builds on: the one above, or the only one of its label under this heading."""
        if not label.builds_on:
            return None
        found = self._by_label.get(label.builds_on.casefold(), [])
        if label.added:
            return found[-1][1] if found else None
        sized = [(group, row) for group, row in found if row.numbers.side == side]
        here = [(group, row) for group, row in sized if group == self._group]
        return next((rows[0][1] for rows in (here, sized) if len(rows) == 1), None)

    def _new_id(self, label: LabelParts, base: DraftRow | None, side: int | None) -> str:
        """Return a slug that no row above has: with the size of the images where it is not the first one's."""
        words = re.sub(r"[^a-z0-9]+", "_", label.text.lower()).strip("_")[:60]
        words = f"{base.id}_{words}" if base and label.added else words
        plain = words or f"row_{len(self.rows) + 1}"
        key = plain if side in (None, self._first_side.setdefault(plain, side)) else f"{plain}_{side}"
        candidates = chain([key], (f"{key}_{n}" for n in count(self._numbers[key])))
        name = next(one for one in candidates if one not in self._ids)
        self._numbers[key] += 1
        self._ids.add(name)
        return name


def _training(row: GridRow, columns: TableColumns, label: LabelParts, group: str) -> str | None:
    """Return all that a row says besides its label and numbers; of numbers that are not understood, whole ones."""
    texts = [(columns.guesses[at].heading, row.cells[at]) for at in columns.others if row.cells[at] not in MISSING]
    words = [f"{heading} {text}".strip() for heading, text in texts if not _RESULT.fullmatch(text)]
    return "; ".join(filter(None, [*words, label.training, group])) or None


def _with_variants(rows: Sequence[DraftRow]) -> Iterator[DraftRow]:
    """Yield the rows with what sets each apart: a text where most others share one. Results may be equal by chance."""
    usual: dict[str, str] = {}
    for key in rows[0].said if rows else ():
        counts = Counter(row.said[key] for row in rows)
        text, times = counts.most_common(1)[0]
        if times > 1 and (2 * len(counts) <= len(rows) or not any(map(_RESULT.fullmatch, counts))):
            usual[key] = text
    for row in rows:
        apart = [f"{key} {row.said[key] or 'none'}" for key, text in usual.items() if row.said[key] != text]
        yield replace(row, variant="; ".join(apart) or None)


def _told_apart(rows: Sequence[DraftRow], scored: Collection[str]) -> Iterator[DraftRow]:
    """Yield the rows, of which those with scores say what they may owe them to; a label of several names no one model.

    Rows of one model may only be found to disagree where nothing that is printed tells them apart.
    """
    times = Counter((row.label.text.casefold(), row.side) for row in rows)
    before = Counter[tuple[str, str | None]]()
    for row in rows:
        label = row.label.text.casefold()
        before[label, row.training] += 1
        said = [row.label.text] if row.proposal.recipes and not row.proposal.named else []
        if times[label, row.side] > 1:
            row = replace(row, proposal=replace(row.proposal, named=False))
        again = [f"row {before[label, row.training]} of this label"] if before[label, row.training] > 1 else []
        training = "; ".join(filter(None, [*said, row.training, *again])) or None
        yield replace(row, training=training if scored & row.numbers.printed.keys() else None)
