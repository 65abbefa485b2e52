"""A paper's tables as it prints them: each number with the sign of its verdict, and what explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.records.check import FAILS, PASSES, CellCheck, CountedCheck, Verdict
from imlp_audit.records.paper import ColumnHead, PaperHead, RowHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import (
    Align,
    Block,
    Heading,
    Inline,
    Item,
    List,
    MarkedTable,
    Paragraph,
    PrintedCell,
    Span,
    Stamped,
    Table,
    code,
    faint,
    join,
    strong,
)
from imlp_audit.report.findings import NumberedFinding
from imlp_audit.report.hypotheses import describe_power, table_hypothesis
from imlp_audit.report.sections import describe_run
from imlp_audit.report.verdicts import (
    CAVEATS,
    explain_command,
    place_in_specs,
    style_of,
    word_of,
    write_measured,
    write_verdict,
)

_RIGHT, _LEFT = Align.RIGHT, Align.LEFT
_CHANGES = {".delta": "from the cells", ".delta.measured": "as measured"}  # by the ends of their ids


@dataclass(frozen=True)
class CellChecks:
    """The selected checks of one cell by what follows its id: of the number itself, and of its printed change."""

    row: RowHead
    column: ColumnHead
    checks: Mapping[str, CountedCheck]

    @property
    def number(self) -> CountedCheck | None:
        """The check of the number itself."""
        return self.checks.get("")


def find_cells(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[CellChecks]:
    """Yield the selected cells of a table, row by row."""
    known = {check.id: check for check in result.of_kind(CountedCheck)}
    for row in table.rows:
        for column in table.columns:
            name = f"{paper.id}/{table.id}/{row.id}/{column.id}"
            checks = {end: known[name + end] for end in ("", *_CHANGES) if name + end in known}
            if checks:
                yield CellChecks(row, column, checks)


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
    for end, check in one.checks.items():
        if end:
            yield (label, f"{heading}{', ' if heading else ''}change, {_CHANGES[end]}", *_numbers(check))
        elif not _lacks(check):
            yield (label, heading, *_numbers(check))
            label, heading = "", ""


def _lacks(check: CountedCheck) -> bool:
    """Say whether something is missing to check a number, so that there is nothing to list."""
    return check.verdict is Verdict.UNVERIFIABLE and check.measured is None and not check.evidence


def _numbers(check: CountedCheck) -> tuple[Inline, ...]:
    undecided = check.verdict in (Verdict.UNVERIFIABLE, Verdict.ERROR) and not check.evidence
    return (
        check.printed or "?",
        write_measured(check.measured),
        check.gap or "",
        (write_verdict(check), f": {check.reason}" if undecided else ""),
        list_other_measurements(check),
    )


def list_other_measurements(check: CountedCheck) -> str:
    """List the measurements other than the deciding one; those that give the same number stand together."""
    names: dict[str, list[str]] = {}
    for one in check.also:
        names.setdefault(one.measured, []).append("/".join(part for part in (one.reading, one.convention) if part))
    return "; ".join(f"{write_measured(value)} ({', '.join(group)})" for value, group in names.items())


def _facts(check: CountedCheck, findings: Mapping[str, NumberedFinding]) -> Iterator[tuple[str, Inline]]:
    under = f" ({', '.join(check.under)})" if check.under else ""
    known = ", known" if check.acknowledged else ""
    caveats = "".join(f"; {caveat}: {CAVEATS[caveat].meaning}" for caveat in check.caveats)
    yield "verdict", (Span(word_of(check.verdict), style_of(check)), under, known, caveats)
    unit = f" {check.unit}" if check.unit and check.printed and not check.printed.endswith(check.unit) else ""
    yield "printed", f"{check.printed or '?'}{unit}"
    if check.measured is not None:
        gap = f" (gap {check.gap} in the last printed digit)" if check.gap else ""
        yield "measured", f"{write_measured(check.measured)}{gap}"
    yield "why", check.reason
    if check.measured is not None and (check.reading or check.convention):
        yield "measured under", ", ".join(part for part in (check.reading, check.convention, check.rounding) if part)
    yield "also measured", list_other_measurements(check)
    yield from (("hint", hint) for hint in check.hint_texts)
    yield from (("evidence", describe_run(run)) for run in check.evidence)
    if isinstance(check, CellCheck) and check.power is not None and check.verdict in PASSES:
        yield "power", describe_power(check.power)
    found = findings.get(check.id)
    if found is not None:
        yield "finding", (found.link, f": {found.finding.title}")
    yield "ask", (code(explain_command(check)), faint(f" ({place_in_specs(check)})"))


SIGNS = {
    Verdict.REPRODUCED: "✓",
    Verdict.REPRODUCED_UNDER: "✓*",
    Verdict.UNVERIFIABLE: "○",
    Verdict.DIFFERS: "✗",
    Verdict.INCONSISTENT: "✗",
    Verdict.ERROR: "!",
}
_GRAVITY = list(SIGNS)
_REASONS = 3  # reasons for open numbers of a column that are written below a table
LEGEND = (
    "✓ follows from the model as the text describes it; ✓* follows under another reading, convention or rounding rule, "
    "which is named; ✗ does not follow, and F1, F2, ... is the finding that says why; ○ cannot be checked here; ! the "
    "check failed to run. After ✓, ƒ marks a number that its counter was fitted on, ‡ one in a column of two counters, "
    "and ~ a weak pass: too little speaks for this reading or counter and against the others."
)


def printed_tables(result: AuditResult, paper: PaperHead, findings: Mapping[str, NumberedFinding]) -> Iterator[Block]:
    """Yield a section for each table with its hypothesis; `findings` are by the ids of their checks."""
    sections = [(table, list(find_cells(result, paper, table))) for table in paper.tables]
    if not any(cells for _, cells in sections):
        return
    yield Heading("The tables as printed")
    yield Paragraph(LEGEND)
    for table, cells in sections:
        if cells:
            yield Heading(f"{table.called}: {table.title}", 3, f"table/{paper.id}/{table.id}")
            yield from table_hypothesis(result, paper, table)
            yield _lay_out(table, cells, findings)
            notes = tuple(_notes(cells))
            if notes:
                yield List(notes)


def _lay_out(table: TableHead, cells: Sequence[CellChecks], findings: Mapping[str, NumberedFinding]) -> MarkedTable:
    places = {(one.row.id, one.column.id): one for one in cells}
    columns = [head for head in table.columns if any(one.column is head for one in cells)]
    rows = tuple(
        (row.label, tuple(_print_cell(places.get((row.id, column.id)), findings) for column in columns))
        for row in table.rows
        if any(one.row is row for one in cells)
    )
    return MarkedTable(("model", *(head.heading for head in columns)), rows, list_cells(cells))


def _print_cell(one: CellChecks | None, findings: Mapping[str, NumberedFinding]) -> PrintedCell | None:
    """Return a cell with all its checks; a printed change that two checks judge stands once, with the graver sign."""
    if one is None:
        return None
    numbers = [_stamp(one.number, findings)] if one.number is not None else []
    changes = [check for end, check in one.checks.items() if end]
    if changes:
        numbers.append(_stamp(max(changes, key=lambda check: _GRAVITY.index(check.verdict)), findings))
    explanation = list[Block]()
    for end, check in one.checks.items():
        if end:
            explanation.append(Paragraph(strong(f"The printed change, {_CHANGES[end]}")))
        explanation.append(List(tuple(Item(text, label=label) for label, text in _facts(check, findings) if text)))
    first, *_ = one.checks.values()
    return PrintedCell(tuple(numbers), tuple(explanation), first.id.partition(".")[0])


def _stamp(check: CountedCheck, findings: Mapping[str, NumberedFinding]) -> Stamped:
    sign = SIGNS[check.verdict] + "".join(CAVEATS[caveat].sign for caveat in check.caveats)
    found = findings.get(check.id) if check.verdict in FAILS else None
    finding = (found.name, found.anchor) if found else None
    known = ("known",) if check.acknowledged else ()
    meaning = ", ".join((word_of(check.verdict).replace("_", " "), *check.caveats, *known))
    return Stamped(check.printed or "?", sign, meaning, style_of(check), finding)


def _notes(cells: Sequence[CellChecks]) -> Iterator[Inline | Item]:
    """Yield what many cells have in common: what is missing to check them, and hints of those that pass."""
    missing: dict[str, Counter[str]] = {}
    hints: dict[str, dict[str, None]] = {}
    for one in cells:
        check = one.number
        if check is not None and check.verdict is Verdict.UNVERIFIABLE and not check.evidence:
            missing.setdefault(one.column.heading, Counter())[check.reason] += 1
        for hint in check.hint_texts if check is not None and check.verdict in PASSES else ():
            hints.setdefault(hint, {})[one.row.id] = None
    for heading, reasons in missing.items():
        listed = list(reasons.items())[: None if len(reasons) <= _REASONS else 1]
        yield from (f"{heading}: {count} unverifiable: {reason}" for reason, count in listed)
        if rest := reasons.total() - sum(count for _, count in listed):
            yield f"{heading}: {rest} more unverifiable, for {len(reasons) - 1} other reasons: each number says its own"
    for hint, rows in hints.items():
        yield ("note: ", hint, " (", *join(map(code, rows)), ")")
