"""Findings acknowledge failing checks, for as long as nothing about them changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.checks.acknowledge import Acknowledged, acknowledge, renew_lock
from imlp_audit.cli.output import ExitCode, exit_code
from imlp_audit.errors import SpecError
from imlp_audit.records.base import to_json
from imlp_audit.records.check import (
    CHECK_OF_KIND,
    CellCheck,
    Check,
    CheckKind,
    EquationCheck,
    Measurement,
    Source,
    Verdict,
)
from imlp_audit.records.finding import FindingKind, Lock, LockedCheck, Quote, StaleEntry, StaleFinding
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.findings import refuse_broken_locks
from imlp_audit.spec.load import Selection, load
from imlp_audit.spec.plan import check_ids
from tests.checks.papers import Count, Spec, run, write

ROW = "{id: a, label: A, model: {timm: host}, printed: {params: 5.00}}"
OTHER_ROW = "{id: b, label: B, model: {timm: other}, printed: {params: 5.00}}"
THIRD_ROW = "{id: cc, label: C, model: {timm: other}, printed: {params: 5.00}}"  # no finding covers it
FINDING = """\
findings:
  - {id: wrong-size, title: The sizes are wrong, kind: ask, why: Nobody knows., checks: [p/1/?/params]}
"""
NAME = "p/1/a/params"
CHECK = CellCheck(
    id=NAME,
    verdict=Verdict.DIFFERS,
    reason="4 is outside [5, 6)",
    source=Source(file="table.yaml", line=7),
    printed="5.00",
    measured="4",
    reading="plain",
    convention="all",
    also=(
        Measurement(reading="skip", convention="all", measured="3", verdict=Verdict.DIFFERS),
        Measurement(reading="plain", convention="no_head", measured="2", verdict=Verdict.DIFFERS),
    ),
)
EQUATION = EquationCheck(
    id="p/equations/eq1",
    verdict=Verdict.DIFFERS,
    reason="false",
    source=Source(file="eq1.py", line=1),
    printed="y = x",
    counterexample=("x = 1", "left = 2"),
)


def of_kind(kind: CheckKind, verdict: Verdict) -> Check:
    """Return a check with CHECK's id and numbers."""
    numbers = {} if kind is CheckKind.EQUATION else {"measured": CHECK.measured}
    return CHECK_OF_KIND[kind](
        id=NAME, verdict=verdict, reason=CHECK.reason, source=CHECK.source, printed=CHECK.printed, **numbers
    )


WRONG_ENTRY = """\
{
 "format": "imlp-audit/findings-lock/2",
 "paper": "p",
 "checks": {
  "a": {
   "verdict": "differs"
  },
  "b": {
   %s: "no such",
   %s: "no such"
  }
 }
}
"""


def written(folder: Path, *checks: Check, end: str = FINDING, paper: str = "p") -> Selection:
    """A paper with three rows and findings, and a lock that acknowledges the checks as they are."""
    write(folder, Spec((ROW, OTHER_ROW, THIRD_ROW), end=end))
    lock = Lock(paper=paper, checks={check.id: LockedCheck.of(check) for check in checks})
    if checks:
        (folder / "p" / "paper.lock").write_text(to_json(lock))
    return load([str(folder / "p")])


def acknowledged(selection: Selection, *checks: Check, searched: bool = False) -> Acknowledged:
    (paper,) = selection.papers
    equations = [check.id for check in checks if check.kind is CheckKind.EQUATION]
    return acknowledge(paper, checks, [*check_ids(paper, selection.known), *equations], searched=searched)


def exits(checks: tuple[Check, ...], *, baseline: bool = True) -> ExitCode:
    return exit_code(AuditResult(papers=(), versions={}, checks=checks), baseline=baseline)


