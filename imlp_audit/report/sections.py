"""Sections of a report in addition to tables and findings: what runs measured, what the text says, what is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import PASSES, Check, CheckKind, ClaimCheck, EquationCheck, printed_form
from imlp_audit.records.evidence import Accuracy, Evidence, Throughput
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import (
    Block,
    Fold,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Span,
    Style,
    Table,
    faint,
    parse_code,
)
from imlp_audit.report.findings import NumberedFinding
from imlp_audit.report.verdicts import style_of, word_of, write_check

SAMPLING = (
    "Under `sampling`, a part was measured for the whole: the 95 % interval of the measured number contains a value "
    "that rounds to the printed one."
)
_SHORT = 12  # hexadecimal digits of a SHA-256 that tell files apart for people


def evidence(result: AuditResult) -> Iterator[Block]:
    """Yield what the numbers that needed a run rest on."""
    checks = [check for check in result.checks if check.evidence]
    if not checks:
        return
    yield Heading("Evidence")
    if any("sampling" in check.under for check in checks):
        yield Paragraph(parse_code(SAMPLING))
    yield List(tuple(map(write_run, checks)))


def write_run(check: Check) -> Item:
    """Write a number that a run measured, and how it was measured."""
    return Item(write_check(check), tuple(map(describe_run, check.evidence)))


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


Findings: TypeAlias = Mapping[str, NumberedFinding]  # by the ids of their checks
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


def other_checks(result: AuditResult, findings: Findings) -> Iterator[Block]:
    """Yield what is checked besides the numbers in tables, by kind: what does not hold first, and the others folded."""
    for kind, title in _TITLES.items():
        checks = [check for check in result.checks if check.kind is kind]
        if checks:
            yield Heading(title)
        if checks and kind is CheckKind.EQUATION:
            yield Paragraph(_TESTED)
        failing, passing = ([one for one in checks if (one.verdict in PASSES) is passes] for passes in (False, True))
        if failing:
            yield _table(failing, findings)
        if passing:
            pass_ = "passes" if len(passing) == 1 else "pass"
            yield Fold(f"{count_of(len(passing), 'check')} that {pass_}", (_table(passing, findings),))


def _table(checks: Sequence[Check], findings: Findings) -> Table:
    by_words = isinstance(checks[0], ClaimCheck | EquationCheck)
    header = ("claim", "verdict", "checked as") if by_words else ("check", "printed", "verdict")
    return Table((*header, "what was found"), tuple(_row(check, findings) for check in checks))


def _row(check: Check, findings: Findings) -> tuple[Inline, ...]:
    found = findings.get(check.id)
    caveats = "".join(f", {caveat}" for caveat in check.caveats)
    verdict = (Span(word_of(check.verdict), style_of(check)), caveats, *((" ", found.link) if found else ()))
    if not isinstance(check, ClaimCheck | EquationCheck):
        return Span(check.id, Style.CODE, anchor=check.id), check.printed or "", verdict, check.reason
    place = (faint(f"({check.place})"), " ") if check.place else ()
    name = Span(check.id.rpartition("/")[2], Style.CODE, anchor=check.id)
    return (printed_form(check) or "", " ", *place, name), verdict, check.statement or "", check.reason
