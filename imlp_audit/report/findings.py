"""The section of findings: what fails the run first, then the worst; and entries of the lock that no longer hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import NO_MODEL, Check, Verdict
from imlp_audit.records.finding import StaleEntry, StaleFinding
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import (
    Block,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    code,
    faint,
    parse_code,
)
from imlp_audit.report.numbered import NumberedFinding, number_findings
from imlp_audit.report.places import name_places_of, place_in_specs
from imlp_audit.report.ranking import worst_first
from imlp_audit.report.verdicts import write_verdict

KNOWN = "in findings.yaml, so they do not fail the run"
_LISTED = 8  # failing checks of a finding that a terminal lists one by one
_STALE_LISTED = 20
_NEXT = (
    "`imlp-audit explain ID` explains a check. Once you understand these, describe their cause in the paper's "
    "`findings.yaml` and run `imlp-audit acknowledge`: then they do not fail the run."
)


def nothing_was_checked(result: AuditResult) -> bool:
    """Return whether an audit has checks, and none of them could be decided."""
    return bool(result.checks) and result.counts()[Verdict.UNVERIFIABLE] == len(result.checks)


def say_that_none_fails(result: AuditResult) -> str:
    """Return the sentence for an audit without findings; checks that were not completed may still fail."""
    broken, open_ = result.counts()[Verdict.ERROR], result.counts()[Verdict.UNVERIFIABLE]
    if nothing_was_checked(result):
        missing = sum(check.reason == NO_MODEL for check in result.checks)
        why = f"; for {readable(missing)}, {NO_MODEL}" if missing else ""
        return f"Nothing was checked, and nothing is confirmed: {count_of(open_, 'check')} cannot be decided{why}."
    if not broken:
        return "No check fails."
    return "No check was completed." if broken == len(result.checks) else "No check that was completed fails."


def summarize_findings(result: AuditResult) -> str:
    """Count the findings in a sentence, and say how many are known and how many fail the run."""
    findings = worst_first(result)
    if not findings:
        return say_that_none_fails(result)
    new = sum(not finding.acknowledged for finding in findings)
    count = count_of(sum(len(finding.checks) for finding in findings), "failing check")
    known = f"; {len(findings) - new} are known" if new < len(findings) else ""
    state = f"{new} fail{'s' if new == 1 else ''} the run{known}" if new else f"all known: {KNOWN}"
    return f"{count_of(len(findings), 'finding')} with {count}; {state}."


def short_findings(result: AuditResult) -> Iterator[Block]:
    """Yield the findings for a terminal: a line each, and for those that fail the run what was found."""
    yield Paragraph(summarize_findings(result))
    findings = number_findings(result)
    if findings:
        yield List(tuple(_short(one, result.checks_of(one.finding)) for one in findings))
    if not all(one.finding.acknowledged for one in findings):
        yield Paragraph(parse_code(_NEXT))
    yield from errors(result)
    yield from stale_entries(result.stale)
    yield from stale_findings(result.stale_findings)


def _short(one: NumberedFinding, checks: Sequence[Check]) -> Item:
    named = list_some([check.id for check in checks])
    if one.finding.acknowledged:
        rests = faint(f"{count_of(len(checks), 'check')}: {named}") if checks else faint("rests on quotes")
        return Item(one.title, (name_places_of(one.finding, checks), rests))
    below = tuple(_open_check(check) for check in checks if not check.acknowledged)
    more = (f"and {len(below) - _LISTED} more",) if len(below) > _LISTED else ()
    return Item(one.title, (*below[:_LISTED], *more))


def _open_check(check: Check) -> Item:
    printed = f" printed {check.printed}" if check.printed is not None else ""
    below: list[Inline] = [*((check.place,) if check.place else ()), check.reason]
    below += [*(f"hint: {hint}" for hint in check.hint_texts), faint(place_in_specs(check))]
    return Item((write_verdict(check), " ", code(check.id), printed), tuple(below))


def errors(result: AuditResult) -> Iterator[Block]:
    """Yield the checks that could not be made."""
    broken = [check for check in result.checks if check.verdict is Verdict.ERROR]
    if broken:
        yield Heading("Not completed", 3)
        yield List(tuple(map(_open_check, broken)))


def stale_findings(stale: Sequence[StaleFinding]) -> Iterator[Block]:
    """Yield the findings that cover checks that do not fail."""
    if stale:
        yield Heading("Findings that cover checks that do not fail", 3)
        yield List(
            tuple(
                Item((code(one.id), f" ({one.title}): {one.reason}"), (faint(f"{one.source.file}:{one.source.line}"),))
                for one in stale
            )
        )


def stale_entries(stale: Sequence[StaleEntry]) -> Iterator[Block]:
    """Yield the entries of the lock that no longer hold."""
    if not stale:
        return
    yield Heading("Known before, different now", 3)
    items: list[Inline | Item] = [
        Item((code(entry.check), ": ", entry.reason), (faint(f"{entry.source.file}:{entry.source.line}"),))
        for entry in stale[:_STALE_LISTED]
    ]
    items += [f"and {len(stale) - _STALE_LISTED} more"] if len(stale) > _STALE_LISTED else []
    yield List(tuple(items))
    yield Paragraph(parse_code("`imlp-audit acknowledge` writes the lock anew once you agree with what changed."))