def test_a_check_that_the_lock_has_keeps_its_verdict_and_no_longer_fails_the_run(tmp_path: Path) -> None:
    found = acknowledged(written(tmp_path, CHECK), CHECK)
    (check,) = found.checks
    assert check == CHECK.model_copy(update={"finding": "wrong-size", "acknowledged": True})
    (finding,) = found.findings
    assert (finding.id, finding.paper, finding.kind, finding.checks, finding.acknowledged) == (
        "wrong-size", "p", FindingKind.ASK, (NAME,), True
    )  # fmt: skip
    assert found.stale == ()
    assert exits((CHECK,)) is ExitCode.FINDINGS
    assert exits(found.checks) is ExitCode.CLEAN
    assert exits(found.checks, baseline=False) is ExitCode.FINDINGS


def test_a_finding_without_a_lock_explains_and_still_fails(tmp_path: Path) -> None:
    found = acknowledged(written(tmp_path), CHECK)
    assert [(check.finding, check.acknowledged) for check in found.checks] == [("wrong-size", False)]
    assert not found.findings[0].acknowledged
    assert exits(found.checks) is ExitCode.FINDINGS


def test_one_new_check_makes_its_finding_fail(tmp_path: Path) -> None:
    new = CHECK.model_copy(update={"id": "p/1/b/params"})
    found = acknowledged(written(tmp_path, CHECK), CHECK, new)
    assert [check.acknowledged for check in found.checks] == [True, False]
    assert [(finding.checks, finding.acknowledged) for finding in found.findings] == [((NAME, new.id), False)]
    assert exits(found.checks) is ExitCode.FINDINGS


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": Verdict.INCONSISTENT}, "it was `differs` and is now `inconsistent`"),
        ({"printed": "5.0"}, "'5.00' was printed then, '5.0' is printed now"),
        ({"printed": None}, "'5.00' was printed then, None is printed now"),
        ({"measured": "4.000000000001"}, "measured then: 4; measured now: 4.000000000001"),
        ({"measured": None}, "measured then: 4; measured now: nothing"),
    ],
)
def test_any_change_of_a_check_fails_the_run_and_says_what_changed(
    tmp_path: Path, change: dict[str, object], words: str
) -> None:
    changed = CHECK.model_copy(update=change)
    found = acknowledged(written(tmp_path, CHECK), changed)
    (check,) = found.checks
    assert (check.verdict, check.finding, check.acknowledged) == (changed.verdict, "wrong-size", False)
    assert check.reason.startswith(f"{CHECK.reason}; changed since findings.lock was written: ")
    assert words in check.reason
    assert [(one.check, one.problem) for one in found.stale] == [(NAME, "changed")]
    assert exits(found.checks) is ExitCode.FINDINGS


@pytest.mark.parametrize("verdict", [Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER, Verdict.UNVERIFIABLE])
def test_an_entry_of_a_check_that_no_longer_fails_is_stale(tmp_path: Path, verdict: Verdict) -> None:
    fine = CHECK.model_copy(update={"verdict": verdict})
    found = acknowledged(written(tmp_path, CHECK), fine)
    assert found.checks == (fine,)
    assert found.findings == ()
    (entry,) = found.stale
    assert (entry.check, entry.problem) == (NAME, "passes")
    assert entry.reason == f"it no longer fails: it was `differs` and is now `{verdict}`"
    place = entry.source
    assert place.file.endswith("paper.lock")
    lines = (tmp_path / "p" / "paper.lock").read_text().split("\n")
    assert NAME in lines[place.line - 1]
    assert exits(found.checks) is ExitCode.CLEAN


def test_a_lock_in_one_line_has_all_its_entries_there(tmp_path: Path) -> None:
    written(tmp_path, CHECK.model_copy(update={"id": "p/1/gone/params"}))
    lock = tmp_path / "p" / "paper.lock"
    lock.write_text(lock.read_text().replace("\n", " "))
    (entry,) = acknowledged(load([str(tmp_path / "p")]), CHECK).stale
    assert (entry.check, entry.source.line) == ("p/1/gone/params", 1)


