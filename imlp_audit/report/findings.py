"""The section of findings: what fails the run first, then the worst; and entries of the lock that no longer hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import FAILS, Check, CheckKind, Verdict
from imlp_audit.records.finding import Finding, Severity, StaleEntry, StaleFinding
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import (
    Block,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Span,
    Style,
    code,
    faint,
    parse_code,
)
from imlp_audit.report.verdicts import write_verdict

_LISTED = 8  # failing checks of a finding that a terminal lists one by one
_STALE_LISTED = 20
_ORDER = list(Severity)
_NEXT = (
    "`imlp-audit explain ID` explains a check. To acknowledge these, describe their cause in the paper's "
    "`findings.yaml` and run `imlp-audit baseline`."
)


def worst_first(result: AuditResult) -> list[Finding]:
    """Return the findings of a result: first those that nothing explains, then others that fail, the gravest first.

    Printed changes that contradict their cells stand after these cells where the cells themselves are wrong.
    """
    unexplained = result.unexplained()
    causes = _contradicted_by_a_wrong_cell(result)

    def rank(finding: Finding) -> tuple[bool, bool, int, bool]:
        follows = not finding.explained and finding.severity is Severity.CONTRADICTION
        follows = follows and all(name in causes for name in finding.checks)
        gravity = Severity.ERROR if follows else finding.severity
        return finding.acknowledged, finding.explained, _ORDER.index(gravity), follows

    return sorted((*unexplained, *result.findings), key=rank)


def _contradicted_by_a_wrong_cell(result: AuditResult) -> set[str]:
    """Return the failing changes whose own cell, or the cell that it is compared with, fails without a finding."""
    wrong = {one.id for one in result.checks if one.kind is CheckKind.CELL and one.verdict in FAILS}
    wrong -= {name for finding in result.findings for name in finding.checks}
    baselines = {
        f"{paper.id}/{table.id}/{row.id}": f"{paper.id}/{table.id}/{row.baseline}"
        for paper in result.papers
        for table in paper.tables
        for row in table.rows
    }
    found = set()
    for check in result.checks:
        if check.kind is CheckKind.DELTA and check.verdict in FAILS:
            cell = check.id.partition(".")[0]
            row, _, column = cell.rpartition("/")
            if {cell, f"{baselines.get(row)}/{column}"} & wrong:
                found.add(check.id)
    return found


def summarize_findings(result: AuditResult) -> str:
    """Count the findings in a sentence, and say how many are not acknowledged."""
    findings = worst_first(result)
    if not findings:
        return "No check fails."
    open_ = sum(not finding.acknowledged for finding in findings)
    count = count_of(sum(len(finding.checks) for finding in findings), "failing check")
    state = (
        "acknowledged" if not open_ else f"{open_} not acknowledged" if open_ < len(findings) else "not acknowledged"
    )
    return f"{count_of(len(findings), 'finding')} with {count}, {state}."


def short_findings(result: AuditResult) -> Iterator[Block]:
    """Yield the findings for a terminal: a line each, and for those that fail the run what was found."""
    yield Paragraph(summarize_findings(result))
    checks = {check.id: check for check in result.checks}
    findings = worst_first(result)
    if findings:
        yield List(tuple(_short(finding, [checks[name] for name in finding.checks]) for finding in findings))
    if not all(finding.acknowledged for finding in findings):
        yield Paragraph(parse_code(_NEXT))
    yield from errors(result)
    yield from stale_entries(result.stale)
    yield from stale_findings(result.stale_findings)


def _short(finding: Finding, checks: Sequence[Check]) -> Item:
    named = list_some([check.id for check in checks])
    if finding.acknowledged:
        return Item(_title(finding), (faint(f"{count_of(len(checks), 'check')}: {named}"),))
    below = tuple(_open_check(check) for check in checks if not check.acknowledged)
    more = (f"and {len(below) - _LISTED} more",) if len(below) > _LISTED else ()
    return Item(_title(finding), (*below[:_LISTED], *more))


def _title(finding: Finding) -> Inline:
    style = Style.KNOWN if finding.acknowledged else Style.BAD
    state = "" if finding.explained else " (unexplained)"
    state = " (acknowledged)" if finding.acknowledged else state or " (not acknowledged)"
    return (Span(finding.severity.value, style), f": {finding.title}", faint(state))


def _open_check(check: Check) -> Item:
    printed = f" printed {check.printed}" if check.printed is not None else ""
    below: list[Inline] = [check.reason, *(f"hint: {hint}" for hint in check.hints)]
    below.append(faint(f"{check.source.file}:{check.source.line}"))
    return Item((write_verdict(check), " ", code(check.id), printed), tuple(below))


def errors(result: AuditResult) -> Iterator[Block]:
    """Yield the checks that could not be made."""
    broken = [check for check in result.checks if check.verdict is Verdict.ERROR]
    if broken:
        yield Heading("Not completed", 3)
        yield List(tuple(map(_open_check, broken)))


def stale_findings(stale: Sequence[StaleFinding]) -> Iterator[Block]:
    """Yield the findings that explain no failing check."""
    if stale:
        yield Heading("Findings that explain no failing check", 3)
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
    yield Heading("Acknowledged before, different now", 3)
    items: list[Inline | Item] = [
        Item((code(entry.check), ": ", entry.reason), (faint(f"{entry.source.file}:{entry.source.line}"),))
        for entry in stale[:_STALE_LISTED]
    ]
    items += [f"and {len(stale) - _STALE_LISTED} more"] if len(stale) > _STALE_LISTED else []
    yield List(tuple(items))
    yield Paragraph(parse_code("`imlp-audit baseline` writes the lock anew once you agree with what changed."))
