"""The columns of a table: which holds the labels, which numbers, and how a spec calls them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from imlp_audit.models.names.known import Library
from imlp_audit.models.names.match import names_of
from imlp_audit.models.names.spelling import spellings
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.grid import GridRow, SourceTable
from imlp_audit.transcribe.headings import ColumnGuess, ColumnRole, guess_column
from imlp_audit.transcribe.labels import read_label

_SLUGS = {
    Measure.PARAMETERS: "params",
    Measure.FLOPS: "flops",
    Measure.MEMORY: "memory",
    Measure.THROUGHPUT: "throughput",
}
_TEXT = (ColumnRole.LABEL, ColumnRole.WORDS)
_MOST_TEXTS = 300  # of a column, that are looked up


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table by their places: `slugs` of those with numbers, `changes` with the place they change."""

    guesses: tuple[ColumnGuess, ...]
    label: int
    slugs: dict[int, str]
    changes: dict[int, int]

    @property
    def numbers(self) -> list[tuple[int, ColumnGuess]]:
        """The columns with numbers that a spec can hold."""
        return [(at, self.guesses[at]) for at in self.slugs]

    @property
    def texts(self) -> list[int]:
        """The columns of texts that are not the labels."""
        return [at for at, guess in enumerate(self.guesses) if at != self.label and guess.role in _TEXT]

    @property
    def training(self) -> list[int]:
        """The columns that say how a model was trained."""
        return [at for at, guess in enumerate(self.guesses) if guess.role is ColumnRole.TRAINING and at != self.label]

    @property
    def size(self) -> int | None:
        """The column with the size of the images: of several, not that of training, as FLOPs are those of testing."""
        found = [at for at, guess in enumerate(self.guesses) if guess.role is ColumnRole.SIZE]
        return next((at for at in found if "train" not in self.guesses[at].heading.lower()), next(iter(found), None))


def read_columns(table: SourceTable) -> TableColumns:
    """Guess what the columns of a table hold."""
    rows = [row for row in table.rows if row.single is None]
    guesses = [
        guess_column(heading, [row.cells[at] for row in rows], table.caption)
        for at, heading in enumerate(table.headings)
    ]
    label = _find_label(guesses, rows)
    numbers = [at for at, guess in enumerate(guesses) if guess.role is ColumnRole.NUMBERS and at != label]
    changes = {
        at: max((one for one in numbers if one < at), default=-1)
        for at, guess in enumerate(guesses)
        if guess.role is ColumnRole.CHANGES
    }
    for at in [at for at, changed in changes.items() if changed < 0]:
        guesses[at] = replace(guesses[at], role=ColumnRole.UNKNOWN)
        del changes[at]
    return TableColumns(tuple(guesses), label, _name_columns(numbers, guesses), changes)


def _find_label(guesses: Sequence[ColumnGuess], rows: Sequence[GridRow]) -> int:
    """Return the column of texts with the most names of models, then with the most texts, then with a usual heading.

    A column with a usual heading that has less than half as many texts as another is one that sorts the rows.
    """
    texts = {at: _texts(rows, at) for at, guess in enumerate(guesses) if guess.role in _TEXT}
    most = max(map(len, texts.values()), default=0)

    def by_names(at: int) -> tuple[int, bool, bool, int, int]:
        named, usual = sum(map(_is_model, texts[at][:_MOST_TEXTS])), guesses[at].role is ColumnRole.LABEL
        return named, 2 * len(texts[at]) >= most, usual, 0 if usual else len(texts[at]), -at

    return max(texts, key=by_names, default=0)


def _texts(rows: Sequence[GridRow], at: int) -> list[str]:
    return list(dict.fromkeys(row.cells[at] for row in rows if row.cells[at] not in MISSING))


def _is_model(text: str) -> bool:
    name = read_label(text, None, ()).name
    return any(names_of(one, library) for one in spellings(name) for library in (Library.TIMM, Library.TORCHVISION))


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