def test_checks_that_were_not_made_or_not_completed_leave_their_entries_alone(tmp_path: Path) -> None:
    other = CHECK.model_copy(update={"id": "p/1/b/params"})
    selection = written(tmp_path, CHECK, other)
    error = CHECK.model_copy(update={"verdict": Verdict.ERROR, "measured": None, "also": ()})
    found = acknowledged(selection, error)
    assert (found.checks, found.stale) == ((error,), ())
    assert exits(found.checks) is ExitCode.INCOMPLETE


def test_each_check_that_a_finding_names_has_to_fail(tmp_path: Path) -> None:
    fine = CHECK.model_copy(update={"id": "p/1/b/params", "verdict": Verdict.REPRODUCED})
    named = written(tmp_path, CHECK, end=FINDING.replace("p/1/?/params", "p/1/a/params, p/1/b/params"))
    (stale,) = acknowledged(named, CHECK, fine).stale_findings
    assert stale.checks == (fine.id,)
    assert stale.reason == "p/1/b/params does not fail; take it out of `checks`, or move it to `evidence`"
    assert acknowledged(written(tmp_path / "glob", CHECK), CHECK, fine).stale_findings == ()


def test_a_finding_is_idle_once_all_its_checks_pass(tmp_path: Path) -> None:
    every = [CHECK.model_copy(update={"id": f"p/1/{row}/params"}) for row in "ab"]
    fine = [check.model_copy(update={"verdict": Verdict.REPRODUCED}) for check in every]
    selection = written(tmp_path, *every)
    assert [one.id for one in acknowledged(selection, *fine).stale_findings] == ["wrong-size"]
    assert acknowledged(selection, *fine[:1]).stale_findings == ()
    assert acknowledged(selection, *fine[:1], every[1]).stale_findings == ()


@pytest.mark.parametrize("kind", list(CheckKind))
def test_of_what_nothing_decides_only_a_statement_may_still_fail(tmp_path: Path, kind: CheckKind) -> None:
    selection = written(tmp_path, CHECK, end=FINDING.replace("p/1/?/params", NAME))
    undecided = of_kind(kind, Verdict.UNVERIFIABLE)
    assert bool(acknowledged(selection, undecided).stale_findings) is (kind is not CheckKind.EQUATION)


def test_an_entry_without_a_finding_acknowledges_nothing(tmp_path: Path) -> None:
    found = acknowledged(written(tmp_path, CHECK, end=FINDING.replace("p/1/?/params", "p/1/b/params")), CHECK)
    assert [(check.finding, check.acknowledged) for check in found.checks] == [(None, False)]
    assert [(one.check, one.problem) for one in found.stale] == [(NAME, "uncovered")]
    assert exits(found.checks) is ExitCode.FINDINGS


def of_equation(folder: Path, check: Check, *, searched: bool = False) -> Acknowledged:
    """Acknowledge a claim whose lock is EQUATION's; the finding names a claim that the folder does not have."""
    selection = written(folder, EQUATION)
    (paper,) = selection.papers
    entry = paper.findings[0]
    covering = entry.value.model_copy(update={"checks": ("p/equations/*",)})
    object.__setattr__(paper, "findings", (type(entry)(covering, entry.file, entry.path),))
    return acknowledged(selection, check, searched=searched)


@pytest.mark.parametrize("counterexample", [("x = 1", "left = 2"), ("x = 7",)])
def test_an_equation_stays_acknowledged_whichever_counterexample_is_found(
    tmp_path: Path, counterexample: tuple[str, ...]
) -> None:
    found = of_equation(tmp_path, EQUATION.model_copy(update={"counterexample": counterexample, "reason": "another"}))
    assert [check.acknowledged for check in found.checks] == [True]
    assert found.stale == ()


def test_an_equation_with_another_form_is_not_acknowledged(tmp_path: Path) -> None:
    found = of_equation(tmp_path, EQUATION.model_copy(update={"printed": "y = 2 x"}))
    assert [check.acknowledged for check in found.checks] == [False]


