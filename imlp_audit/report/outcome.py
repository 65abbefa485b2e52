"""The outcome of an audit in a few sentences: what was checked, how much holds, how grave the rest is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import PASSES, Caveat, CellCheck, Check, CheckKind, Power, Verdict, add_powers
from imlp_audit.records.finding import FindingKind
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
    """Return the verdict on a paper in a sentence: how many points there are of each kind."""
    found = Counter(finding.kind for finding in worst_first(result))
    counts = (
        (FindingKind.ASK, "point to ask the authors", "points to ask the authors"),
        (FindingKind.MISPRINT, "misprint", "misprints"),
        (FindingKind.NOTE, "note", "notes"),
    )
    named = _join(
        [f"{found[kind]} {one if found[kind] == 1 else several}" for kind, one, several in counts if found[kind]]
    )
    return f"{named}." if named else say_that_none_fails(result)


def count_checked(result: AuditResult) -> Paragraph:
    """Return what was checked, what the audited text lacks, and how much a pass is worth."""
    lacking = (paper.lacks for paper in result.papers if paper.lacks)
    return Paragraph(" ".join((_what_was_checked(result.checks), *lacking, *_power(result))))


def broken_checks(result: AuditResult) -> tuple[Block, ...]:
    """Return what could not be completed, and why."""
    broken = [check for check in result.checks if check.verdict is Verdict.ERROR]
    if not broken:
        return ()
    heading = Heading(f"{count_of(len(broken), 'check')} could not be completed", 3)
    causes: dict[str, list[Check]] = {}
    for check in broken:
        causes.setdefault(check.reason, []).append(check)
    listed = list(causes.values())[:_BROKEN]
    left = len(broken) - sum(map(len, listed))
    return (heading, List((*map(_one_cause, listed), *count_more(left, "check"))))


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


def say_power(result: AuditResult) -> str:
    """Say how many wrong numbers would have been caught in place of those that were counted and pass."""
    powers = [check.power for check in result.of_kind(CellCheck) if check.power is not None and not check.fitted]
    ten = add_powers(powers).ten
    if not ten.tried:
        return ""
    return f"Caught {readable(ten.caught)} of {readable(ten.tried)} wrong digits put into {len(powers)} of them."


def _power(result: AuditResult) -> Iterator[str]:
    """Say how much the passes are worth: which wrong numbers would have been caught, and which passes say little."""
    cells, caveats = result.of_kind(CellCheck), result.caveats()
    fitted, weak = caveats[Caveat.FITTED], caveats[Caveat.WEAK]
    passing = [check for check in cells if check.verdict in PASSES]
    powers = [(check.power, check.fitted) for check in passing if check.power is not None and check.power.ten.tried]
    if powers:
        kinds = [(add_powers(p for p, own in powers if own is fit), fit) for fit in (False, True)]
        caught = "; ".join(_caught(power, fit) for power, fit in kinds if power.ten.tried)
        covered = f"this covers {readable(len(powers))} of the {count_of(len(cells), 'number')}"
        yield f"Power: {caught} would have been caught; {covered}."
    if fitted:
        proves, them = ("proves", "this very number") if fitted == 1 else ("prove", "these very numbers")
        anew = "its weights were kept: fitted anew, they may absorb a wrong digit"
        yield f"{count_of(fitted, 'pass')} {proves} little: the counter was fitted to {them}, and {anew}."
    if weak:
        yield f"{count_of(weak, 'pass')} may be luck: the numbers do not decide which option applies."


def _caught(power: Power, fitted: bool) -> str:
    near = f" ({readable(power.one.caught)} of {readable(power.one.tried)} one last digit away)"
    tried = count_of(power.ten.tried, "wrong number")
    of = f"{readable(power.ten.caught)} of {tried} in place of {'fitted' if fitted else 'counted'} ones"
    return f"{of}{near if power.one.tried else ''}"


def _join(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def name_check(check: Check) -> tuple[str | Span, ...]:
    """Write a check: its verdict, its id, what is printed and what was found."""
    printed = f" printed {shorten(check.printed, 40)}" if check.printed is not None else ""
    most = _OF_ERROR if check.verdict is Verdict.ERROR else _OF_REASON
    return (write_verdict(check), " ", code(check.id), f"{printed}: {shorten(check.reason, most)}")


_OF_REASON, _OF_ERROR = 110, 220  # characters: the end of an error names its cause
