"""The findings of a report, the worst first: why, and for each check what is printed, what was found, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Check, CountedCheck, printed_form
from imlp_audit.records.finding import FindingKind, Quote
from imlp_audit.records.result import AuditResult
from imlp_audit.report.cells import write_measured
from imlp_audit.report.document import (
    Block,
    Fold,
    Heading,
    Inline,
    List,
    Paragraph,
    Span,
    Style,
    Table,
    code,
    faint,
)
from imlp_audit.report.findings import errors, say_that_none_fails, stale_entries, stale_findings
from imlp_audit.report.numbered import NumberedFinding
from imlp_audit.report.places import name_place
from imlp_audit.report.verdicts import style_of

_HINTS = 2  # hints of a finding that a page shows without a click
_OPEN = 6  # checks of a finding that a page shows without a click


_HEADINGS = {
    FindingKind.ASK: "Ask the authors",
    FindingKind.MISPRINT: "Misprints",
    FindingKind.NOTE: "Notes",
}


def finding_sections(result: AuditResult, findings: Sequence[NumberedFinding]) -> Iterator[Block]:
    """Yield the findings by kind, then what could not be completed, and entries of the lock that no longer hold."""
    checks = {check.id: check for check in result.checks}
    if not findings:
        yield Heading("Findings")
        yield Paragraph(say_that_none_fails(result))
    for kind, heading in _HEADINGS.items():
        own = [one for one in findings if one.finding.kind is kind]
        if own:
            yield Heading(heading)
        for one in own:
            yield from _finding(one, checks)
    yield from errors(result)
    yield from stale_entries(result.stale)
    yield from stale_findings(result.stale_findings)


def _finding(one: NumberedFinding, checks: Mapping[str, Check]) -> Iterator[Block]:
    """Yield a finding in full: why, the words and checks that it rests on, and its failing checks with their hints."""
    finding = one.finding
    yield Heading(one.title, 3, one.anchor)
    if finding.explained:
        yield Paragraph((finding.why, " ", faint("("), code(finding.id), faint(")")))
    quotes = [quote for quote in finding.evidence if isinstance(quote, Quote)]
    if quotes:
        yield List(tuple(f"“{quote.quote}” ({quote.source})" for quote in quotes))
    own = [checks[name] for name in (*finding.checks, *finding.evident_checks) if name in checks]
    if own:
        yield _evidence(own)
    hints = tuple(dict.fromkeys(hint for check in own for hint in check.hint_texts))
    if hints:
        listed = List(tuple(f"hint: {hint}" for hint in hints))
        yield listed if len(hints) <= _HINTS else Fold(count_of(len(hints), "hint"), (listed,))


def _evidence(checks: Sequence[Check]) -> Block:
    """Return a table of the checks, without the columns that are empty for all of them."""
    header = ("where", "printed", "measured", "gap", "what was found", "check")
    rows = [_row(check) for check in checks]
    kept = [at for at in range(len(header)) if any(row[at] for row in rows)]
    table = Table(tuple(header[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows))
    return table if len(rows) <= _OPEN else Fold(f"All {len(rows)} checks", (table,))


def _row(check: Check) -> tuple[Inline, ...]:
    """Return the evidence of a failing check; the reason of a claim or a repeat names the values that it compares."""
    counted = check if isinstance(check, CountedCheck) else None
    return (
        name_place(check),
        printed_form(check) or "",
        write_measured(counted.measured) if counted is not None else "",
        (counted.gap if counted is not None else None) or "",
        (Span(check.verdict.value, style_of(check)), f": {check.reason}"),
        Span(check.id, Style.CODE, link=f"#{explained_at(check)}"),
    )


def explained_at(check: Check) -> str:
    """Return the anchor of what explains a check: changes are explained with their cell."""
    return check.id.partition(".")[0] if isinstance(check, CountedCheck) else check.id