def test_another_search_without_a_counterexample_does_not_make_a_false_claim_true(tmp_path: Path) -> None:
    holds = EQUATION.model_copy(
        update={"verdict": Verdict.REPRODUCED, "counterexample": (), "reason": "holds on 1 example"}
    )
    (check,) = of_equation(tmp_path / "a", holds, searched=True).checks
    assert (check.verdict, check.acknowledged) == (Verdict.DIFFERS, True)
    assert check.reason == "holds on 1 example of this search, but findings.lock has it as false for others"
    found = of_equation(tmp_path / "b", holds)
    assert found.checks == (holds,)
    assert [one.problem for one in found.stale] == ["passes"]
    other = holds.model_copy(update={"printed": "y = 2 x"})
    assert of_equation(tmp_path / "c", other, searched=True).checks == (other,)


@pytest.mark.parametrize("kind", [kind for kind in CheckKind if kind is not CheckKind.EQUATION])
@pytest.mark.parametrize("verdict", [Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER])
def test_a_number_that_a_search_has_nothing_to_do_with_is_never_judged_by_the_lock(
    tmp_path: Path, verdict: Verdict, kind: CheckKind
) -> None:
    passing = of_kind(kind, verdict)
    found = acknowledged(written(tmp_path, CHECK), passing, searched=True)
    assert [check.verdict for check in found.checks] == [verdict]
    assert [one.problem for one in found.stale] == ["passes"]


@pytest.mark.parametrize("verdict", [Verdict.UNVERIFIABLE, Verdict.ERROR])
def test_a_statement_that_could_not_be_tested_is_not_judged_by_the_lock(tmp_path: Path, verdict: Verdict) -> None:
    untested = EQUATION.model_copy(update={"verdict": verdict, "counterexample": (), "reason": "too slow"})
    found = of_equation(tmp_path, untested, searched=True)
    assert (found.checks, found.stale) == ((untested,), ())


LOCKED = LockedCheck(verdict=Verdict.DIFFERS, printed="5.00", measured="6000000")


@pytest.mark.parametrize(
    ("row", "params", "code", "stale"),
    [
        (ROW, 6_000_000, ExitCode.CLEAN, []),
        (ROW, 6_000_001, ExitCode.FINDINGS, ["changed"]),
        (ROW.replace("5.00", "5.01"), 6_000_000, ExitCode.FINDINGS, ["changed"]),
        (ROW.replace("5.00", "5.0"), 6_000_000, ExitCode.FINDINGS, ["changed"]),
        (ROW, 5_000_000, ExitCode.CLEAN, ["passes"]),
        (ROW.replace("5.00", "6.00"), 6_000_000, ExitCode.CLEAN, ["passes"]),
    ],
)
def test_from_a_spec_and_its_lock_to_an_exit_code(
    tmp_path: Path, row: str, params: int, code: ExitCode, stale: list[str]
) -> None:
    write(tmp_path, Spec((row,), end=FINDING))
    (tmp_path / "p" / "paper.lock").write_text(to_json(Lock(paper="p", checks={NAME: LOCKED})))
    selection = load([str(tmp_path / "p")])
    checks = run(selection, {"host": Count(params)})
    found = acknowledged(selection, checks[NAME])
    assert exits(found.checks) is code
    assert [one.problem for one in found.stale] == stale


def test_a_renewed_lock_acknowledges_what_findings_cover_and_nothing_else(tmp_path: Path) -> None:
    gone = CHECK.model_copy(update={"id": "p/1/c/params"})
    other = CHECK.model_copy(update={"id": "p/1/b/params"})
    selection = written(tmp_path, gone, other, end=FINDING.replace("p/1/?/params", "'p/1/[ab]/params'"))
    (paper,) = selection.papers
    found = acknowledged(
        selection, CHECK, other.model_copy(update={"printed": "6"}), CHECK.model_copy(update={"id": "p/1/a/flops"})
    )
    result = AuditResult(papers=(), versions={}, checks=found.checks, findings=found.findings, stale=found.stale)
    lock, report = renew_lock(paper, result, "paper.lock")
    assert set(lock.checks) == {NAME, other.id}
    assert lock.checks[other.id].printed == "6"
    assert [one.check for one in report.new] == [NAME]
    assert [one.check for one in report.changed] == [other.id]
    assert [one.check for one in report.dropped] == [gone.id]
    assert [one.checks for one in report.unexplained] == [("p/1/a/flops",)]
    (tmp_path / "p" / "paper.lock").write_text(to_json(lock))
    again = acknowledged(load([str(tmp_path / "p")]), CHECK, other.model_copy(update={"printed": "6"}))
    assert all(check.acknowledged for check in again.checks)
    assert again.stale == ()


