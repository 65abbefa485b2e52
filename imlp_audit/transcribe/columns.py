"""The columns of a table: which holds the labels, which numbers, and how a spec calls them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.counters import (
    find_remarks,
    is_ranking,
    is_untouched,
    may_scale,
    size_in_notes,
    why_compressed,
    why_part,
)
from imlp_audit.transcribe.grid import GridRow, SourceTable
from imlp_audit.transcribe.headings import ColumnGuess, ColumnRole, guess_column
from imlp_audit.transcribe.label_column import (
    describes_models,
    find_label,
    is_property,
    is_sort,
    may_change,
    sorts_rows,
)
from imlp_audit.transcribe.sides import side_of, sides_in
from imlp_audit.transcribe.units import size_in, words_beyond

_SLUGS = {
    Measure.PARAMETERS: "params",
    Measure.FLOPS: "flops",
    Measure.MEMORY: "memory",
    Measure.THROUGHPUT: "throughput",
}


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table by their places: `slugs` of those with numbers, `changes` with the place they change.

    `sorting` are those of texts that only say of what kind the models are, `describing` those that describe the models
    of the libraries, such as by their token mixers. `scaling` are those of numbers that say how much of a model is
    left, and `compressed` is why all rows may be of smaller models.
    """

    guesses: tuple[ColumnGuess, ...]
    label: int
    slugs: dict[int, str]
    changes: dict[int, int]
    sorting: frozenset[int] = frozenset()
    describing: frozenset[int] = frozenset()
    scaling: frozenset[int] = frozenset()
    compressed: str | None = None

    @property
    def numbers(self) -> list[tuple[int, ColumnGuess]]:
        """The columns with numbers that a spec can hold."""
        return [(at, self.guesses[at]) for at in self.slugs]

    @property
    def texts(self) -> list[int]:
        """The columns of texts that are not the labels."""
        return _columns_of_text(self.guesses, self.label)

    @property
    def training(self) -> list[int]:
        """The columns that say how a model was trained."""
        return [at for at, guess in enumerate(self.guesses) if guess.role is ColumnRole.TRAINING and at != self.label]

    @property
    def size(self) -> int | None:
        """The column with the size of the images: of several, not that of training, as FLOPs are those of testing."""
        found = [at for at, guess in enumerate(self.guesses) if guess.role is ColumnRole.SIZE]
        return next((at for at in found if "train" not in self.guesses[at].heading.lower()), next(iter(found), None))

    @property
    def sizes(self) -> dict[str, int | None]:
        """The sizes of images that the headings of the columns of FLOPs give, None for one that gives none."""
        fields = {self.slugs[at]: dict(guess.fields) for at, guess in self.numbers if guess.measure is Measure.FLOPS}
        return {slug: int(one["image"]) if "image" in one else None for slug, one in fields.items()}

    @property
    def first_size(self) -> int | None:
        """The size of images of the first column of FLOPs, where the headings of all give one."""
        sizes = list(self.sizes.values())
        return sizes[0] if sizes and None not in sizes else None

    def several_sizes(self, row: GridRow) -> tuple[int, ...]:
        """The sizes of images of a row that has more than one, as 224 / 384."""
        found = sides_in(row.cells[self.size]) if self.size is not None else ()
        return found if len(found) > 1 else ()

    def doubt(self, row: GridRow) -> str | None:
        """Return why a row's label may not be all of its model: another column says something too, or several sizes."""
        if self.size is not None and (odd := row.cells[self.size]) not in MISSING and side_of(odd) is None:
            return f"the column {self.guesses[self.size].heading!r} says {odd!r}, which is not one size of images"
        texts = [at for at in self.texts if at not in self.scaling]
        for at in texts:
            guess = self.guesses[at]
            sorted_by = at in self.sorting and is_sort(row.cells[at])
            described = sorted_by or (at in self.describing and is_property(row.cells[at]))
            if not described and row.cells[at] not in MISSING:
                where = f"the column {guess.heading!r}" if guess.heading else f"column {at + 1}, which has no heading,"
                return f"{where} says {row.cells[at]!r}, which may change the model"
        for at in sorted(self.scaling):
            if not is_untouched(self.guesses[at].heading, row.cells[at]):
                return f"the column {self.guesses[at].heading!r} says {row.cells[at]!r}, which may change the model"
        told = {*texts, *self.scaling} - self.sorting - self.describing
        return None if told else self.compressed


def read_columns(table: SourceTable) -> TableColumns:
    """Guess what the columns of a table hold."""
    rows = [row for row in table.rows if row.single is None]
    guesses = [
        guess_column(heading, [row.cells[at] for row in rows], table.caption)
        for at, heading in enumerate(table.headings)
    ]
    guesses = list(
        _without_alike([_without_changed(_without_part(_with_size(guess, table), table), guesses) for guess in guesses])
    )
    label = find_label(guesses, rows)
    numbers = [at for at, guess in enumerate(guesses) if guess.role is ColumnRole.NUMBERS and at != label]
    changes = {
        at: max((one for one in numbers if one < at), default=-1)
        for at, guess in enumerate(guesses)
        if guess.role is ColumnRole.CHANGES
    }
    for at in [at for at, changed in changes.items() if changed < 0]:
        guesses[at] = replace(guesses[at], role=ColumnRole.UNKNOWN)
        del changes[at]
    scaling = _find_scaling(guesses, label, rows)
    texts = [at for at in _columns_of_text(guesses, label) if at not in scaling]
    filled = [at for at in texts if any(row.cells[at] not in MISSING for row in rows)]
    sorting = {at for at in filled if sorts_rows(guesses[at].heading, rows, at, label)}
    describing = {at for at in filled if at not in sorting and describes_models(guesses[at].heading, rows, at, label)}
    return TableColumns(
        tuple(guesses),
        label,
        _name_columns(numbers, guesses),
        changes,
        frozenset(sorting),
        frozenset(describing),
        scaling,
        why_compressed(table.caption),
    )


