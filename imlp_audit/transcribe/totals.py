"""The totals that a document prints for a label: where they differ, it stands for several models."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from imlp_audit.numbers.words import list_some
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.columns import read_columns
from imlp_audit.transcribe.grid import SourceTable
from imlp_audit.transcribe.labels import LabelParts, read_label
from imlp_audit.transcribe.rows import read_numbers

TotalsPrinted: TypeAlias = Mapping[tuple[str, int | None], Sequence[str]]
"""The totals that are printed for a label and a size of the images, one of those that begin alike."""


def totals_printed(table: SourceTable, others: Sequence[SourceTable]) -> Mapping[str, TotalsPrinted]:
    """Return the totals that a document prints for the labels: parameters in all its tables, FLOPs in one."""
    parameters = _totals_of([table, *others], Measure.PARAMETERS)
    return {"parameters": parameters, "FLOPs": _totals_of([table], Measure.FLOPS)}


def _totals_of(tables: Sequence[SourceTable], measure: Measure) -> TotalsPrinted:
    """Return the totals that each label has in the first such column of the tables, by label and size of the images."""
    found: dict[tuple[str, int | None], dict[str, str]] = {}
    for table in tables[:50]:
        columns = read_columns(table)
        at = next((i for i, guess in columns.numbers if guess.measure is measure), None)
        if at is None:
            continue
        for row in table.rows:
            label = read_label(row.cells[columns.label], None, ())
            key = ((label.text + label.mark).casefold(), read_numbers(row, columns).size)
            text = row.cells[at]
            if text not in MISSING:
                found.setdefault(key, {}).setdefault(_leading(text), text)
    return {key: tuple(texts.values()) for key, texts in found.items()}


def _leading(text: str) -> str:
    """Return a number's first two digits and how many digits stand before the point: enough to tell models apart."""
    found = re.search(r"\d[\d,]*", text)
    whole = found[0].replace(",", "") if found else text
    return whole[:2] + "0" * max(0, len(whole) - 2)


def why_several_models(label: LabelParts, size: int | None, printed: Mapping[str, TotalsPrinted]) -> str | None:
    """Say that a label stands for several models, if the source prints several totals for it."""
    for counted, totals in printed.items():
        texts = totals.get(((label.text + label.mark).casefold(), size), ())
        if len(texts) > 1:
            one = "one model on images of one size" if counted == "FLOPs" else "one model"
            return f"the source prints several {counted} for {label.text!r} ({list_some(texts)}), so it is not {one}"
    return None