RESTING = """\
findings:
  - id: copied
    title: Two sources disagree
    kind: ask
    why: They print other numbers.
    evidence: [p/1/a/params, {quote: 68.1, source: "Swin, Table 2"}]
"""
PASSING = CHECK.model_copy(update={"verdict": Verdict.REPRODUCED})


def resting(folder: Path, *checks: Check, end: str = RESTING) -> Acknowledged:
    """Acknowledge a finding that rests on a passing check and a quote, then edit the paper, and audit these checks."""
    selection = written(folder, end=RESTING)
    (paper,) = selection.papers
    found = acknowledged(selection, PASSING)
    result = AuditResult(papers=(), versions={}, checks=found.checks, findings=found.findings, stale=found.stale)
    lock, report = renew_lock(paper, result, "paper.lock")
    assert [one.check for one in report.changed] == [NAME, "p/findings/copied"]
    (folder / "p" / "paper.yaml").write_text(Spec((ROW, OTHER_ROW, THIRD_ROW), end=end).text())
    (folder / "p" / "paper.lock").write_text(to_json(lock))
    return acknowledged(load([str(folder / "p")]), *checks)


def test_a_finding_may_rest_on_a_check_that_passes_and_on_a_quote(tmp_path: Path) -> None:
    found = resting(tmp_path, PASSING)
    assert (found.checks, found.stale, found.stale_findings) == ((PASSING,), (), ())
    (finding,) = found.findings
    assert (finding.checks, finding.evident_checks, finding.evidence[1:]) == (
        (), (NAME,), (Quote(quote="68.1", source="Swin, Table 2"),)
    )  # fmt: skip
    assert exits(found.checks) is ExitCode.CLEAN


def test_a_finding_does_not_acknowledge_what_it_rests_on(tmp_path: Path) -> None:
    found = resting(tmp_path, CHECK)
    assert [(check.finding, check.acknowledged) for check in found.checks] == [(None, False)]
    assert exits(found.checks) is ExitCode.FINDINGS


@pytest.mark.parametrize(
    ("check", "end", "stale"),
    [
        (CHECK, RESTING, (NAME, "changed", "it was `reproduced` and is now `differs`")),
        (PASSING.model_copy(update={"measured": "4.1"}), RESTING, (NAME, "changed", "measured then: 4; measured now")),
        (PASSING.model_copy(update={"printed": "5.1"}), RESTING, (NAME, "changed", "'5.00' was printed then, '5.1'")),
        (PASSING, RESTING.replace("68.1", "68.2"), ("p/findings/copied", "changed", "its quotes are not those")),
        (PASSING, RESTING.replace("id: copied", "id: new"), (NAME, "changed", "it was not acknowledged")),
        (PASSING, FINDING, ("p/findings/copied", "gone", "no finding rests on this evidence any more")),
    ],
)  # fmt: skip
def test_evidence_that_is_not_as_it_was_is_stale(
    tmp_path: Path, check: Check, end: str, stale: tuple[str, str, str]
) -> None:
    first, *_ = resting(tmp_path, check, end=end).stale
    assert (first.check, first.problem) == stale[:2]
    assert stale[2] in first.reason


def test_evidence_may_move_to_another_place_of_the_same_source(tmp_path: Path) -> None:
    assert resting(tmp_path, PASSING, end=RESTING.replace("Swin, Table 2", "Swin, Table 3")).stale == ()


