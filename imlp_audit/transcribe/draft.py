"""A table of a source as a draft of a spec: what each column and row became, and what a person must decide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from imlp_audit.numbers.words import list_some
from imlp_audit.spec.tables import Measure
from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.columns import TableColumns, read_columns
from imlp_audit.transcribe.grid import GridRow, SourceTable
from imlp_audit.transcribe.labels import LabelParts, read_label
from imlp_audit.transcribe.models import ModelGuess, find_doubt, find_size, guess_model
from imlp_audit.transcribe.rows import RowNumbers, read_numbers


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
    """A table as a spec may hold it. `skipped` are the rows that hold no number, by what they say."""

    table: SourceTable
    columns: TableColumns
    rows: tuple[DraftRow, ...]
    size: int | None
    skipped: tuple[str, ...]


def draft_table(table: SourceTable, others: Sequence[SourceTable] = ()) -> Draft:
    """Read a table; the other tables of the document show whether a label stands for one model."""
    columns = read_columns(table)
    doubt = find_doubt(table.caption, columns.guesses)
    size = find_size(table.caption)
    taken = _sizes_printed([table, *others])
    rows: list[DraftRow] = []
    skipped: list[str] = []
    group, group_size, shown = "", None, ""
    for row in table.rows:
        if row.single is not None and not _is_model(row, columns):
            group, group_size = row.single, find_size(row.single)
            continue
        numbers = read_numbers(row, columns)
        label = read_label(row.cells[columns.label], [one.label for one in rows])
        if not numbers.printed:
            skipped.append(f"line {row.line}: {label.text or 'a row without a label'}")
            continue
        side = numbers.size or group_size or size
        why = doubt or columns.doubt(row) or _ambiguous(label, side, taken)
        model = guess_model(label, side, why)
        ids = [one.id for one in rows]
        base = next((one for one in reversed(rows) if one.label.text == label.builds_on), None)
        remarks = (f"under the heading {group!r}",) if group != shown else ()
        shown = group
        rows.append(
            DraftRow(
                _new_id(label, base.id if base else None, side, len(rows) + 1, ids),
                label,
                row.line,
                model,
                numbers,
                base.id if base else None,
                _training(row, columns, group),
                remarks,
            )
        )
    return Draft(table, columns, tuple(_one_training_each(rows)), size, tuple(skipped))


def _is_model(row: GridRow, columns: TableColumns) -> bool:
    """Say whether a row of one text has it where numbers stand: then it is no heading between rows."""
    return row.single not in (row.cells[columns.label], row.cells[0])


def _training(row: GridRow, columns: TableColumns, group: str) -> str | None:
    """Return what a row says about its training, if anything."""
    words = [
        f"{columns.guesses[at].heading} {row.cells[at]}" for at in columns.training if row.cells[at] not in MISSING
    ]
    return "; ".join([*words, *([group] if group else [])]) or None


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
            model = ModelGuess(None, None, why, (recipe, *row.model.candidates))
            done.append(replace(row, model=model, training=None))
            continue
        seen.add((recipe, row.training))
        done.append(row)
    return done


def _sizes_printed(tables: Sequence[SourceTable]) -> Mapping[tuple[str, int | None], frozenset[str]]:
    """Return the numbers of parameters that each label has in the tables, by label and size of the images."""
    found: dict[tuple[str, int | None], set[str]] = {}
    for table in tables[:50]:
        columns = read_columns(table)
        at = next((i for i, guess in columns.numbers if guess.measure is Measure.PARAMETERS), None)
        if at is None:
            continue
        for row in table.rows:
            key = (row.cells[columns.label].casefold(), read_numbers(row, columns).size)
            text = row.cells[at]
            if text not in MISSING:
                found.setdefault(key, set()).add(_leading(text))
    return {key: frozenset(texts) for key, texts in found.items()}


def _leading(text: str) -> str:
    """Return a number's first two digits and how many digits stand before the point: enough to tell models apart."""
    found = re.search(r"\d[\d,]*", text)
    whole = found[0].replace(",", "") if found else text
    return whole[:2] + "0" * max(0, len(whole) - 2)


def _ambiguous(
    label: LabelParts, size: int | None, taken: Mapping[tuple[str, int | None], frozenset[str]]
) -> str | None:
    texts = next((texts for (name, side), texts in taken.items() if name == label.text.casefold() and side == size), ())
    if len(texts) < 2:
        return None
    return f"the source prints several sizes for {label.text!r} ({list_some(sorted(texts))}), so it is not one model"


def _new_id(label: LabelParts, base: str | None, size: int | None, number: int, taken: Sequence[str]) -> str:
    """Return a slug for a row that no row above has."""
    words = re.sub(r"[^a-z0-9]+", "_", label.text.lower()).strip("_")
    words = f"{base}_{words}" if base and label.text.startswith(("+", "w/", "with ")) else words
    plain = words or f"row_{number}"
    candidates = [plain, *([f"{plain}_{size}"] if size else []), *(f"{plain}_{n}" for n in range(2, number + 2))]
    return next(one for one in candidates if one not in taken)
