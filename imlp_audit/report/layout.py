"""How a result falls into the parts that every report shows: tables of cells, other checks, findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.interval import readable
from imlp_audit.result import AuditResult, Check, ColumnHead, Kind, PaperHead, RowHead, TableHead, Verdict

FINDINGS = (Verdict.ERROR, Verdict.INCONSISTENT, Verdict.DIFFERS)
PASSES = (Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER)


@dataclass(frozen=True)
class CellChecks:
    """The checks of one cell: the number itself, and its printed change by the cells and by the measurements."""

    row: RowHead
    column: ColumnHead
    cell: Check
    delta: Check | None
    delta_measured: Check | None


def cells(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[CellChecks]:
    """Yield the selected cells of a table, row by row."""
    checks = {check.id: check for check in result.checks}
    for row in table.rows:
        for column in table.columns:
            name = f"{paper.id}/{table.id}/{row.id}/{column.id}"
            if name in checks:
                deltas = checks.get(f"{name}.delta"), checks.get(f"{name}.delta.measured")
                yield CellChecks(row, column, checks[name], *deltas)


def others(result: AuditResult, paper: PaperHead, kind: Kind) -> list[Check]:
    """Return a paper's checks of a kind."""
    return [check for check in result.checks if check.kind is kind and check.id.startswith(f"{paper.id}/")]


def findings(result: AuditResult) -> list[Check]:
    """Return what needs somebody's attention, the gravest first."""
    return [check for verdict in FINDINGS for check in result.checks if check.verdict is verdict]


def measured(text: str | None) -> str:
    """Write a measured number for people; words stay as they are."""
    try:
        return readable(Fraction(text or ""))
    except ValueError:
        return text or ""


def summary(result: AuditResult) -> str:
    """Count the verdicts in a line."""
    found = [f"{count} {verdict.value}" for verdict, count in result.counts().items() if count]
    return f"{len(result.checks)} checks: {', '.join(found)}"
