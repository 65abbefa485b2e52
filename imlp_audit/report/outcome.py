"""The outcome of an audit in a few sentences: what was checked, how much holds, how grave the rest is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import PASSES, Check, CheckKind, Verdict
from imlp_audit.records.finding import FindingKind
from imlp_audit.records.hypothesis import Caught
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Heading, Inline, List, Paragraph, Span, code
from imlp_audit.report.findings import say_that_none_fails
from imlp_audit.report.fitting import shorten
from imlp_audit.report.places import place_in_specs
from imlp_audit.report.ranking import worst_first
from imlp_audit.report.verdicts import count_outcomes, write_verdict
from imlp_audit.report.worst import count_more

_BROKEN = 3  # causes for which checks could not be completed; what is left is counted
_KINDS = {
    CheckKind.CELL: "number",
    CheckKind.DELTA: "printed change",
    CheckKind.MARK: "footnote mark",
    CheckKind.REPEAT: "repeated number",
    CheckKind.COLUMN: "heading",
    CheckKind.CLAIM: "claim",
    CheckKind.EQUATION: "mathematical statement",
}


def say_verdict(result: AuditResult) -> str:
    """Return the verdict on a paper in a sentence: how much was found, and how grave it is."""
    found = Counter(finding.kind for finding in worst_first(result))
    words = {
        FindingKind.ASK: "question for the authors" if found[FindingKind.ASK] == 1 else "questions for the authors",
        FindingKind.MISPRINT: "misprint" if found[FindingKind.MISPRINT] == 1 else "misprints",
        FindingKind.NOTE: "note" if found[FindingKind.NOTE] == 1 else "notes",
    }
    named = _join([f"{found[kind]} {what}" for kind, what in words.items() if found[kind]])
    return f"{named}." if named else say_that_none_fails(result)


def count_checked(result: AuditResult) -> Paragraph:
    """Return what was checked, what the audited text lacks, and how much a pass is worth."""
    lacking = (paper.lacks for paper in result.papers if paper.lacks)
    return Paragraph(" ".join((_what_was_checked(result.checks), *lacking, *_power(result))))


def what_was_checked(result: AuditResult) -> tuple[Block, ...]:
    """Return what was checked with how much a pass is worth, and what could not be completed."""
    counted = count_checked(result)
    broken = [check for check in result.checks if check.verdict is Verdict.ERROR]
    if not broken:
        return (counted,)
    heading = Heading(f"{count_of(len(broken), 'check')} could not be completed", 3)
    causes: dict[str, list[Check]] = {}
    for check in broken:
        causes.setdefault(check.reason, []).append(check)
    listed = list(causes.values())[:_BROKEN]
    left = len(broken) - sum(map(len, listed))
    return (counted, heading, List((*map(_one_cause, listed), *count_more(left, "check"))))


def _one_cause(checks: Sequence[Check]) -> Inline:
    """Write the first of the checks that one cause kept from being completed, and count the rest."""
    more = f"; and {count_of(len(checks) - 1, 'more check')}" if len(checks) > 1 else ""
    return (*name_check(checks[0]), f" ({place_in_specs(checks[0])}{more})")


def _what_was_checked(checks: Sequence[Check]) -> str:
    """Count what was checked: a change or a claim once, although it is also checked on the measured values."""
    kinds = [(kind, {check.id.partition(".")[0] for check in checks if check.kind is kind}) for kind in CheckKind]
    named = [count_of(len(found), _KINDS[kind]) for kind, found in kinds if found]
    several = f" in {count_of(len(checks), 'check')}" if len(checks) > sum(len(found) for _, found in kinds) else ""
    return f"Checked {_join(named)}{several}: {count_outcomes(checks)}."


def _power(result: AuditResult) -> Iterator[str]:
    """Say how much the passes are worth: which wrong numbers would have been caught, and which passes say little."""
    powers = [column.power for judged in result.hypotheses.values() for column in judged.columns]
    one, ten = _add(power.one for power in powers), _add(power.ten for power in powers)
    if ten.tried:
        near = f", and {readable(one.caught)} of the {readable(one.tried)} that are off by one in the last digit"
        tried = f"{count_of(ten.tried, 'wrong number')} put in place of counted ones"
        yield f"Power: {readable(ten.caught)} of {tried} would have been caught{near if one.tried else ''}."
    passing = [check for check in result.checks if check.verdict in PASSES]
    fitted, weak = sum(check.fitted for check in passing), sum(check.weak for check in passing)
    if fitted:
        proves, them = ("proves", "this very number") if fitted == 1 else ("prove", "these very numbers")
        yield f"{count_of(fitted, 'pass')} {proves} little: the counter was fitted to {them}."
    if weak:
        yield f"{count_of(weak, 'pass')} may be luck: the numbers do not decide which option applies."


def _add(counts: Iterable[Caught]) -> Caught:
    found = list(counts)
    return Caught(caught=sum(one.caught for one in found), tried=sum(one.tried for one in found))


def _join(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def name_check(check: Check) -> tuple[str | Span, ...]:
    """Write a check: its verdict, its id, what is printed and what was found."""
    printed = f" printed {shorten(check.printed, 40)}" if check.printed is not None else ""
    most = _OF_ERROR if check.verdict is Verdict.ERROR else _OF_REASON
    return (write_verdict(check), " ", code(check.id), f"{printed}: {shorten(check.reason, most)}")


_OF_REASON, _OF_ERROR = 110, 220  # characters: the end of an error names its cause
