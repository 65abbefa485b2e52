"""Which table of a document is meant, and its draft: what each column and row became, and what a person decides."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from imlp_audit.errors import UsageError
from imlp_audit.models.names.known import Library
from imlp_audit.models.names.match import families_in, line_of
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.columns import TableColumns, read_columns
from imlp_audit.transcribe.counters import words_without_head
from imlp_audit.transcribe.grid import GridRow, SourceDocument, SourceTable
from imlp_audit.transcribe.image_sizes import Given, OwnSize, read_caption_size
from imlp_audit.transcribe.label_column import may_change
from imlp_audit.transcribe.labels import LabelParts, read_label
from imlp_audit.transcribe.meanings import TableSays, find_harmless, printed_flops
from imlp_audit.transcribe.models import ModelGuess, TotalsPrinted, guess_model, totals_printed, why_several_models
from imlp_audit.transcribe.other_models import TableClasses, find_other_classes, hold_back_windowed, keep_parameters
from imlp_audit.transcribe.rows import RowNumbers, continue_labels, read_numbers
from imlp_audit.transcribe.sides import find_oblong, find_size

_MOST_LISTED = 30
_LONGEST = 70


def choose_table(document: SourceDocument, wanted: str | None, shown_as: str) -> SourceTable:
    """Return the table with this number or label, or whose caption has these words; without them, the only table.

    Raises UsageError, with the tables that there are, where not exactly one is meant.
    """
    tables = document.tables
    if wanted is None:
        found = [table for table in tables if table.rows] if len(tables) > 1 else list(tables)
    else:
        found = _named(tables, wanted.strip())
    if len(found) == 1:
        return found[0]
    if not tables:
        advice = f"; {document.advice}" if document.advice else ""
        raise UsageError(f"{shown_as} has no table that init can read{advice}")
    if wanted is None:
        complaint = (
            f"{shown_as} has {len(found)} tables; choose one with --table NUMBER, its label, or words of its caption"
        )
    else:
        state = f"{len(found)} tables" if found else "no table"
        complaint = f"--table: {state} of {shown_as} with the number, the label or the caption {wanted!r}; it has"
    listed = found or list(tables)
    more = f"\n  ... and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
    raise UsageError("\n".join([f"{complaint}:", *map(describe_table, listed[:_MOST_LISTED])]) + more)


def _named(tables: Sequence[SourceTable], wanted: str) -> list[SourceTable]:
    number = wanted.lower().removeprefix("table").strip(" .:")
    exact = [table for table in tables if number == table.number or wanted in (table.label or "", *_ends(table.label))]
    if exact:
        return exact
    parts = [
        table for table in tables if number.isdigit() and table.number.rstrip("abcdefghijklmnopqrstuvwxyz") == number
    ]
    words = wanted.lower().split()
    return parts or [table for table in tables if words and all(word in table.caption.lower() for word in words)]


def _ends(label: str | None) -> list[str]:
    """Return a label without what stands before its colon: "main" of "tab:main"."""
    return [label.partition(":")[2]] if label else []


def describe_table(table: SourceTable) -> str:
    """Return a line on a table: its number, label, size and caption."""
    label = f" ({table.label})" if table.label else ""
    caption = table.caption if len(table.caption) <= _LONGEST else table.caption[: _LONGEST - 3] + "..."
    size = f"{len(table.rows)} x {len(table.headings)}"
    return f"  {table.number}{label}, {table.place}, {size}: {caption or 'no caption'}"


@dataclass(frozen=True)
class DraftRow:
    """A row of the draft: its numbers as a spec takes them, and its model if the label supports one."""

    id: str
    label: LabelParts
    line: int
    model: ModelGuess
    numbers: RowNumbers
    baseline: str | None = None
    training: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draft:
    """A table as a spec may hold it. `skipped` are the rows without a number that a spec can hold, and why.

    `size` is the side of the images that the caption gives, `given` what a person says where the source gives none,
    and `classes` the number of classes that a person gives.
    """

    table: SourceTable
    columns: TableColumns
    rows: tuple[DraftRow, ...]
    size: int | None
    skipped: tuple[str, ...]
    harmless: Mapping[str, str]
    given: Given = None
    classes: int | None = None

    @property
    def may_lack_head(self) -> str | None:
        """The words by which the parameters may be counted without the classifier; None without any."""
        counted = any(guess.measure is Measure.PARAMETERS for _, guess in self.columns.numbers)
        return words_without_head(self.table) if counted else None

    @property
    def oblong(self) -> tuple[int, int] | None:
        """The sides of images that are not square, where the caption gives them and nothing else gives a size."""
        sized = self.given is not None or self.size is not None or self.columns.size is not None
        return None if sized or any(self.columns.sizes.values()) else find_oblong(self.table.caption)

    @property
    def unsized(self) -> frozenset[str]:
        """The columns of FLOPs that cannot be checked: nothing says on which images a row's are counted."""
        if self.given is OwnSize.OWN or self.oblong is not None:
            return frozenset()
        columns = {slug for slug, size in self.columns.sizes.items() if size is None}
        rows = [row for row in self.rows if row.model.recipe is not None and not row.model.sized] + self._open()
        return frozenset(slug for slug in columns if any(slug in row.numbers.printed for row in rows))

    def _open(self) -> list[DraftRow]:
        """Return the rows whose candidates would be counted at their own sizes, where these are half of all rows."""
        if self.given is not None or self.size is not None or self.columns.size is not None:
            return []
        rows = [row for row in self.rows if row.model.of_images and not row.model.sized]
        return rows if 2 * len(rows) >= len(self.rows) else []