def test_a_finding_with_evidence_is_shown_if_the_evidence_was_looked_at(tmp_path: Path) -> None:
    other = PASSING.model_copy(update={"id": "p/1/b/params"})
    assert resting(tmp_path / "checks", other).findings == ()
    quoting = RESTING.replace("p/1/a/params, ", "")
    assert len(acknowledged(written(tmp_path / "quotes", end=quoting), other).findings) == 1


def test_of_a_result_of_several_papers_only_what_is_its_own_enters_a_papers_lock(tmp_path: Path) -> None:
    """Ids before, after and with the paper's own as their beginning."""
    other = CHECK.model_copy(update={"id": "p/1/cc/params"})  # not in the result: its entry stays
    (paper,) = written(tmp_path, CHECK, other).papers
    papers = ("o", "p", "pp", "q")
    covered = [CHECK.model_copy(update={"id": f"{one}/1/a/params", "finding": "wrong-size"}) for one in papers]
    failing = [CHECK.model_copy(update={"id": f"{one}/1/b/params"}) for one in papers]
    result = AuditResult(
        papers=(),
        versions={},
        checks=(*covered, *failing),
        stale=tuple(
            StaleEntry(check=f"{one}/1/a/params", problem="changed", reason="it changed", source=CHECK.source)
            for one in papers
        ),
        stale_findings=tuple(
            StaleFinding(id="idle", paper=one, title="Idle", checks=(), source=CHECK.source) for one in papers
        ),
    )
    lock, report = renew_lock(paper, result, "paper.lock")
    assert set(lock.checks) == {NAME, other.id}
    assert [one.check for one in report.changed] == [NAME]
    assert [one.paper for one in report.stale_findings] == ["p"]
    assert {one.paper for one in report.unexplained} == {"p"}
    assert (report.new, report.dropped, report.kept) == ((), (), 1)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{\n "format": "imlp-audit/findings-lock/7"}', 2, "findings-lock/7 was written by another version"),
        ('{\n "checks": {},\n "format": "imlp-audit/2"}', 3, "not a result of format imlp-audit/findings-lock/2"),
        ("{", 1, "not JSON"),
        ('{"format": "imlp-audit/findings-lock/2", "paper": "q"}', 1, "it is the lock of 'q', not of 'p'"),
        ('{"format": "imlp-audit/findings-lock/2", "paper": "a"}', 1, "it is the lock of 'a', not of 'p'"),
        ('{"format": "imlp-audit/findings-lock/2", "paper": "p", "checks": {"a": {}}}', 1, "checks.a.verdict"),
        (WRONG_ENTRY % ('"verdict"', '"printed"'), 9, "checks.b.verdict"),
        (WRONG_ENTRY % ('"printed"', '"verdict"'), 10, "checks.b.verdict"),
        (WRONG_ENTRY % ('"printed"', '"measured"'), 8, "checks.b.verdict"),  # it is missing in what begins there
        (WRONG_ENTRY.replace("verdict", "printed") % ('"measured"', '"verdict"'), 5, "checks.a.verdict"),  # b has one
        (
            '{\n "format": "imlp-audit/findings-lock/2",\n "paper": "q",\n "checks": {}\n}',
            3,
            "the lock of 'q', not of 'p'",
        ),
    ],
)
def test_a_lock_that_cannot_be_used_is_refused_with_its_place(tmp_path: Path, text: str, line: int, words: str) -> None:
    write(tmp_path, Spec((ROW,), end=FINDING))
    (tmp_path / "p" / "paper.lock").write_text(text)
    with pytest.raises(SpecError) as raised:
        refuse_broken_locks(load([str(tmp_path / "p")]).papers)
    (problem,) = raised.value.problems
    assert problem.file.endswith("paper.lock")
    assert (problem.line, problem.column) == (line, 1)
    assert words in problem.message
    assert "imlp-audit acknowledge" in problem.message
