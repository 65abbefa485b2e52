"""The order of findings: what fails the run first, then by kind, and a cause before what follows from it."""

from __future__ import annotations

from imlp_audit.records.check import FAILS, CheckKind, Verdict
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult

_KINDS = tuple(FindingKind)


def worst_first(result: AuditResult) -> list[Finding]:
    """Return the findings of a result: first those that fail the run, then by kind, as `findings.yaml` orders them.

    Of those that nothing explains the ones of more checks come first, then contradictions. Printed changes that
    contradict their cells stand after these cells where the cells themselves are wrong.
    """
    causes = _contradicted_by_a_wrong_cell(result)
    contradictions = {check.id for check in result.checks if check.verdict is Verdict.INCONSISTENT}

    def rank(finding: Finding) -> tuple[bool, bool, int, bool, int, bool]:
        kind = _KINDS.index(finding.kind)
        if finding.explained:
            return finding.acknowledged, True, kind, False, 0, False
        follows = all(name in causes for name in finding.checks)
        contradicts = not contradictions.isdisjoint(finding.checks)
        return finding.acknowledged, False, kind, follows, -len(finding.checks), not contradicts

    return sorted((*result.unexplained(), *result.findings), key=rank)


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