def draft_table(
    table: SourceTable,
    others: Sequence[SourceTable] = (),
    prefer: Library | None = None,
    given: Given = None,
    classes: int | None = None,
) -> Draft:
    """Read a table; the other tables of the document show whether a label stands for one model.

    Of several libraries that have a model, `prefer` is taken; `given` is the size of the images for rows without one,
    and `classes` the number of classes of all models.
    `Draft.harmless` are the footnote marks that change nothing of a model, and what the source says of them.
    """
    columns = read_columns(table)
    table = continue_labels(table, columns)
    drafter = _Drafter(table, columns, totals_printed(table, others), prefer, given, classes)
    for row in table.rows:
        drafter.add(row)
    rows = tuple(_variants_first(_one_training_each(_with_sizes(drafter.rows, columns, given))))
    return Draft(table, columns, rows, drafter.size, tuple(drafter.skipped), drafter.harmless, given, classes)


class _Drafter:
    """Reads the rows of a table in order: what a row means may depend on those above it."""

    def __init__(
        self,
        table: SourceTable,
        columns: TableColumns,
        totals: Mapping[str, TotalsPrinted],
        prefer: Library | None,
        given: Given,
        classes: int | None,
    ) -> None:
        self.columns, self.totals = columns, totals
        self.counted_in = table.counted_in
        self.harmless = find_harmless(table.marks, table.caption)
        labels = [read_label(row.cells[columns.label], None, ()) for row in table.rows if row.single is None]
        self.captioned = read_caption_size(table.caption, [label.name for label in labels])
        self.size = self.captioned.side
        headed = table.headings[columns.label] if table.headings else ""
        self.says = TableSays(
            self.harmless,
            prefer,
            unsized=None in columns.sizes.values(),
            headed=tuple(families_in(headed)),
            captioned=tuple(families_in(table.caption)),
            given=self.size or given,
        )
        doubt = find_other_classes(table, [label.name for label in labels], headed=headed, given=classes is not None)
        self.classes = TableClasses(doubt, classes)
        self._without_remark = {line_of(label.name) for label in labels if not label.remark}
        self.rows: list[DraftRow] = []
        self.skipped: list[str] = []
        self._group = self._noted = ""  # the heading between rows that this is under, and the last that was noted
        self._by_label: dict[str, list[tuple[str, DraftRow]]] = {}  # with the heading that each row is under
        self._ids: set[str] = set()
        self._first_size: dict[str, int | None] = {}  # of the images, by slug
        self._numbers: defaultdict[str, int] = defaultdict(lambda: 1)

    def add(self, row: GridRow) -> None:
        """Read one row."""
        if row.single is not None and not _is_model(row, self.columns):
            self._group = row.single
            return
        numbers = read_numbers(row, self.columns)
        label = read_label(row.cells[self.columns.label], self.rows[-1].label if self.rows else None, self._by_label)
        if not numbers.printed:
            reason = f": {numbers.left_out[0]}" if numbers.left_out else ""
            self.skipped.append(f"{self.counted_in} {row.line}, {label.text or 'a row without a label'}{reason}")
            return
        side = numbers.size or find_size(self._group) or self.columns.first_size
        several = why_several_models(label, side, self.totals)
        other = self.classes.doubt_below(self._group)
        why = (other.reason if other else None) or self.columns.doubt(row) or several or self._doubt(label)
        base = self._find_base(label, numbers.size)
        excepted = None if side or label.size else self.captioned.doubt(label.name)
        says = replace(self.says, given=None, unsized=True) if excepted else self.says
        model = guess_model(label, side, why, says, printed_flops(numbers, self.columns))
        model = model.opened(excepted) if excepted and why is None else model
        of_sizes = [guess_model(label, one, why, self.says).candidates[:1] for one in self.columns.several_sizes(row)]
        model, numbers = hold_back_windowed(*keep_parameters(model, numbers, self.columns), self.columns)
        drafted = DraftRow(
            self._new_id(label, base, side),
            label,
            row.line,
            self.classes.put_into(
                replace(
                    model,
                    candidates=tuple(dict.fromkeys(chain.from_iterable(of_sizes))) or model.candidates,
                    sized=model.sized or side is not None or label.size is not None,
                ),
                other,
            ),
            numbers,
            base.id if base else None,
            _training(row, self.columns, label, self._group),
            tuple(self._remarks(row)),
        )
        self._noted = self._group
        self._by_label.setdefault(label.text.casefold(), []).append((self._group, drafted))
        self.rows.append(drafted)

    def _find_base(self, label: LabelParts, size: int | None) -> DraftRow | None:
        """Return the row that a label builds on: the one above, or the only one of its label under this heading."""
        if not label.builds_on:
            return None
        found = self._by_label.get(label.builds_on.casefold(), [])
        if label.added:
            return found[-1][1] if found else None
        sized = [(group, row) for group, row in found if row.numbers.size == size]
        here = [(group, row) for group, row in sized if group == self._group]
        return next((rows[0][1] for rows in (here, sized) if len(rows) == 1), None)

    def _doubt(self, label: LabelParts) -> str | None:
        """Return why a model may be another than its label says: by the heading above, or by a remark.

        A remark may be a change where other rows are of the family without it.
        """
        if may_change(self._group):
            return f"the heading {self._group!r} above the row may stand for a change of the model"
        if not label.remark or line_of(label.name) not in self._without_remark:
            return None
        return f"the remark {label.remark!r} may stand for a change: other rows of this family do not have it"

    def _remarks(self, row: GridRow) -> Iterator[str]:
        """Yield what a reader must know of a row: a heading that is new above it, and what was uncertain."""
        if self._group != self._noted:
            yield f"under the heading {self._group!r}"
        if row.doubt is not None:
            yield f"uncertain: {row.doubt}"

    def _new_id(self, label: LabelParts, base: DraftRow | None, size: int | None) -> str:
        """Return a slug that no row above has: with the size of the images where it is not the first one's."""
        words = re.sub(r"[^a-z0-9]+", "_", label.text.lower()).strip("_")[:60]
        words = f"{base.id}_{words}" if base and label.added else words
        plain = words or f"row_{len(self.rows) + 1}"
        key = plain if size in (None, self._first_size.setdefault(plain, size)) else f"{plain}_{size}"
        candidates = chain([key], (f"{key}_{n}" for n in count(self._numbers[key])))
        name = next(one for one in candidates if one not in self._ids)
        self._numbers[key] += 1
        self._ids.add(name)
        return name


