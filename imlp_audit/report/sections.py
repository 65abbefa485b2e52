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
from imlp_audit.report.verdicts import paper_of, section_anchor, style_of, word_of, write_check

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
    match run:
        case Accuracy():
            parts = _accuracy(run)
        case Throughput():
            parts = _throughput(run)
        case _:
            assert_never(run)
    return "; ".join(parts)


def _accuracy(found: Accuracy) -> Iterator[str]:
    yield f"checkpoint {found.checkpoint[:_SHORT]}"
    yield f"{readable(found.correct)} of {readable(found.images)} images, 95 % interval [{found.low}, {found.high}]"
    yield f"images {found.data[:_SHORT]}"
    yield from _settings(found.settings)


def _throughput(found: Throughput) -> Iterator[str]:
    yield f"{found.baseline} and {found.variant} images a second, ratio {found.ratio}"
    yield f"95 % interval [{found.low}, {found.high}], batch {found.batch}, {found.pairs} pairs"
    yield f"on {found.hardware}; the paper: {found.stated}"
    yield from _settings(found.settings)


def _settings(settings: dict[str, str]) -> Iterator[str]:
    if settings:
        yield ", ".join(f"{name} {value}" for name, value in sorted(settings.items()))


Findings: TypeAlias = Mapping[str, NumberedFinding]  # by the ids of their checks
HEADINGS = {
    CheckKind.MARK: "Footnote marks",
    CheckKind.COLUMN: "Column headings",
    CheckKind.REPEAT: "Numbers printed in several places",
}


def claims(checks: Sequence[ClaimCheck], findings: Findings) -> Iterator[Block]:
    """Yield what the text says about the numbers: what does not hold first."""
    if checks:
        anchor = section_anchor(CheckKind.CLAIM, paper_of(checks[0]))
        yield Heading("What the text says about the numbers", anchor=anchor)
        rows = [(check, _claim(check, findings)) for check in checks]
        yield from _failing_first(("claim", "verdict", "checked as", "what was found"), rows)


def _claim(check: ClaimCheck, findings: Findings) -> tuple[Inline, ...]:
    place = (faint(f"({check.place})"), " ") if check.place else ()
    named = (check.printed or "", " ", *place, _named(check, check.id.rpartition("/")[2]))
    return (named, _verdict(check, findings), check.statement or "", check.reason)


def others(kind: CheckKind, checks: Sequence[Check], findings: Findings) -> Iterator[Block]:
    """Yield checks of a kind that has a table and nothing else."""
    if checks:
        yield Heading(HEADINGS[kind])
        rows = [(one, (_named(one, one.id), one.printed or "", _verdict(one, findings), one.reason)) for one in checks]
        yield from _failing_first(("check", "printed", "verdict", "what was found"), rows)


def _failing_first(header: tuple[str, ...], rows: Sequence[tuple[Check, tuple[Inline, ...]]]) -> Iterator[Block]:
    """Yield a table of the checks that do not pass, and below it, folded, one of those that do."""
    failing, passing = (
        tuple(row for check, row in rows if (check.verdict in PASSES) is passes) for passes in (False, True)
    )
    if failing:
        yield Table(header, failing)
    if passing:
        pass_ = "passes" if len(passing) == 1 else "pass"
        yield Fold(f"{count_of(len(passing), 'check')} that {pass_}", (Table(header, passing),))


def _verdict(check: Check, findings: Findings) -> tuple[Span, ...]:
    found = findings.get(check.id)
    caveats = "".join(f", {caveat}" for caveat in check.caveats)
    return (Span(word_of(check.verdict), style_of(check)), Span(caveats), *((Span(" "), found.link) if found else ()))


def equations(checks: Sequence[EquationCheck], findings: Findings) -> Iterator[Block]:
    """Yield statements about functions: those that are false as printed with their counterexamples, then the others."""
    if not checks:
        return
    yield Heading("What the text says about functions", anchor=section_anchor(CheckKind.EQUATION, paper_of(checks[0])))
    yield Paragraph(
        "Each statement is tested by running it on examples, of every size and kind that it names. Two sides are equal "
        "if they differ by no more than rounding."
    )
    false = [check for check in checks if check.counterexample]
    if false:
        yield Heading("False as printed", 3)
        yield List(tuple(_false_statement(check, findings) for check in false))
    rest = tuple(
        (_with_name(one), one.place or "", printed_form(one) or "", _verdict(one, findings), one.reason)
        for one in checks
        if not one.counterexample
    )
    if rest:
        table = Table(("statement", "place", "form", "verdict", "what was found"), rest)
        yield Fold(f"{count_of(len(rest), 'statement')} not found false", (table,))


def _false_statement(check: EquationCheck, findings: Findings) -> Item:
    below = {
        "place": check.place or "",
        "as printed": printed_form(check) or "",
        "counterexample": "; ".join(check.counterexample),
        "hint": "; ".join(check.hint_texts),
    }
    text = (*_verdict(check, findings), " ", *_with_name(check))
    return Item(text, tuple(Item(text, label=label) for label, text in below.items()))


def _named(check: Check, name: str) -> Span:
    return Span(name, Style.CODE, anchor=check.id)


def _with_name(check: EquationCheck) -> tuple[str | Span, ...]:
    return (check.statement or "", " ", _named(check, check.id.rpartition("/")[2]))
