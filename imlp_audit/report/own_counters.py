"""Rows that state their own counter: they do not follow their column's, so a column may mix counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from imlp_audit.numbers.words import count_of
from imlp_audit.records.paper import ColumnHead, PaperHead, TableHead
from imlp_audit.records.result import AuditResult


def describe_own_counters(result: AuditResult, paper: PaperHead, table: TableHead, column: ColumnHead) -> str:
    """Return which selected rows of a column state their own counter, and why; an empty text where none does."""
    rows: dict[tuple[str, str], list[str]] = {}
    for row, convention, because in _own_counters(result, paper, table, column):
        rows.setdefault((convention, because), []).append(row)
    if not rows:
        return ""
    named = "; ".join(
        f"{convention} for {', '.join(names)} (because: {because})" for (convention, because), names in rows.items()
    )
    return f"{_count(sum(map(len, rows.values())))}: {named}"


def count_own_counters(result: AuditResult) -> str:
    """Return how many selected rows state their own counter, with these counters; an empty text where none does."""
    found = [
        (f"{paper.id}/{table.id}/{row}", convention)
        for paper in result.papers
        for table in paper.tables
        for column in table.columns
        for row, convention, _ in _own_counters(result, paper, table, column)
    ]
    counters = Counter(convention for _, convention in found)
    named = ", ".join(f"{name} {count}" for name, count in counters.items())
    return f"{_count(len({row for row, _ in found}))} ({named})" if found else ""


def _count(rows: int) -> str:
    return f"{'a counter of its' if rows == 1 else 'counters of their'} own for {count_of(rows, 'row')}"


def _own_counters(
    result: AuditResult, paper: PaperHead, table: TableHead, column: ColumnHead
) -> Iterator[tuple[str, str, str]]:
    """Yield the row, the convention and the reason of each selected number that a row's own counter counts."""
    selected = {check.id for check in result.checks}
    for row in table.rows:
        if f"{paper.id}/{table.id}/{row.id}/{column.id}" in selected:
            yield from ((row.id, own.convention, own.because) for own in row.counters if own.measure == column.measure)