def _is_model(row: GridRow, columns: TableColumns) -> bool:
    """Say whether a row of one text has it where numbers stand: then it is no heading between rows."""
    return row.single not in (row.cells[columns.label], row.cells[0])


def _training(row: GridRow, columns: TableColumns, label: LabelParts, group: str) -> str | None:
    """Return what a row says about its training, if anything."""
    words = [
        f"{columns.guesses[at].heading} {row.cells[at]}" for at in columns.training if row.cells[at] not in MISSING
    ]
    return "; ".join(filter(None, [*words, label.training, group])) or None


def _with_sizes(rows: Sequence[DraftRow], columns: TableColumns, given: Given) -> list[DraftRow]:
    """Open the rows without a size of images where most have one: they must not keep all FLOPs from being checked."""
    unsized = {slug for slug, size in columns.sizes.items() if size is None}
    matched = [row for row in rows if row.model.recipe is not None and not row.model.sized]
    without = [row.id for row in matched if unsized & row.numbers.printed.keys()]
    if given is OwnSize.OWN or columns.size is None or 2 * len(without) >= len(rows):
        return list(rows)
    return [_opened(row, _NO_SIZE) if row.id in without else row for row in rows]


_NO_SIZE = "nothing gives its size of images, unlike other rows': write the spec with --image 224, or give the row one"


def _opened(row: DraftRow, reason: str) -> DraftRow:
    """Return a row whose model becomes the first candidate."""
    return replace(row, model=row.model.opened(reason))


def _one_training_each(rows: Sequence[DraftRow]) -> list[DraftRow]:
    """Keep `training` only where one model has several rows; where it tells none apart, only the first has a model."""
    recipes = Counter(row.model.recipe for row in rows if row.model.recipe)
    seen: set[tuple[str, str | None]] = set()
    done: list[DraftRow] = []
    for row in rows:
        recipe = row.model.recipe
        if recipe is None or recipes[recipe] == 1:
            done.append(replace(row, training=None))
            continue
        if (recipe, row.training) in seen:
            why = "a row above has the same model, and nothing says how they differ: give both `training`"
            done.append(replace(_opened(row, why), training=None))
            continue
        seen.add((recipe, row.training))
        done.append(row)
    return done


def _variants_first(rows: Sequence[DraftRow]) -> Iterator[DraftRow]:
    """Yield the rows; of a marked one, the plain model is the last candidate where it has a row of its own."""
    plain = {row.model.recipe for row in rows if row.model.recipe is not None}
    for row in rows:
        first, *others = row.model.candidates or ("",)
        if row.label.marks and row.model.recipe is None and others and first in plain:
            yield replace(row, model=replace(row.model, candidates=(*others, first)))
        else:
            yield row
