"""Sections of a report: tables as printed with what explains each number, what runs measured, what the text says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import (
    FAILS,
    PASSES,
    Accuracy,
    Caveat,
    CellCheck,
    Check,
    CheckKind,
    ClaimCheck,
    CountedCheck,
    EquationCheck,
    Evidence,
    Throughput,
    Verdict,
    printed_form,
)
from imlp_audit.records.result import AuditResult, ColumnHead, PaperHead, RowHead, TableHead
from imlp_audit.report import document as doc
from imlp_audit.report.findings import NumberedFinding
from imlp_audit.report.hypotheses import describe_power, table_hypothesis
from imlp_audit.report.verdicts import (
    explain_command,
    place_in_specs,
    style_of,
    word_of,
    write_check,
    write_measured,
    write_verdict,
)

Findings: TypeAlias = Mapping[str, NumberedFinding]  # by the ids of their checks
_RIGHT, _LEFT = doc.Align.RIGHT, doc.Align.LEFT
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


def list_cells(cells: Iterable[CellChecks]) -> doc.Table | None:
    """Return a row for each number and change that was counted or run, or None: what was measured, and by others.

    What is missing for the other numbers is said once for all of them.
    """
    header = ("model", "column", "printed", "measured", "gap", "verdict", "also measured")
    align = (_LEFT, _LEFT, _RIGHT, _RIGHT, _RIGHT, _LEFT, _LEFT)
    rows = tuple(row for one in cells for row in _rows(one))
    return doc.Table(header, rows, align) if rows else None


def _rows(one: CellChecks) -> Iterator[tuple[doc.Inline, ...]]:
    label, heading = one.row.label, one.column.heading
    for end, check in one.checks.items():
        if end:
            yield (label, f"{heading}{', ' if heading else ''}change, {_CHANGES[end]}", *_numbers(check))
        elif check.verdict is not Verdict.UNVERIFIABLE or check.measured is not None or check.evidence:
            yield (label, heading, *_numbers(check))
            label, heading = "", ""


def _numbers(check: CountedCheck) -> tuple[doc.Inline, ...]:
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


def _facts(check: CountedCheck, findings: Findings) -> Iterator[tuple[str, doc.Inline]]:
    under = f" ({', '.join(check.under)})" if check.under else ""
    known = ", known" if check.acknowledged else ""
    caveats = "".join(f"; {caveat}: {_CAVEATS[caveat]}" for caveat in check.caveats)
    yield "verdict", (doc.Span(word_of(check.verdict), style_of(check)), under, known, caveats)
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
    yield "ask", (doc.code(explain_command(check)), doc.faint(f" ({place_in_specs(check)})"))


SIGNS = {
    Verdict.REPRODUCED: "✓",
    Verdict.REPRODUCED_UNDER: "✓*",
    Verdict.UNVERIFIABLE: "○",
    Verdict.DIFFERS: "✗",
    Verdict.INCONSISTENT: "✗",
    Verdict.ERROR: "!",
}
_GRAVITY = list(SIGNS)
_CAVEAT_SIGNS = {Caveat.FITTED: "ƒ", Caveat.MIXED: "‡", Caveat.WEAK: "~"}
_CAVEATS = {
    Caveat.FITTED: "its counter was fitted on this number",
    Caveat.MIXED: "two counters made this column, and the table does not say which of them made this number",
    Caveat.WEAK: "the reading or the counter is not a clear choice",
}
_REASONS = 3  # reasons for open numbers of a column that are written below a table
LEGEND = (
    "✓ follows from the model as the text describes it; ✓* follows under another reading, convention or rounding rule, "
    "which is named; ✗ does not follow, and F1, F2, ... is the finding that says why; ○ cannot be checked here; ! the "
    "check failed to run. After ✓, ƒ marks a number that its counter was fitted on, ‡ one in a column of two counters, "
    "and ~ a weak pass: too little speaks for this reading or counter and against the others."
)


def printed_tables(result: AuditResult, paper: PaperHead, findings: Findings) -> Iterator[doc.Block]:
    """Yield a section for each table with its hypothesis; `findings` are by the ids of their checks."""
    sections = [(table, list(find_cells(result, paper, table))) for table in paper.tables]
    if not any(cells for _, cells in sections):
        return
    yield doc.Heading("The tables as printed")
    yield doc.Paragraph(LEGEND)
    for table, cells in sections:
        if cells:
            yield doc.Heading(f"{table.called}: {table.title}", 3, f"table/{paper.id}/{table.id}")
            yield from table_hypothesis(result, paper, table)
            yield _lay_out(table, cells, findings)
            notes = tuple(_notes(cells))
            if notes:
                yield doc.List(notes)


def _lay_out(table: TableHead, cells: Sequence[CellChecks], findings: Findings) -> doc.MarkedTable:
    places = {(one.row.id, one.column.id): one for one in cells}
    columns = [head for head in table.columns if any(one.column is head for one in cells)]
    rows = tuple(
        (row.label, tuple(_print_cell(places.get((row.id, column.id)), findings) for column in columns))
        for row in table.rows
        if any(one.row is row for one in cells)
    )
    return doc.MarkedTable(("model", *(head.heading for head in columns)), rows, list_cells(cells))


def _print_cell(one: CellChecks | None, findings: Findings) -> doc.PrintedCell | None:
    """Return a cell with all its checks; a printed change that two checks judge stands once, with the graver sign."""
    if one is None:
        return None
    numbers = [_stamp(one.number, findings)] if one.number is not None else []
    changes = [check for end, check in one.checks.items() if end]
    if changes:
        numbers.append(_stamp(max(changes, key=lambda check: _GRAVITY.index(check.verdict)), findings))
    explanation = list[doc.Block]()
    for end, check in one.checks.items():
        if end:
            explanation.append(doc.Paragraph(doc.strong(f"The printed change, {_CHANGES[end]}")))
        explanation.append(
            doc.List(tuple(doc.Item(text, label=label) for label, text in _facts(check, findings) if text))
        )
    first, *_ = one.checks.values()
    return doc.PrintedCell(tuple(numbers), tuple(explanation), first.id.partition(".")[0])


def _stamp(check: CountedCheck, findings: Findings) -> doc.Stamped:
    sign = SIGNS[check.verdict] + "".join(_CAVEAT_SIGNS[caveat] for caveat in check.caveats)
    found = findings.get(check.id) if check.verdict in FAILS else None
    finding = (found.name, found.anchor) if found else None
    known = ("known",) if check.acknowledged else ()
    meaning = ", ".join((word_of(check.verdict).replace("_", " "), *check.caveats, *known))
    return doc.Stamped(check.printed or "?", sign, meaning, style_of(check), finding)


def _notes(cells: Sequence[CellChecks]) -> Iterator[doc.Inline | doc.Item]:
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
        yield ("note: ", hint, " (", *doc.join(map(doc.code, rows)), ")")


SAMPLING = (
    "Under `sampling`, a part was measured for the whole: the 95 % interval of the measured number contains a value "
    "that rounds to the printed one."
)
_SHORT = 12  # hexadecimal digits of a SHA-256 that tell files apart for people


def evidence(result: AuditResult) -> Iterator[doc.Block]:
    """Yield what the numbers that needed a run rest on."""
    checks = [check for check in result.checks if check.evidence]
    if not checks:
        return
    yield doc.Heading("Evidence")
    if any("sampling" in check.under for check in checks):
        yield doc.Paragraph(doc.parse_code(SAMPLING))
    yield doc.List(tuple(map(write_run, checks)))


def write_run(check: Check) -> doc.Item:
    """Write a number that a run measured, and how it was measured."""
    return doc.Item(write_check(check), tuple(map(describe_run, check.evidence)))


def describe_run(run: Evidence) -> str:
    """Say what a run measured, of what, and how."""
    interval = f"95 % interval [{run.low}, {run.high}]"
    match run:
        case Accuracy():
            counted = f"{readable(run.correct)} of {readable(run.images)} images, {interval}"
            parts = [f"checkpoint {run.checkpoint[:_SHORT]}", counted, f"images {run.data[:_SHORT]}"]
        case Throughput():
            speeds = f"{run.baseline} and {run.variant} images a second, ratio {run.ratio}"
            batches = f"{interval}, batch {run.batch}, {run.pairs} pairs"
            parts = [speeds, batches, f"on {run.hardware}; the paper: {run.stated}"]
        case _:
            assert_never(run)
    settings = ", ".join(f"{name} {value}" for name, value in sorted(run.settings.items()))
    return "; ".join((*parts, settings) if settings else parts)


_TITLES = {
    CheckKind.CLAIM: "What the text says about the numbers",
    CheckKind.EQUATION: "What the text says about functions",
    CheckKind.MARK: "Footnote marks",
    CheckKind.COLUMN: "Column headings",
    CheckKind.REPEAT: "Numbers printed in several places",
}
_TESTED = (
    "Each statement is tested by running it on examples, of every size and kind that it names. Two sides are equal "
    "if they differ by no more than rounding."
)


def other_checks(result: AuditResult, findings: Findings) -> Iterator[doc.Block]:
    """Yield what is checked besides the numbers in tables, by kind: what does not hold first, and the others folded."""
    for kind, title in _TITLES.items():
        checks = [check for check in result.checks if check.kind is kind]
        if checks:
            yield doc.Heading(title)
        if checks and kind is CheckKind.EQUATION:
            yield doc.Paragraph(_TESTED)
        failing, passing = ([one for one in checks if (one.verdict in PASSES) is passes] for passes in (False, True))
        if failing:
            yield _list_checks(failing, findings)
        if passing:
            pass_ = "passes" if len(passing) == 1 else "pass"
            yield doc.Fold(f"{count_of(len(passing), 'check')} that {pass_}", (_list_checks(passing, findings),))


def _list_checks(checks: Sequence[Check], findings: Findings) -> doc.Table:
    by_words = isinstance(checks[0], ClaimCheck | EquationCheck)
    header = ("claim", "verdict", "checked as") if by_words else ("check", "printed", "verdict")
    return doc.Table((*header, "what was found"), tuple(_check_row(check, findings) for check in checks))


def _check_row(check: Check, findings: Findings) -> tuple[doc.Inline, ...]:
    found = findings.get(check.id)
    caveats = "".join(f", {caveat}" for caveat in check.caveats)
    verdict = (doc.Span(word_of(check.verdict), style_of(check)), caveats, *((" ", found.link) if found else ()))
    if not isinstance(check, ClaimCheck | EquationCheck):
        return doc.Span(check.id, doc.Style.CODE, anchor=check.id), check.printed or "", verdict, check.reason
    place = (doc.faint(f"({check.place})"), " ") if check.place else ()
    name = doc.Span(check.id.rpartition("/")[2], doc.Style.CODE, anchor=check.id)
    return (printed_form(check) or "", " ", *place, name), verdict, check.statement or "", check.reason
