"""Which table of a document is meant."""

from __future__ import annotations

from collections.abc import Sequence

from imlp_audit.errors import UsageError
from imlp_audit.transcribe.grid import SourceDocument, SourceTable

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
