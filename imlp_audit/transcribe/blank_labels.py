"""Rows without a label below one that has it: they continue it, and another column says what they are of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from imlp_audit.transcribe.cells import MISSING
from imlp_audit.transcribe.columns import TableColumns
from imlp_audit.transcribe.grid import GridRow, SourceTable


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
