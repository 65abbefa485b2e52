"""The numbers of a row, as a spec takes them; rows without a label continue the one above."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from imlp_audit.numbers.forms import SCALES
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MISSING, is_printed, read_cell, read_change, refusal
from imlp_audit.transcribe.columns import TableColumns
from imlp_audit.transcribe.grid import GridRow, SourceTable
from imlp_audit.transcribe.headings import NOUNS, ColumnGuess, why_no_total
from imlp_audit.transcribe.sides import sides_in


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
        text, slug = _in_units(row.cells[at], guess), columns.slugs[at]
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
    for at, changed in columns.changes.items():
        change = _in_percent(read_change(row.cells[at]), columns.guesses[at].heading, columns.guesses[changed])
        if change is not None and change.endswith("%") and columns.guesses[changed].unit != "%":
            changes[columns.slugs[changed]] = change
        elif change is not None:
            why = _why_no_change(change, columns.guesses[changed])
            left_out.append(f"{columns.guesses[at].heading} {row.cells[at]!r}: {why}")
    sides = sides_in(row.cells[columns.size]) if columns.size is not None else ()
    return RowNumbers(printed, {k: v for k, v in changes.items() if k in printed}, sides, tuple(left_out))


def _in_percent(change: str | None, heading: str, changed: ColumnGuess) -> str | None:
    """Return a change with the % that only its heading prints; a change of a score in % may be in points."""
    said = re.search(r"%|\bpercent", heading) is not None and changed.unit != "%"
    return f"{change}%" if change is not None and said and not change.endswith("%") else change


def _why_no_change(change: str, guess: ColumnGuess) -> str:
    kind = f"not in percent (if it is, add `delta: {{...: {change}%}}`)"
    if guess.unit == "%":
        kind = "in points" if not change.endswith("%") else "in points or not"
    return f"the change {change} is {kind}, and a spec holds changes in percent of the baseline's number"


def _in_units(text: str, guess: ColumnGuess) -> str:
    """Return a number that is printed in full in the column's unit, where the column was rounded: 25560000 is 25.56."""
    digits = text.replace(",", "")
    if not guess.zeros or not digits.isdigit() or not digits.isascii():
        return text
    zeros = min(guess.zeros, len(digits) - len(digits.rstrip("0")))  # a number with fewer was not rounded so far
    places = max(0, len(str(SCALES[guess.unit])) - 1 - zeros)
    return f"{Decimal(digits) / SCALES[guess.unit]:.{places}f}"


def _why(number: str | None, unit: str, expected: str, text: str) -> str:
    if any(character.isdigit() and not character.isascii() for character in text):
        return "its digits are not those of ASCII; type them as 0 to 9"
    if number is not None and unit != expected:
        return f"it is in {unit}, and the column in {expected or 'full'}"
    return refusal(text, expected) or "not a number that a spec can hold"


def continue_labels(table: SourceTable, columns: TableColumns) -> SourceTable:
    """Return a table whose blank labels are those above them, with what the columns of texts say of the row.

    So "ResNet-50" stays what it is, and a blank cell under it beside "Taylor" becomes "ResNet-50 (Taylor)".
    """
    return replace(table, rows=tuple(_continued(table, columns)))


def _continued(table: SourceTable, columns: TableColumns) -> Iterator[GridRow]:
    above, at = "", columns.label
    for row in table.rows:
        if row.single is not None or row.cells[at]:
            above = "" if row.single is not None else row.cells[at]
            yield row
            continue
        texts = [row.cells[one] for one in columns.texts if row.cells[one] not in MISSING]
        label = f"{above} ({', '.join(texts)})" if above and texts else ""
        yield replace(row, cells=(*row.cells[:at], label, *row.cells[at + 1 :]))
