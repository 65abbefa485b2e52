"""The order of findings: the worst first, and a cause before what follows from it."""

from __future__ import annotations

import pytest

from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult, RowHead
from imlp_audit.report.findings import worst_first
from imlp_audit.report.first_screen import next_commands

from .results import check, head

WRONG, CONTRADICTED = Verdict.DIFFERS, Verdict.INCONSISTENT


def audited(*checks: Check, findings: tuple[Finding, ...] = ()) -> AuditResult:
    """Checks of a table whose row `small` has the baseline `big`."""
    paper = head()
    (table,) = paper.tables
    rows = (RowHead(id="big", label="Big"), RowHead(id="small", label="Small", baseline="big"))
    paper = paper.model_copy(update={"tables": (table.model_copy(update={"rows": rows}),)})
    return AuditResult(papers=(paper,), versions={}, checks=checks, findings=findings)


def order(result: AuditResult) -> list[tuple[str, ...]]:
    return [finding.checks for finding in worst_first(result)]


@pytest.mark.parametrize("row", ["small", "big"])
def test_a_change_stands_after_the_wrong_cell(row: str) -> None:
    change = check("1/small/params.delta", CheckKind.DELTA, CONTRADICTED, printed="-74%")
    cell = check(f"1/{row}/params", CheckKind.CELL, WRONG, printed="5.8")
    made = audited(change, cell)
    assert order(made) == [(cell.id,), (change.id,)]
    assert next_commands(made, ()).text.startswith(f"imlp-audit explain {cell.id}\n")
    assert worst_first(made)[1].kind is FindingKind.ASK


def test_what_a_finding_explains_stands_behind_what_none_does() -> None:
    change = check("1/small/params.delta", CheckKind.DELTA, CONTRADICTED)
    cell = check("1/small/params", CheckKind.CELL, WRONG, finding="known")
    known = Finding(id="known", paper="p", title="t", kind=FindingKind.MISPRINT, why="w", checks=(cell.id,))
    claim = check("claims/c", CheckKind.CLAIM, WRONG)
    assert order(audited(claim, cell, change, findings=(known,))) == [(claim.id,), (change.id,), (cell.id,)]


def test_a_change_stays_behind_its_cell_and_before_lesser_findings() -> None:
    change = check("1/small/params.delta", CheckKind.DELTA, CONTRADICTED)
    cell = check("1/small/params", CheckKind.CELL, WRONG)
    repeat = check("repeats/2/small/params", CheckKind.REPEAT, CONTRADICTED)
    lesser = Finding(id="f", paper="p", title="t", kind=FindingKind.MISPRINT, why="w", checks=("p/claims/c",))
    found = order(audited(change, cell, repeat, check("claims/c", CheckKind.CLAIM, WRONG), findings=(lesser,)))
    assert found == [(repeat.id,), (cell.id,), (change.id,), ("p/claims/c",)]


def test_findings_stand_by_kind_and_those_of_one_kind_as_in_the_file() -> None:
    kinds = (FindingKind.ASK, FindingKind.MISPRINT, FindingKind.ASK, FindingKind.NOTE, FindingKind.ASK)
    checks = [check(f"claims/c{at}", CheckKind.CLAIM, WRONG, finding=f"f{at}") for at in range(len(kinds))]
    findings = tuple(
        Finding(id=f"f{at}", paper="p", title="t", kind=kind, why="w", checks=(f"p/claims/c{at}",))
        for at, kind in enumerate(kinds)
    )
    found = [name for (name,) in order(audited(*checks, findings=findings))]
    assert found == [f"p/claims/c{at}" for at in (0, 2, 4, 1, 3)]
