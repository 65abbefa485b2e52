"""A paper's tables as it prints them: each number with the sign of its verdict, and what explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import (
    FAILS,
    PASSES,
    AnyCheck,
    CellCheck,
    CountedCheck,
    NumberCheck,
    Verdict,
)
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
from imlp_audit.report.hypotheses import table_hypothesis
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


def write_printed(check: AnyCheck) -> str:
    """Write a printed text with its unit, unless the text ends in it."""
    unit = (check.unit if isinstance(check, NumberCheck) else None) or ""
    printed = check.printed or "?"
    return f"{printed} {unit}" if unit and check.printed and not printed.endswith(unit) else printed


def _facts(check: CountedCheck, findings: Mapping[str, NumberedFinding]) -> Iterator[tuple[str, Inline]]:
    under = f" ({', '.join(check.under)})" if check.under else ""
    known = ", known" if check.acknowledged else ""
    caveats = "".join(f"; {caveat}: {CAVEATS[caveat].meaning}" for caveat in check.caveats)
    yield "verdict", (Span(word_of(check.verdict), style_of(check)), under, known, caveats)
    yield "printed", write_printed(check)
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
        one, ten = check.power.one, check.power.ten
        wrong = f"{one.caught} of {count_of(one.tried, 'wrong number')} one last digit away would not have passed"
        yield "power", f"{wrong}, {ten.caught} of {ten.tried} within ten"
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
    return Stamped(check.printed or "?", sign, _meaning(check), style_of(check), finding)


def _meaning(check: CountedCheck) -> str:
    known = ("known",) if check.acknowledged else ()
    return ", ".join((word_of(check.verdict).replace("_", " "), *check.caveats, *known))


def _notes(cells: Sequence[CellChecks]) -> Iterator[Inline | Item]:
    """Yield what many cells have in common: what is missing to check them, and hints of those that pass."""
    missing = Counter(
        (one.column.heading, one.number.reason)
        for one in cells
        if one.number is not None and one.number.verdict is Verdict.UNVERIFIABLE and not one.number.evidence
    )
    for heading in dict.fromkeys(heading for heading, _ in missing):
        reasons = {reason: count for (of, reason), count in missing.items() if of == heading}
        listed = reasons if len(reasons) <= _REASONS else dict(list(reasons.items())[:1])
        for reason, count in listed.items():
            yield f"{heading}: {count} unverifiable: {reason}"
        rest = sum(reasons.values()) - sum(listed.values())
        if rest:
            yield f"{heading}: {rest} more unverifiable, for {len(reasons) - 1} other reasons: each number says its own"
    hints: dict[str, dict[str, None]] = {}
    for one in cells:
        for hint in one.number.hint_texts if one.number is not None and one.number.verdict in PASSES else ():
            hints.setdefault(hint, {})[one.row.id] = None
    for hint, rows in hints.items():
        yield ("note: ", hint, " (", *join(map(code, rows)), ")")
