"""How a result falls into the parts that every report shows: tables of cells, other checks, findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.numbers.interval import readable
from imlp_audit.records.check import PASSES, Check, CheckKind, Verdict
from imlp_audit.records.paper import ColumnHead, PaperHead, RowHead, TableHead
from imlp_audit.records.result import AuditResult

GRAVEST_FIRST = (Verdict.ERROR, Verdict.INCONSISTENT, Verdict.DIFFERS)


@dataclass(frozen=True)
class CellChecks:
    """The selected checks of one cell: the number itself, and its printed change by cells and by measurements.

    `against` are those of its difference from other rows, where runs on the same images were held against each other.
    """

    row: RowHead
    column: ColumnHead
    cell: Check | None
    delta: Check | None
    delta_measured: Check | None
    against: tuple[Check, ...] = ()


def cells(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[CellChecks]:
    """Yield the selected cells of a table, row by row."""
    checks = {check.id: check for check in result.checks}
    against: dict[str, tuple[Check, ...]] = {}
    for check in result.checks:
        name, dot, _ = check.id.partition(".against.")
        against |= {name: (*against.get(name, ()), check)} if dot else {}
    for row in table.rows:
        for column in table.columns:
            name = f"{paper.id}/{table.id}/{row.id}/{column.id}"
            cell, delta, by_measurement = (checks.get(name + end) for end in ("", ".delta", ".delta.measured"))
            found = CellChecks(row, column, cell, delta, by_measurement, against.get(name, ()))
            if found.cell or found.delta or found.delta_measured or found.against:
                yield found


def others(result: AuditResult, paper: PaperHead, kind: CheckKind) -> list[Check]:
    """Return a paper's checks of a kind."""
    return [check for check in result.checks if check.kind is kind and check.id.startswith(f"{paper.id}/")]


def findings(result: AuditResult) -> list[Check]:
    """Return what needs somebody's attention, the gravest first."""
    return [check for verdict in GRAVEST_FIRST for check in result.checks if check.verdict is verdict]


def leads(checks: Iterable[CellChecks]) -> dict[str, list[str]]:
    """Return what to know beside cells that pass: each hint, with the labels of the rows it is about."""
    found: dict[str, list[str]] = {}
    for one in checks:
        if one.cell is not None and one.cell.verdict in PASSES:
            for hint in one.cell.hints:
                labels = found.setdefault(hint, [])
                labels += [] if one.row.id in labels else [one.row.id]
    return found


def measured(text: str | None) -> str:
    """Write a measured number for people; words stay as they are."""
    try:
        return readable(Fraction(text or ""))
    except ValueError:
        return text or ""


def summary(result: AuditResult) -> str:
    """Count the verdicts in a line."""
    found = [f"{count} {verdict.value}" for verdict, count in result.counts().items() if count]
    noun = "check" if len(result.checks) == 1 else "checks"
    return f"{len(result.checks)} {noun}: {', '.join(found)}"
