"""What stands at the top of every explanation: the check, where it comes from, and its verdict in a sentence."""

from __future__ import annotations

from imlp_audit.explain.layout import Lines, entry
from imlp_audit.records.check import Check, Source
from imlp_audit.spec.references import CellRef, RowRef


def label_of(row: RowRef) -> str:
    """Return a row's label, behind its baseline's where it only says what is added: `+ IMLP`, `w/ channel`."""
    adds = row.row.label.startswith(("+", "w/"))
    return f"{row.baseline.row.label} {row.row.label}" if adds and row.baseline is not None else row.row.label


def place_of(cell: CellRef) -> str:
    """Say where in the paper a number is printed."""
    return f"Table {cell.row.table.value.table}, {label_of(cell.row)}, {cell.column.heading}"


def stands_at(source: Source) -> str:
    """Say where in the specs something stands."""
    return f"{source.file}:{source.line}"


def head(check: Check, *told: tuple[str, str]) -> Lines:
    """Return the check's id and verdict, what is told of it, and what the verdict rests on.

    Of a waived finding that is also why it is known; at the end stands what else was noticed.
    """
    notes = [("because", check.reason), ("waived", check.waiver or ""), *(("note", hint) for hint in check.hints)]
    return [_title(check), *(line for name, text in (*told, *notes) for line in entry(name, text))]


def _title(check: Check) -> str:
    verdict = (check.finding or check.verdict).replace("_", " ")
    under = f" {', '.join(check.under)}" if check.under else ""
    waived = ", a finding that the spec declares as known" if check.finding else ""
    return f"{check.id}: {verdict}{under}{waived}"
