"""The printed cells of a table with their verdicts: all of them for a report, the counted ones for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.numbers.interval import readable
from imlp_audit.records.base import is_number
from imlp_audit.records.check import PASSES, CellCheck, CountedCheck, DeltaCheck, Verdict
from imlp_audit.records.paper import ColumnHead, PaperHead, RowHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Align, Block, Heading, Inline, Item, List, Span, Table, faint
from imlp_audit.report.judged_under import table_hypothesis
from imlp_audit.report.verdicts import count_verdicts, describe_verdict, write_verdict

_RIGHT, _LEFT = Align.RIGHT, Align.LEFT


@dataclass(frozen=True)
class CellChecks:
    """The selected checks of one cell: the number itself, and its printed change, from the cells and as measured.

    `against` are checks of its difference from other rows, made by runs on the same images.
    """

    row: RowHead
    column: ColumnHead
    cell: CellCheck | None
    delta: DeltaCheck | None
    delta_measured: DeltaCheck | None
    against: tuple[DeltaCheck, ...] = ()


def find_cells(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[CellChecks]:
    """Yield the selected cells of a table, row by row."""
    cells = {check.id: check for check in result.of_kind(CellCheck)}
    changes = {check.id: check for check in result.of_kind(DeltaCheck)}
    against: dict[str, tuple[DeltaCheck, ...]] = {}
    for check in changes.values():
        name, dot, _ = check.id.partition(".against.")
        against |= {name: (*against.get(name, ()), check)} if dot else {}
    for row in table.rows:
        for column in table.columns:
            name = f"{paper.id}/{table.id}/{row.id}/{column.id}"
            delta, measured = (changes.get(name + end) for end in (".delta", ".delta.measured"))
            found = CellChecks(row, column, cells.get(name), delta, measured, against.get(name, ()))
            if found.cell or found.delta or found.delta_measured or found.against:
                yield found


def find_hints(cells: Iterable[CellChecks]) -> dict[str, list[str]]:
    """Return the hints of cells that pass, each with the ids of its rows."""
    hints: dict[str, list[str]] = {}
    for one in cells:
        if one.cell is not None and one.cell.verdict in PASSES:
            for hint in one.cell.hint_texts:
                rows = hints.setdefault(hint, [])
                rows += [] if one.row.id in rows else [one.row.id]
    return hints


def write_measured(text: str | None) -> str:
    """Write a measured number with its digits in groups; words stay as they are, and numbers of absurd length."""
    return readable(Fraction(text)) if text and is_number(text) else text or ""


def list_cells(cells: Iterable[CellChecks]) -> Table | None:
    """Return a row for each number and change that was counted or run, or None: what was measured, and by others.

    What is missing for the other numbers is said once for all of them.
    """
    header = ("model", "column", "printed", "measured", "gap", "verdict", "also measured")
    align = (_LEFT, _LEFT, _RIGHT, _RIGHT, _RIGHT, _LEFT, _LEFT)
    rows = tuple(row for one in cells for row in _rows(one))
    return Table(header, rows, align) if rows else None


def _rows(one: CellChecks) -> Iterator[tuple[Inline, ...]]:
    label, heading = one.row.label, one.column.heading
    listed = one.cell is not None and not _lacks(one.cell)
    if one.cell is not None and listed:
        yield (label, heading, *_numbers(one.cell))
    changes = [("change, from the cells", one.delta), ("change, as measured", one.delta_measured)]
    changes += [(f"against {check.id.rpartition('.')[2]}", check) for check in one.against]
    for name, check in changes:
        if check is not None:
            yield ("" if listed else label, name if listed else f"{heading}, {name}", *_numbers(check))


def _lacks(check: CountedCheck) -> bool:
    """Say whether something is missing to check a number, so that there is nothing to list."""
    return check.verdict is Verdict.UNVERIFIABLE and check.measured is None and not check.evidence


def _numbers(check: CountedCheck) -> tuple[Inline, ...]:
    return (
        check.printed or "?",
        write_measured(check.measured),
        check.gap or "",
        describe_verdict(check),
        list_other_measurements(check),
    )


def list_other_measurements(check: CountedCheck) -> str:
    """List the measurements other than the deciding one; those that give the same number stand together."""
    names: dict[str, list[str]] = {}
    for one in check.also:
        names.setdefault(one.measured, []).append("/".join(part for part in (one.reading, one.convention) if part))
    return "; ".join(f"{write_measured(value)} ({', '.join(group)})" for value, group in names.items())


def counted_cells(result: AuditResult, paper: PaperHead, head: TableHead) -> Iterator[Block]:
    """Yield a table's counted cells for a terminal, and a line for what isn't in the table."""
    cells = list(find_cells(result, paper, head))
    if not cells:
        return
    yield Heading(f"{head.called}: {head.title}", 3)
    yield from table_hypothesis(result, paper, head)
    rows, label = [], None
    for one in cells:
        if one.cell is not None and (one.cell.measured is not None or one.cell.verdict is Verdict.ERROR):
            rows.append((one.row.label if one.row is not label else "", *_columns(one, one.cell)))
            label = one.row
    if rows:
        header = ("model", "column", "printed", "measured", "gap", "verdict")
        yield Table(header, tuple(rows), (_LEFT, _LEFT, _RIGHT, _RIGHT, _RIGHT, _LEFT))
    notes = tuple(_notes(cells))
    if notes:
        yield List(notes)


def _columns(one: CellChecks, check: CountedCheck) -> tuple[Inline, ...]:
    change = f" ({one.delta.printed})" if one.delta else ""
    printed = f"{check.printed or ''}{change}"
    verdicts: Inline = (write_verdict(check), *_failing_changes(one))
    return (one.column.heading, printed, write_measured(check.measured), check.gap or "", verdicts)


def _failing_changes(one: CellChecks) -> Iterator[str | Span]:
    """Yield, for the verdict of a number that stands beside its printed change, what does not pass about the change."""
    for name, change in (("change", one.delta), ("change as measured", one.delta_measured)):
        if change is not None and change.verdict not in PASSES:
            yield from (f"; {name}: ", write_verdict(change))


def _notes(cells: list[CellChecks]) -> Iterator[Inline | Item]:
    """Count what isn't in the table: cells for which nothing can be counted, and printed changes."""
    missing = Counter(
        (one.column.heading, one.cell.reason)
        for one in cells
        if one.cell is not None and one.cell.verdict is Verdict.UNVERIFIABLE and not one.cell.evidence
    )
    for (heading, reason), count in missing.items():
        yield faint(f"{heading}: {count} unverifiable: {reason}")
    for hint, rows in find_hints(cells).items():
        yield faint(f"{hint} ({', '.join(rows)})")
    deltas = [one.delta for one in cells if one.delta]
    as_measured = [one.delta_measured for one in cells if one.delta_measured]
    for name, checks in (("printed cells", deltas), ("measured values", as_measured)):
        if checks:
            yield faint(f"printed changes against the {name}: {count_verdicts(checks)}")
