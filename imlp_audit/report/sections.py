"""Sections of a report in addition to tables and findings: what runs measured, what the text says, what is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import (
    FAILS,
    PASSES,
    Check,
    CheckKind,
    ClaimCheck,
    EquationCheck,
    Verdict,
    printed_form,
)
from imlp_audit.records.evidence import Accuracy, Evidence, PairedAccuracy, Throughput
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
    code,
    faint,
    join,
    parse_code,
)
from imlp_audit.report.findings import NumberedFinding
from imlp_audit.report.verdicts import (
    paper_of,
    section_anchor,
    style_of,
    word_of,
    write_verdict,
)

SAMPLING = (
    "Under `sampling`, a part was measured for the whole: the 95 % interval of the measured number contains a value "
    "that rounds to the printed one."
)
_SHORT = 12  # hexadecimal digits of a SHA-256 that tell files apart for people


def with_evidence(result: AuditResult) -> list[Check]:
    """Return the checks that rest on runs."""
    return [check for check in result.checks if check.evidence]


def evidence(checks: Sequence[Check]) -> Iterator[Block]:
    """Yield what the numbers that needed a run rest on."""
    if not checks:
        return
    yield Heading("Evidence")
    if any("sampling" in check.under for check in checks):
        yield Paragraph(parse_code(SAMPLING))
    yield List(tuple(map(_run, checks)))


def _run(check: Check) -> Item:
    printed = f" printed {check.printed}"
    reason = "" if check.verdict in (*FAILS, Verdict.ERROR) else f": {check.reason}"  # these are among the findings
    return Item((write_verdict(check), " ", code(check.id), printed, reason), tuple(map(describe_run, check.evidence)))


def describe_run(run: Evidence) -> str:
    """Say what a run measured, of what, and how."""
    match run:
        case Accuracy():
            parts = _accuracy(run)
        case PairedAccuracy():
            parts = _paired_accuracy(run)
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


def _paired_accuracy(found: PairedAccuracy) -> Iterator[str]:
    yield f"checkpoints {found.first[:_SHORT]} and {found.second[:_SHORT]}"
    neither = found.images - found.both - found.first_only - found.second_only
    yield (
        f"{readable(found.images)} images: {readable(found.both)} right in both, {readable(found.first_only)} in the "
        f"first alone, {readable(found.second_only)} in the second alone, {readable(neither)} in neither"
    )
    yield f"difference {found.difference} points, 95 % interval [{found.low}, {found.high}]; p = {found.p}"


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
    if not checks:
        return
    yield Heading("What the text says about the numbers", anchor=section_anchor(CheckKind.CLAIM, paper_of(checks[0])))
    header = ("claim", "verdict", "checked as", "what was found")
    failing = [check for check in checks if check.verdict not in PASSES]
    passing = [check for check in checks if check.verdict in PASSES]
    if failing:
        yield Table(header, tuple(_claim(check, findings) for check in failing))
    if passing:
        table = Table(header, tuple(_claim(check, findings) for check in passing))
        yield _fold_passing(len(passing), table)


def _claim(check: ClaimCheck, findings: Findings) -> tuple[Inline, ...]:
    place = (faint(f"({check.place})"), " ") if check.place else ()
    return (
        (check.printed or "", " ", *place, _named(check, name_of(check))),
        _verdict(check, findings),
        check.statement or "",
        check.reason,
    )


def _verdict(check: Check, findings: Findings) -> tuple[Span, ...]:
    """Return a check's verdict and, if it fails, the finding that covers it."""
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
    rest = [check for check in checks if not check.counterexample]
    if rest:
        header = ("statement", "place", "form", "verdict", "what was found")
        table = Table(header, tuple((_with_name(c.statement, c), c.place or "", *_form(c, findings)) for c in rest))
        yield Fold(f"{count_of(len(rest), 'statement')} not found false", (table,))


def _form(check: EquationCheck, findings: Findings) -> tuple[Inline, ...]:
    return (_formula(check), _verdict(check, findings), check.reason)


def _formula(check: EquationCheck) -> Span:
    return Span(printed_form(check) or "")


def _hint(text: str) -> tuple[Span, ...]:
    """Return a hint; what stands behind its colon may be a formula."""
    words, colon, form = text.partition(": ")
    return (Span(f"{words}{colon}"), Span(form))


def _false_statement(check: EquationCheck, findings: Findings) -> Item:
    below = (
        Item(check.place or "", label="place"),
        Item(_formula(check), label="as printed"),
        Item("; ".join(check.counterexample), label="counterexample"),
        Item(join(map(_hint, check.hint_texts), "; "), label="hint"),
    )
    return Item((*_verdict(check, findings), " ", *_with_name(check.statement, check)), below)


def others(kind: CheckKind, checks: Sequence[Check], findings: Findings) -> Iterator[Block]:
    """Yield checks of a kind that has a table and nothing else."""
    if not checks:
        return
    yield Heading(HEADINGS[kind])
    header = ("check", "printed", "verdict", "what was found")
    failing = [check for check in checks if check.verdict not in PASSES]
    passing = [check for check in checks if check.verdict in PASSES]
    if failing:
        yield Table(header, tuple(_other(check, findings) for check in failing))
    if passing:
        yield _fold_passing(len(passing), Table(header, tuple(_other(check, findings) for check in passing)))


def _fold_passing(count: int, table: Table) -> Fold:
    return Fold(f"{count_of(count, 'check')} that {'passes' if count == 1 else 'pass'}", (table,))


def _other(check: Check, findings: Findings) -> tuple[Inline, ...]:
    return (_named(check, check.id), check.printed or "", _verdict(check, findings), check.reason)


def _named(check: Check, name: str) -> Span:
    """Return a name of a check that links to the check lead to."""
    return Span(name, Style.CODE, anchor=check.id)


def _with_name(text: str | None, check: Check) -> tuple[str | Span, ...]:
    return (text or "", " ", _named(check, name_of(check)))


def name_of(check: Check) -> str:
    """Return the last part of a check's id."""
    return check.id.rpartition("/")[2]