def _find_scaling(guesses: Sequence[ColumnGuess], label: int, rows: Sequence[GridRow]) -> frozenset[int]:
    """Return the columns that may say how much of a model is left: those of no known numbers, by their headings."""
    unknown = [
        at for at, one in enumerate(guesses) if at != label and one.role in _NO_MEASURE and may_scale(one.heading)
    ]
    return frozenset(at for at in unknown if not is_ranking([row.cells[at] for row in rows]))


_NO_MEASURE = (ColumnRole.UNKNOWN, ColumnRole.TRAINING, ColumnRole.WORDS)


def _without_alike(guesses: Sequence[ColumnGuess]) -> Iterator[ColumnGuess]:
    """Take no column of numbers whose heading another has too: nothing says which is which."""
    times = Counter(guess.heading.casefold() for guess in guesses if guess.role is ColumnRole.NUMBERS)
    doubted: set[str] = set()
    for guess in guesses:
        heading = guess.heading.casefold()
        if guess.role is not ColumnRole.NUMBERS or times[heading] == 1:
            yield guess
            continue
        doubt = f"{times[heading]} columns have the heading {guess.heading!r}, so they are left out: give each its own"
        yield replace(guess, role=ColumnRole.UNKNOWN, doubts=() if heading in doubted else (doubt,))
        doubted.add(heading)


def _without_changed(guess: ColumnGuess, guesses: Sequence[ColumnGuess]) -> ColumnGuess:
    """Take no column of totals whose heading may name another model than the row's label, or a part of it.

    Nor one of scores that another column has too, as where one is of the original model and one of the authors'.
    """
    if guess.measure is None:
        return guess
    changed = may_change(guess.heading.replace("_", " "))
    beyond = words_beyond(guess.heading) if guess.measure.totalled else ""
    if beyond:
        size = dict(guess.fields).get("image")
        add = f"; if it is of the rows' models, add the column with `image: {size}` (docs/spec-format.md, Columns)"
        doubt = f"{guess.heading!r} is left out: its heading names more than the model: {beyond!r}{add if size else ''}"
        return replace(guess, role=ColumnRole.UNKNOWN, doubts=(doubt,))
    alike = [one for one in guesses if (one.measure, one.fields) == (guess.measure, guess.fields)]
    if not changed or (not guess.measure.totalled and (guess.measure is not Measure.SCORE or len(alike) == 1)):
        return guess
    doubt = f"{guess.heading!r} is left out: its numbers may be of another model than the label's, or of a part of it"
    return replace(guess, role=ColumnRole.UNKNOWN, doubts=(doubt,))


def _without_part(guess: ColumnGuess, table: SourceTable) -> ColumnGuess:
    """Take no column of totals that counts a part of the models, by the note of its heading or by the caption."""
    if guess.measure is None or not guess.measure.totalled:
        return guess
    part = why_part(guess.heading, guess.measure, table)
    if part is None:
        return replace(guess, doubts=(*guess.doubts, *find_remarks(guess.heading, table)))
    doubt = f"{guess.heading!r} is left out: {part}, so its numbers may not be of whole models"
    return ColumnGuess(ColumnRole.UNKNOWN, guess.heading, doubts=(doubt,))


def _with_size(guess: ColumnGuess, table: SourceTable) -> ColumnGuess:
    """Return a column of FLOPs with the size of the images that its heading gives, as in FLOPs @384, or its note."""
    if guess.measure is not Measure.FLOPS:
        return guess
    size = size_in(guess.heading) or size_in_notes(guess.heading, table)
    return guess if size is None else replace(guess, fields=(*guess.fields, ("image", str(size))))


def _columns_of_text(guesses: Sequence[ColumnGuess], label: int) -> list[int]:
    """Return the columns of texts that are not the labels."""
    kinds = (ColumnRole.WORDS, ColumnRole.LABEL)
    return [at for at, guess in enumerate(guesses) if at != label and guess.role in kinds]


def _name_columns(numbers: Sequence[int], guesses: Sequence[ColumnGuess]) -> dict[int, str]:
    slugs: dict[int, str] = {}
    for at in numbers:
        name = _slug(guesses[at])
        candidates = [name, *(f"{name}_{number}" for number in range(2, len(numbers) + 2))]
        slugs[at] = next(one for one in candidates if one not in slugs.values())
    return slugs


def _slug(guess: ColumnGuess) -> str:
    metric, of = dict(guess.fields).get("metric"), dict(guess.fields).get("of")
    usual = _SLUGS.get(guess.measure) if guess.measure is not None else None
    words = re.sub(r"[^a-z0-9]+", "_", guess.heading.lower()).strip("_")[:40]
    return usual or metric or of or words or "column"
