"""What changed between two audits: each check is in one group, and the groups of the way back are the same."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.records.base import from_json, to_json
from imlp_audit.records.check import CHECK_OF_KIND, Check, CheckKind, Measurement, Source, Verdict
from imlp_audit.records.diff import AuditDiff, CheckChange, VersionChange, diff_audits
from imlp_audit.records.result import AuditResult

CHANGES = ("worse", "better", "undecided", "changed")
HOLDS, UNDER, DIFFERS = Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER, Verdict.DIFFERS
CONTRADICTS, OPEN, BROKEN = Verdict.INCONSISTENT, Verdict.UNVERIFIABLE, Verdict.ERROR


def check(
    verdict: Verdict, acknowledged: bool | None = None, kind: CheckKind = CheckKind.CELL, **more: object
) -> Check:
    """Return a check; values that its kind does not have are left out."""
    of = CHECK_OF_KIND[kind]
    one: Check = of(id="p/1/a/params", verdict=verdict, reason="", source=Source(file="t.yaml", line=1))
    known = {name: value for name, value in more.items() if name in of.model_fields}
    return one.model_copy(update={"acknowledged": acknowledged, **known})


def audit(*checks: Check, **more: object) -> AuditResult:
    return AuditResult(papers=(), versions={}, checks=checks).model_copy(update=more)


ALSO = (Measurement(reading="released", convention="macs", measured="7", verdict=DIFFERS),)
checks = st.builds(
    check,
    st.sampled_from(Verdict),
    st.booleans(),
    kind=st.sampled_from((CheckKind.CELL, CheckKind.EQUATION)),
    measured=st.sampled_from((None, "5", "6")),
    also=st.sampled_from(((), ALSO)),
    under=st.sampled_from(((), ("rounding ceiling",))),
    weak=st.booleans(),
)
audits = st.builds(
    lambda checks, versions: audit(
        *(one.model_copy(update={"id": name}) for name, one in checks.items()), versions=versions
    ),
    st.dictionaries(st.sampled_from("abcd"), checks),
    st.dictionaries(st.sampled_from(("torch", "timm")), st.sampled_from("12")),
)
"""Audits of which two often have checks in common."""


def group_of(before: Check, after: Check) -> str:
    """The group of a check that both audits have."""
    found = diff_audits(audit(before), audit(after))
    (group,) = [name for name in CHANGES if getattr(found, name)] or ["same"]
    return group


@given(audits)
def test_an_audit_does_not_differ_from_itself(one: AuditResult) -> None:
    found = diff_audits(one, one)
    assert (found.is_empty, found.got_worse, found.same) == (True, False, len(one.checks))
    assert found.before == found.after


@given(audits, audits)
def test_each_check_is_in_one_group(before: AuditResult, after: AuditResult) -> None:
    found = diff_audits(before, after)
    old, new = ({check.id: check for check in result.checks} for result in (before, after))
    changes = [change for name in CHANGES for change in getattr(found, name)]
    listed = [one.id for one in (*changes, *found.new, *found.gone)]
    assert max(Counter(listed).values(), default=1) == 1
    assert {one.id for one in found.new} == new.keys() - old.keys()
    assert {one.id for one in found.gone} == old.keys() - new.keys()
    same = (old.keys() & new.keys()) - set(listed)
    assert len(same) == found.same
    for name in same:
        one, other = old[name], new[name]
        assert (one.verdict, one.under, one.caveats) == (other.verdict, other.under, other.caveats)
        measured = (getattr(side, "measured", None) for side in (one, other))
        assert len(set(measured)) == 1 or CheckKind.EQUATION in (one.kind, other.kind)


@given(audits, audits)
def test_the_way_back_has_the_same_changes_with_sides_swapped(before: AuditResult, after: AuditResult) -> None:
    there, back = diff_audits(before, after), diff_audits(after, before)

    def swapped(*changes: CheckChange) -> set[str]:
        return {CheckChange(id=one.id, before=one.after, after=one.before).model_dump_json() for one in changes}

    def written(*changes: CheckChange) -> set[str]:
        return {one.model_dump_json() for one in changes}

    assert swapped(*there.worse) == written(*back.better, *back.undecided)
    assert swapped(*there.better, *there.undecided) == written(*back.worse)
    assert swapped(*there.changed) == written(*back.changed)
    assert set(map(repr, there.new)) == set(map(repr, back.gone))
    assert {(one.library, one.before, one.after) for one in there.versions} == {
        (one.library, one.after, one.before) for one in back.versions
    }
    assert (there.before, there.after, there.same) == (back.after, back.before, back.same)


@given(audits, audits)
def test_a_difference_is_read_back_as_written(before: AuditResult, after: AuditResult) -> None:
    found = diff_audits(before, after)
    assert from_json(AuditDiff, to_json(found), "d.json") == found


@pytest.mark.parametrize(
    ("before", "after", "group"),
    [
        ((HOLDS,), (UNDER,), "worse"),
        ((HOLDS,), (OPEN,), "worse"),
        ((HOLDS,), (DIFFERS,), "worse"),
        ((HOLDS,), (DIFFERS, True), "worse"),
        ((UNDER,), (OPEN,), "worse"),
        ((UNDER,), (CONTRADICTS,), "worse"),
        ((OPEN,), (DIFFERS,), "worse"),
        ((OPEN,), (BROKEN,), "worse"),
        ((DIFFERS, True), (DIFFERS, False), "worse"),
        ((DIFFERS, True), (CONTRADICTS, False), "worse"),
        ((DIFFERS,), (BROKEN,), "worse"),
        ((UNDER,), (HOLDS,), "better"),
        ((DIFFERS, False), (HOLDS,), "better"),
        ((DIFFERS, False), (DIFFERS, True), "better"),
        ((OPEN,), (HOLDS,), "better"),
        ((BROKEN,), (OPEN,), "better"),
        ((DIFFERS,), (OPEN,), "undecided"),
        ((CONTRADICTS, True), (OPEN,), "undecided"),
        ((DIFFERS,), (CONTRADICTS,), "changed"),
        ((DIFFERS, True), (CONTRADICTS, True), "changed"),
        ((HOLDS,), (HOLDS,), "same"),
        ((DIFFERS, False), (DIFFERS, None), "same"),
        ((HOLDS, None), (HOLDS, False), "same"),
    ],
)
def test_what_got_worse_and_what_got_better(
    before: tuple[Verdict, bool], after: tuple[Verdict, bool], group: str
) -> None:
    assert group_of(check(*before), check(*after)) == group


@pytest.mark.parametrize(
    ("change", "group"),
    [
        ({"measured": "6"}, "changed"),
        ({"printed": "5.01"}, "changed"),
        ({"also": ALSO}, "changed"),
        ({"weak": True}, "changed"),
        ({"under": ("rounding ceiling",)}, "changed"),
        ({"reason": "in other words"}, "same"),
        ({"source": Source(file="other.yaml", line=2)}, "same"),
        ({"hints": ("a hint",)}, "same"),
    ],
)
def test_what_else_counts_as_a_change(change: dict[str, object], group: str) -> None:
    before = check(HOLDS, measured="5", printed="5.00")
    assert group_of(before, before.model_copy(update=change)) == group


def test_another_counterexample_is_no_change() -> None:
    found = [check(DIFFERS, kind=CheckKind.EQUATION, counterexample=(text,)) for text in ("x = 1", "x = 2")]
    assert group_of(*found) == "same"


@pytest.mark.parametrize(
    ("verdict", "acknowledged", "worse"),
    [(DIFFERS, False, True), (DIFFERS, True, False), (BROKEN, None, True), (HOLDS, None, False)],
)
def test_a_new_check_makes_it_worse_if_it_fails_the_run(
    verdict: Verdict, acknowledged: bool | None, worse: bool
) -> None:
    found = diff_audits(audit(), audit(check(verdict, acknowledged)))
    assert (found.got_worse, len(found.new)) == (worse, 1)
    assert not diff_audits(audit(check(verdict, acknowledged)), audit()).got_worse


def test_what_fails_now_comes_first() -> None:
    names = "abcd"
    before = [check(verdict, id=name) for name, verdict in zip(names, (OPEN, HOLDS, UNDER, HOLDS), strict=True)]
    after = [check(verdict, id=name) for name, verdict in zip(names, (DIFFERS, UNDER, DIFFERS, BROKEN), strict=True)]
    assert "".join(one.id for one in diff_audits(audit(*before), audit(*after)).worse) == "cdab"


def test_versions() -> None:
    found = diff_audits(audit(versions={"torch": "2.6", "timm": "1"}), audit(versions={"torch": "2.7", "fvcore": "1"}))
    assert found.versions == (
        VersionChange(library="fvcore", after="1"),
        VersionChange(library="timm", before="1"),
        VersionChange(library="torch", before="2.6", after="2.7"),
    )
