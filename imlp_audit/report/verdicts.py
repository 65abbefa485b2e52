"""How verdicts are written: their colours, what they hold under, and how many there are of each."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import FAILS, Check, CheckKind, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Align, Inline, Span, Style, Table

STYLES = {
    Verdict.REPRODUCED: Style.GOOD,
    Verdict.REPRODUCED_UNDER: Style.DEPARTING,
    Verdict.DIFFERS: Style.BAD,
    Verdict.INCONSISTENT: Style.BAD,
    Verdict.UNVERIFIABLE: Style.FAINT,
    Verdict.ERROR: Style.BROKEN,
}


def verdict_span(verdict: Verdict, text: str | None = None) -> Span:
    """Return a verdict's name, or another text, in its colour."""
    return Span(verdict.value if text is None else text, STYLES[verdict])


def write_verdict(check: Check) -> Span:
    """Write a check's verdict in a few words: what it holds under, and whether a failing one is acknowledged."""
    name = "reproduced under" if check.verdict is Verdict.REPRODUCED_UNDER else check.verdict.value
    words = " ".join(part for part in (name, ", ".join(check.under)) if part)
    return Span(f"{words}, acknowledged", Style.KNOWN) if check.acknowledged else verdict_span(check.verdict, words)


def describe_verdict(check: Check) -> Inline:
    """Write a check's verdict with what it holds under or what is missing. Evidence has a section of its own."""
    under = f" ({', '.join(check.under)})" if check.under else ""
    undecided = check.verdict in (Verdict.UNVERIFIABLE, Verdict.ERROR) and not check.evidence
    return (verdict_span(check.verdict), under, f": {check.reason}" if undecided else "")


def count_verdicts(checks: Iterable[Check]) -> str:
    """Count the verdicts of checks: "3 reproduced, 1 differs"."""
    verdicts = [check.verdict for check in checks]
    return ", ".join(f"{verdicts.count(verdict)} {verdict.value}" for verdict in Verdict if verdict in verdicts)


def summarize(result: AuditResult) -> str:
    """Count the verdicts of a result in a line."""
    noun = "check" if len(result.checks) == 1 else "checks"
    failing = sum(check.verdict in FAILS for check in result.checks)
    known = f"; {result.acknowledged()} of {count_of(failing, 'failing check')} acknowledged" if failing else ""
    return f"{len(result.checks)} {noun}: {count_verdicts(result.checks)}{known}"


def describe_unguarded(result: AuditResult) -> str | None:
    """Return how many numbers no check guards, or None if every number can be counted."""
    alone, of = result.unguarded()
    if not of:
        return None
    share = decimal_text(Fraction(100 * alone, of), 1)
    return (
        f"Unguarded: {alone} of {of} numbers that need weights, data or hardware ({share} %). Each could be changed by "
        "one last digit or by ten, up or down, and no check would notice."
    )


def counts_by_kind(result: AuditResult) -> Table:
    """Return how many checks of each kind have each verdict."""
    verdicts = [verdict for verdict, count in result.counts().items() if count]
    rows = []
    for kind in CheckKind:
        found = [check.verdict for check in result.checks if check.kind is kind]
        if found:
            rows.append((kind.value, *(str(found.count(verdict) or "") for verdict in verdicts), str(len(found))))
    header = ("", *(verdict.value for verdict in verdicts), "all")
    return Table(header, tuple(rows), (Align.LEFT, *(Align.RIGHT for _ in header[1:])))
