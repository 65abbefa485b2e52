"""Runs put into an audit: each in its place, and nothing that is not of the same numbers."""

from __future__ import annotations

import pytest

from imlp_audit.cli.report import merge_runs
from imlp_audit.errors import UsageError
from imlp_audit.records.check import Check, Verdict
from imlp_audit.records.result import AuditResult

from .runs import audited, cell, run


def by_id(result: AuditResult) -> dict[str, Check]:
    return {one.id: one for one in result.checks}


def test_a_number_that_was_open_takes_its_run() -> None:
    before = audited()
    after = merge_runs(before, [("a.json", run(cell()))])
    assert [one.id for one in after.checks] == [one.id for one in before.checks]
    assert by_id(after)["p/1/r1/top1"] == cell()
    unchanged = by_id(before) | {"p/1/r1/top1": cell()}
    assert by_id(after) == unchanged
    assert (after.papers, after.versions, after.solved) == (before.papers, before.versions, before.solved)
    assert before == audited()


def test_runs_in_several_files_are_put_in_in_any_order() -> None:
    other = cell(name="1/r2/top1", printed="72.1")
    files = [("a.json", run(cell())), ("b.json", run(other))]
    both = merge_runs(audited(), files)
    assert both == merge_runs(audited(), files[::-1])
    assert by_id(both)["p/1/r2/top1"] == other
    assert merge_runs(merge_runs(audited(), files[:1]), files[1:]) == both


def test_the_same_run_twice_is_one_run() -> None:
    once = merge_runs(audited(), [("a.json", run(cell()))])
    assert merge_runs(audited(), [("a.json", run(cell())), ("copy.json", run(cell()))]) == once
    assert merge_runs(once, [("a.json", run(cell()))]) == once


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ([run()], "a.json: none of its checks has evidence; give a JSON result of eval or bench"),
        ([audited()], "a.json: none of its checks has evidence"),
        ([run(cell(name="1/r9/top1"))], "a.json: p/1/r9/top1 is not in this report"),
        ([run(cell(name="claims/reproduced"))], "p/claims/reproduced is not in this report"),
        ([run(cell(name="1/r1/top1.delta"))], "p/1/r1/top1.delta is not in this report"),
        ([run(cell(printed="72.3"))], "a.json: it judges p/1/r1/top1 as '72.3', but '72.2' is printed; run it again"),
        ([run(cell(printed=None))], "it judges p/1/r1/top1 as None, but '72.2' is printed"),
        ([run(cell(name="1/r0/params", printed="5.72"))], "p/1/r0/params already has a verdict (reproduced)"),
        ([run(cell(name="1/r2/params", printed="5.72"))], "p/1/r2/params already has a verdict (differs)"),
        ([run(cell()), run(cell("other"))], "a.json and b.json both judge p/1/r1/top1; a report has one"),
    ],
)  # fmt: skip
def test_what_is_not_of_this_audits_open_numbers_is_refused(runs: list[AuditResult], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        merge_runs(audited(), list(zip(("a.json", "b.json"), runs, strict=False)))
    assert told in str(caught.value)


def test_a_run_does_not_replace_another() -> None:
    once = merge_runs(audited(), [("a.json", run(cell()))])
    with pytest.raises(UsageError, match="already has a verdict"):
        merge_runs(once, [("b.json", run(cell("other")))])
    left_open = merge_runs(audited(), [("a.json", run(cell(verdict=Verdict.UNVERIFIABLE)))])
    with pytest.raises(UsageError, match="already has a verdict"):
        merge_runs(left_open, [("b.json", run(cell()))])
