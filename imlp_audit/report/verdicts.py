"""How verdicts are written: their colours, what they hold under, and how many there are of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import FAILS, PASSES, AnyCheck, Caveat, Check, CheckKind, Verdict
from imlp_audit.records.diff import CheckState
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


class CaveatWords(NamedTuple):
    """How a caveat is written: its sign beside a number, and its meaning."""

    sign: str
    meaning: str


CAVEATS = {
    Caveat.FITTED: CaveatWords("ƒ", "its counter was fitted on this number"),
    Caveat.MIXED: CaveatWords(
        "‡", "two counters made this column, and the table does not say which of them made this number"
    ),
    Caveat.WEAK: CaveatWords("~", "the reading or the counter is not a clear choice"),
}


def word_of(verdict: Verdict) -> str:
    """Return a verdict's name in a report: `error` alone would read like a mistake of the paper."""
    return "not completed" if verdict is Verdict.ERROR else verdict.value


def style_of(check: AnyCheck) -> Style:
    """Return the colour of a check's verdict: a failing one that is known has its own."""
    return Style.KNOWN if check.acknowledged else STYLES[check.verdict]


def verdict_span(verdict: Verdict, text: str | None = None) -> Span:
    """Return a verdict's name, or another text, in its colour."""
    return Span(word_of(verdict) if text is None else text, STYLES[verdict])


def name_verdict(check: AnyCheck | CheckState) -> str:
    """Return a verdict in words, with what it departs in and its caveats: `reproduced under reading released, weak`."""
    under = f"{word_of(check.verdict).replace('_', ' ')} {', '.join(check.under)}".rstrip()
    return ", ".join((under, *check.caveats))


def write_verdict(check: AnyCheck | CheckState) -> Span:
    """Write a check's verdict in a few words: what it holds under, and whether a failing one is known."""
    words = name_verdict(check)
    return Span(f"{words}, known", Style.KNOWN) if check.acknowledged else verdict_span(check.verdict, words)


def describe_verdict(check: AnyCheck) -> Inline:
    """Write a check's verdict with what it holds under or what is missing. Evidence has a section of its own."""
    under = f" ({', '.join(check.under)})" if check.under else ""
    caveats = "".join(f", {caveat}" for caveat in check.caveats)
    undecided = check.verdict in (Verdict.UNVERIFIABLE, Verdict.ERROR) and not check.evidence
    return (verdict_span(check.verdict), f"{under}{caveats}", f": {check.reason}" if undecided else "")


def count_verdicts(checks: Iterable[Check]) -> str:
    """Count the verdicts of checks: "3 reproduced (1 weak), 1 differs"."""
    found: dict[Verdict, list[Check]] = {}
    for check in checks:
        found.setdefault(check.verdict, []).append(check)
    return ", ".join(f"{len(found[one])} {word_of(one)}{_count_caveats(found[one])}" for one in Verdict if one in found)


def _count_caveats(checks: Sequence[Check]) -> str:
    """Count the caveats of passes: " (2 fitted, 1 weak)"."""
    caveats = Counter(caveat for check in checks for caveat in check.caveats)
    return f" ({', '.join(f'{count} {caveat}' for caveat, count in sorted(caveats.items()))})" if caveats else ""


def summarize(result: AuditResult) -> str:
    """Count in a line what holds, what fails and what is open."""
    return f"{count_of(len(result.checks), 'check')}: {count_outcomes(result.checks)}"


def count_outcomes(checks: Sequence[Check]) -> str:
    """Count what holds, what fails and what is open: "3 hold, 1 fails"."""
    verdicts = Counter(check.verdict for check in checks)
    failing = [check for check in checks if check.verdict in FAILS]
    known = sum(check.acknowledged is True for check in failing)
    state = f" ({'all ' if known == len(failing) > 1 else ''}{f'{known} ' if known < len(failing) else ''}known)"
    parts = [
        (sum(verdicts[verdict] for verdict in PASSES), "holds", "hold", ""),
        (len(failing), "fails", "fail", state if known else ""),
        (verdicts[Verdict.UNVERIFIABLE], "cannot be decided", "cannot be decided", ""),
        (verdicts[Verdict.ERROR], "could not be completed", "could not be completed", ""),
    ]
    return ", ".join(f"{readable(n)} {one if n == 1 else several}{more}" for n, one, several, more in parts if n)


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
    header = ("", *(word_of(verdict) for verdict in verdicts), "all")
    return Table(header, tuple(rows), (Align.LEFT, *(Align.RIGHT for _ in header[1:])))
