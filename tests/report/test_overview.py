"""The first screen of an audit: short, worst first, and enough to ask further."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.records.check import NO_MODEL, Caught, CheckKind, OptionHint, Power, Verdict
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult
from imlp_audit.report.findings import worst_first
from imlp_audit.report.first_screen import first_screen, overview
from imlp_audit.report.terminal import Surface, render_terminal

from .results import check, head, result

TEXTS = st.sampled_from(("short", "a text of some words " * 6, "longwordwithoutspaces" * 9, "中文" * 80))


@st.composite
def findings_of(draw: st.DrawFn) -> AuditResult:
    """A result with up to thirty findings, acknowledged and not, and texts of any length."""
    text = draw(TEXTS)
    known = draw(st.lists(st.booleans(), max_size=30))
    checks = [
        check(f"claims/c{at}", CheckKind.CLAIM, Verdict.DIFFERS, text, printed=text, finding=f"f{at}", acknowledged=one)
        for at, one in enumerate(known)
    ]
    checks += [
        check(f"1/r{at}/top1", CheckKind.CELL, Verdict.DIFFERS, text, printed="1")
        for at in range(draw(st.integers(0, 5)))
    ]
    checks += [check(f"1/e{at}/top1", CheckKind.CELL, Verdict.ERROR, "broke") for at in range(draw(st.integers(0, 5)))]
    checks += [check(f"1/u{at}/top1", CheckKind.CELL, Verdict.UNVERIFIABLE, f"needs {at} {text}") for at in range(9)]
    found = tuple(
        Finding(
            id=f"f{at}",
            paper="p",
            title=text,
            kind=list(FindingKind)[at % 3],
            why=text,
            checks=(f"p/claims/c{at}",),
            acknowledged=one,
        )
        for at, one in enumerate(known)
    )
    return AuditResult(papers=(head(),), versions={}, checks=tuple(checks), findings=found)


def screen(result: AuditResult, width: int = 80) -> str:
    return render_terminal(first_screen(result), Surface(width))


@given(result=findings_of())
def test_a_screen_lists_a_few_points_and_counts_the_rest(result: AuditResult) -> None:
    shown = screen(result)
    listed = len(re.findall(r"^- F\d+\b", shown, re.MULTILINE))
    more = re.search(r"^- (\d+) more points?: --all$", shown, re.MULTILINE)
    asked = re.search(r"^Ask the authors \((\d+)\)$", shown, re.MULTILINE)
    assert listed <= 10
    assert listed + (int(more[1]) if more else 0) == (int(asked[1]) if asked else 0)
    assert len(shown.splitlines()) <= 100  # texts are cut at a number of characters, and wide ones take two columns


@given(result=findings_of())
def test_what_fails_the_run_comes_first(result: AuditResult) -> None:
    shown = screen(result, 200)
    failing = [finding for finding in worst_first(result) if not finding.acknowledged]
    asked = [finding for finding in worst_first(result) if finding.kind is FindingKind.ASK or finding in failing]
    assert (f"Ask the authors ({len(asked)})\n" in shown) == bool(asked)
    if failing:
        first = failing[0]
        assert not first.explained or not result.unexplained()
        assert shown.index("Ask the authors") < shown.index(first.checks[0]) < shown.index("imlp-audit explain p/")
        assert " the run)" in shown


def test_the_lines_of_trust_say_what_was_counted_fitted_and_left_open() -> None:
    power = Power(one=Caught(caught=3, tried=4), ten=Caught(caught=38, tried=40))
    cells = [
        check("1/r0/params", CheckKind.CELL, Verdict.REPRODUCED, power=power),
        check("1/r1/params", CheckKind.CELL, Verdict.REPRODUCED_UNDER, power=power, fitted=True, weak=True),
        check("1/r2/params", CheckKind.CELL, Verdict.DIFFERS, finding="f", acknowledged=True, weak=True, fitted=True),
        check("1/r3/top1", CheckKind.CELL, Verdict.UNVERIFIABLE, "it needs trained weights", unguarded=True),
        check("claims/c", CheckKind.CLAIM, Verdict.REPRODUCED, charitable="about is taken as within a tenth"),
        *(check(f"claims/c{at}", CheckKind.CLAIM, Verdict.REPRODUCED) for at in range(5)),
    ]
    lacking = head().model_copy(update={"lacks": "The stored text has lost its figures."})
    shown = " ".join(screen(AuditResult(papers=(lacking,), versions={}, checks=tuple(cells)), 300).split())
    counted = "counted 3 of 4 numbers; 2 follow, 1 of them only under another reading, counter or rounding."
    assert f"{counted} Of 40 wrong digits put into 1 of these, 38 were caught." in shown  # a fitted number counts apart
    assert "doubtful 1 of 2 follow by a counter fitted to them, which proves little; 1 may be luck" in shown
    unchecked = "unchecked 1 number for want of trained weights; a typo in 1 of 1 other number would go unnoticed; "
    assert f"{unchecked}1 claim holds only in the most charitable meaning. The stored text has lost" in shown
    assert "For CI: 8 hold, 1 fails (known), 1 cannot be decided." in shown


def test_notes_are_counted_and_misprints_take_a_line() -> None:
    kinds = (FindingKind.MISPRINT, FindingKind.MISPRINT, FindingKind.NOTE)
    found = tuple(
        one.model_copy(update={"kind": kind}) for one, kind in zip(with_findings(3).findings, kinds, strict=True)
    )
    shown = screen(with_findings(3).model_copy(update={"findings": found}), 200)
    assert "misprints  F1 Title 0; 1 more\n" in shown
    assert "1 note: --all." in shown
    assert "Title 2" not in shown


def test_checks_that_broke_and_checks_that_fail_are_named() -> None:
    shown = screen(result(), 200)
    assert "p/1/r5/params" in shown
    assert shown.index("could not be completed\n") < shown.index("Ask the authors (") < shown.index("For CI: ")
    changed = "1 acknowledged check has changed (p/1/gone/params); run imlp-audit acknowledge once you understand why."
    assert changed in shown


def test_one_cause_is_named_once_and_its_checks_are_counted() -> None:
    broken = tuple(
        check(f"1/r{row}/params", CheckKind.CELL, Verdict.ERROR, f"no model {name!r}", printed="5.72")
        for row, name in enumerate("aaab")
    )
    shown = screen(AuditResult(papers=(head(),), versions={}, checks=broken), 200)
    assert shown.count("no model 'a'") == shown.count("no model 'b'") == 1
    assert "no model 'a' (" in shown
    assert "; and 2 more checks)" in shown


def test_a_few_selected_checks_are_listed_one_by_one() -> None:
    one = check("1/r0/params", CheckKind.CELL, Verdict.REPRODUCED, "prints as 5.72", printed="5.72")
    shown = screen(AuditResult(papers=(head(),), versions={}, checks=(one,)))
    assert "- reproduced p/1/r0/params printed 5.72: prints as 5.72\n" in shown
    assert "counted  1; 1 follow.\n" in shown
    assert "No check fails." in shown


def test_what_the_reader_can_decide_at_once_comes_first() -> None:
    reasons = ["needs weights"] * 9 + ["the Python in p was not run; pass --trust-code"]
    checks = tuple(
        check(f"1/r{at}/params", CheckKind.CELL, Verdict.UNVERIFIABLE, reason, printed="5.72")
        for at, reason in enumerate(reasons)
    )
    shown = " ".join(screen(AuditResult(papers=(head(),), versions={}, checks=checks)).split())
    assert "10 numbers, 1 where the Python beside the spec was not run (--trust-code runs it)" in shown


def test_next_commands_name_the_file_that_was_given() -> None:
    audited = result()
    shown = render_terminal(first_screen(audited, ["my paper.yaml"]), Surface(200))
    assert "\nimlp-audit report 'my paper.yaml' --dir DIR\n" in shown
    assert "/acknowledged" not in shown.partition("Try next")[2]
    assert re.search(r"\nimlp-audit explain p/\S+ 'my paper.yaml'\n", shown)


PLACED = (
    check("1/r0/params", CheckKind.CELL, Verdict.DIFFERS, place="Table 1, R0, Params", finding="f", acknowledged=True),
    check("1/r0/params.delta", CheckKind.DELTA, Verdict.DIFFERS, place="Table 1, R0, Params, change", finding="f",
          acknowledged=True),
    check("claims/c", CheckKind.CLAIM, Verdict.DIFFERS, place="Abstract", finding="f", acknowledged=True),
)  # fmt: skip


def with_findings(count: int) -> AuditResult:
    """So many known findings, the first with a cell, its change and a claim."""
    others = [check(f"claims/c{at}", CheckKind.CLAIM, Verdict.DIFFERS, place=f"Sec. {at}", finding=f"f{at}",
                    acknowledged=True) for at in range(1, count)]  # fmt: skip
    found = [
        Finding(id=f"f{at or ''}", paper="p", title=f"Title {at}", kind=FindingKind.ASK, why="w", acknowledged=True,
                checks=(f"p/claims/c{at}",) if at else tuple(one.id for one in PLACED))
        for at in range(count)
    ]  # fmt: skip
    return AuditResult(papers=(head(),), versions={}, checks=(*PLACED, *others), findings=tuple(found))


def test_findings_name_their_places_in_the_paper() -> None:
    shown = screen(with_findings(1), 200)
    assert "- F1 Title 0 [Table 1, R0, Params; and 1 more]\n" in shown
    assert "specs/p/paper.yaml" not in shown
    shown = screen(with_findings(60))
    assert "- F1 Title 0 [Table 1, R0, Params; and 1 more]\n- F2 Title 1 [Sec. 1]\n" in shown
    assert "- F6 Title 5 [Sec. 5]\n- 54 more points: --all\n" in shown


def test_a_report_lists_every_finding_on_its_first_screen() -> None:
    written = render_terminal(overview(with_findings(60), every=True), Surface(80))
    assert len(re.findall(r"^- F\d+ Title \d+ \[", written, re.MULTILINE)) == 60
    assert "more point" not in written


def test_nothing_is_said_to_hold_where_no_check_was_completed() -> None:
    broken = check("1/r0/params", CheckKind.CELL, Verdict.ERROR, "broke")
    passing = check("1/r1/params", CheckKind.CELL, Verdict.REPRODUCED)
    for checks, said in (
        ((broken,), "No check was completed."),
        ((broken, passing), "No check that was completed fails."),
    ):
        shown = screen(AuditResult(papers=(head(),), versions={}, checks=checks))
        assert f"\n{said}\n" in shown
        assert "No check fails" not in shown


def test_an_audit_that_decided_nothing_is_no_pass() -> None:
    missing = [check(f"1/r{n}/params", CheckKind.CELL, Verdict.UNVERIFIABLE, NO_MODEL) for n in range(3)]
    score = check("1/r0/top1", CheckKind.CELL, Verdict.UNVERIFIABLE, "needs trained weights")
    passing = check("1/r1/params", CheckKind.CELL, Verdict.REPRODUCED)
    shown = " ".join(screen(AuditResult(papers=(head(),), versions={}, checks=(*missing, score))).split())
    assert "Nothing was checked, and nothing is confirmed: 4 checks cannot be decided" in shown
    assert "; for 3, the spec gives no model." in shown
    assert "No check fails" not in shown
    held = screen(AuditResult(papers=(head(),), versions={}, checks=(score, passing)))
    assert "No check fails." in held


def test_what_several_checks_of_a_finding_are_hinted_is_shown_with_their_count() -> None:
    cut, other = ({"missing": (kind,), kind: name} for kind, name in (("rounding", "truncation"), ("reading", "macs")))
    ways = [OptionHint(value=str(n), **options) for n, options in ((7, cut), (8, cut), (9, other))]
    cells = [
        check(f"1/r{n}/params", CheckKind.CELL, Verdict.DIFFERS, "off", printed="5.72", gap=str(n), hints=(hint,))
        for n, hint in enumerate(ways)
    ]
    shown = " ".join(screen(AuditResult(papers=(head(),), versions={}, checks=tuple(cells))).split())
    assert "hint: 2 of these 3 would fit under rounding truncation" in shown
    assert "hint: 9 would fit under reading macs" in shown  # of the worst
    shown = " ".join(screen(AuditResult(papers=(head(),), versions={}, checks=tuple(cells[:2]))).split())
    assert shown.count("rounding truncation") == 1


def test_of_several_cells_that_nothing_explains_the_worst_is_shown() -> None:
    cells = [
        check(f"1/{row}/params", CheckKind.CELL, Verdict.DIFFERS, f"gap {gap}", printed="5.72", gap=gap)
        for row, gap in (("near", "1.8"), ("far", "-79.5"), ("mid", "7"))
    ]
    shown = screen(AuditResult(papers=(head(),), versions={}, checks=tuple(cells)))
    assert "gap -79.5" in shown
    assert "gap 1.8" not in shown
