"""Failing checks without a finding are grouped; findings go with the paper whose checks they have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.records.check import CHECK_OF_KIND, FAILS, Check, CheckKind, Source, Verdict
from imlp_audit.records.finding import Finding, FindingKind, group_unexplained
from imlp_audit.records.result import AuditResult, PaperHead

PLACE = Source(file="table.yaml", line=7)
IDS = {
    CheckKind.CELL: "p/{table}/{row}/{column}",
    CheckKind.DELTA: "p/{table}/{row}/{column}.delta.measured",
    CheckKind.REPEAT: "p/repeats/{table}/{row}/{column}",
    CheckKind.MARK: "p/marks/{table}/{row}",
    CheckKind.COLUMN: "p/columns/{table}",
    CheckKind.CLAIM: "p/claims/{row}",
    CheckKind.EQUATION: "p/equations/{row}",
}
names = st.sampled_from(("a", "b"))


def check(
    kind: CheckKind, verdict: Verdict = Verdict.DIFFERS, table: str = "1", row: str = "a", column: str = "params"
) -> Check:
    name = IDS[kind].format(table=table, row=row, column=column)
    return CHECK_OF_KIND[kind](id=name, verdict=verdict, reason="why", source=PLACE)


checks = st.builds(check, st.sampled_from(CheckKind), st.sampled_from(Verdict), names, names, names)


@given(st.lists(checks, unique_by=lambda one: one.id))
def test_groups_hold_every_failing_check_once_and_no_other(made: list[Check]) -> None:
    groups = group_unexplained(made)
    assert sorted(name for group in groups for name in group.checks) == sorted(
        one.id for one in made if one.verdict in FAILS
    )
    kinds = {one.id: one.kind for one in made}
    for group in groups:
        assert len({kinds[name] for name in group.checks}) == 1
        assert not group.explained
        assert not group.acknowledged
    assert len({group.id for group in groups}) == len(groups)


def test_a_table_a_column_and_a_kind_make_a_group() -> None:
    rows = [check(CheckKind.CELL, row="a"), check(CheckKind.CELL, row="b")]
    apart = [
        check(CheckKind.CELL, column="flops"),
        check(CheckKind.CELL, table="2"),
        check(CheckKind.DELTA, Verdict.INCONSISTENT),
    ]
    first, *others = group_unexplained([*rows, *apart])
    assert first.checks == ("p/1/a/params", "p/1/b/params")
    assert first.title == "Table 1, params: 2 printed numbers do not follow from the models"
    assert [one.checks for one in others] == [(one.id,) for one in apart]
    assert [one.kind for one in others] == [FindingKind.ASK, FindingKind.ASK, FindingKind.ASK]


@pytest.mark.parametrize("kind", CheckKind)
def test_every_kind_has_a_title_for_one_and_for_several(kind: CheckKind) -> None:
    (one,) = group_unexplained([check(kind)])
    assert "1 " in one.title
    several = [check(kind).model_copy(update={"id": check(kind, row=row).id}) for row in ("a", "b")]
    groups = group_unexplained(several)
    if kind in (CheckKind.CLAIM, CheckKind.EQUATION):  # each says something else
        assert [group.checks for group in groups] == [(one.id,) for one in several]
    else:
        (group,) = groups
        assert "2 " in group.title


def test_a_check_is_explained_by_the_finding_that_names_it_alone() -> None:
    """A result that was edited may have a check whose finding is not there: it still shows."""
    one = check(CheckKind.CELL).model_copy(update={"finding": "known"})
    known = Finding(id="known", paper="p", title="t", kind=FindingKind.MISPRINT, why="w", checks=(one.id,))
    assert AuditResult(papers=(), versions={}, checks=(one,), findings=(known,)).unexplained() == ()
    (group,) = AuditResult(papers=(), versions={}, checks=(one,)).unexplained()
    assert group.checks == (one.id,)


def test_a_finding_belongs_to_the_paper_whose_file_has_it() -> None:
    """A repeat is shown with the paper whose number it repeats if its own was not audited, and its finding is not."""
    empty = {"rounding": (), "parameters": (), "flops": (), "readings": (), "tables": ()}
    mine, other = (PaperHead(id=name, title=name, authors="", version="", **empty) for name in ("mine", "p"))
    repeat = check(CheckKind.REPEAT).model_copy(
        update={"repeats": "mine/1/x/params", "finding": "known", "acknowledged": True}
    )
    known = Finding(
        id="known", paper="p", title="t", kind=FindingKind.MISPRINT, why="w", checks=(repeat.id,), acknowledged=True
    )
    both = AuditResult(papers=(mine, other), versions={}, checks=(repeat,), findings=(known,))
    assert (both.of(mine).findings, both.of(other).findings) == ((), (known,))
    alone = AuditResult(papers=(mine,), versions={}, checks=(repeat,))
    assert alone.of(mine).checks == (repeat,)
    assert alone.unexplained() == ()
    (group,) = alone.model_copy(update={"checks": (repeat.model_copy(update={"acknowledged": False}),)}).unexplained()
    assert group.checks == (repeat.id,)
