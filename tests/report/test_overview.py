"""The first screen of an audit: short, worst first, and enough to ask further."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.records.check import NO_MODEL, CheckKind, Verdict
from imlp_audit.records.finding import Finding, Severity
from imlp_audit.records.hint import ModelHint, OptionHint
from imlp_audit.records.hypothesis import Caught, ColumnScore, FitScore, GroupScore, PaperHypothesis, Power
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Heading
from imlp_audit.report.fitting import shorten
from imlp_audit.report.formats import Surface
from imlp_audit.report.overview import first_screen, overview
from imlp_audit.report.paper import report_document
from imlp_audit.report.ranking import worst_first
from imlp_audit.report.terminal import render_terminal

from .results import check, head, mixed, result

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
            severity=list(Severity)[at % 4],
            why=text,
            checks=(f"p/claims/c{at}",),
            acknowledged=one,
        )
        for at, one in enumerate(known)
    )
    return AuditResult(papers=(head(),), versions={}, checks=tuple(checks), findings=found, hypotheses={"p": judged()})


def judged() -> PaperHypothesis:
    power = Power(one=Caught(caught=3, tried=4), ten=Caught(caught=38, tried=40))
    reading = GroupScore(
        name="imlp", winner="released", votes=44, scores={"as_written": 8, "released": 39}, chance=4, choice="clear"
    )
    column = GroupScore(
        name="1/params", winner="all", votes=4, scores={"all": 2, "no_head": 1}, chance=1, choice="weak"
    )
    columns = (ColumnScore(group=column, passing=2, by_chance="0.3", power=power),)
    return PaperHypothesis(rounding="half_up", explained=41, votes=48, readings=(reading,), columns=columns)


def screen(result: AuditResult, width: int = 80) -> str:
    return render_terminal(first_screen(result), Surface(width))


def test_a_column_of_two_counters_is_called_mixed() -> None:
    hypothesis = judged()
    (column,) = hypothesis.columns
    two = column.group.model_copy(update={"choice": "mixed", "rival": "no_head", "alone": {"no_head": 1}})
    both = hypothesis.model_copy(update={"columns": (column.model_copy(update={"group": two}),)})
    one = check("1/a/params", CheckKind.CELL, Verdict.REPRODUCED, "t", printed="t")
    result = AuditResult(papers=(head(),), versions={}, checks=(one,), findings=(), hypotheses={"p": both})
    assert "explains 2 of 4 numbers (no_head 1; by chance up to 1; mixed)" in " ".join(screen(result, 400).split())


@given(result=findings_of())
def test_a_paper_takes_forty_lines_whatever_is_found(result: AuditResult) -> None:
    assert len(screen(result).splitlines()) <= 40


def test_a_known_finding_that_is_only_counted_takes_its_lines_from_the_others() -> None:
    known = [True] + [False] * 12
    checks = [
        check(f"claims/c{at}", CheckKind.CLAIM, Verdict.DIFFERS, "t", printed="t", finding=f"f{at}", acknowledged=one)
        for at, one in enumerate(known)
    ]
    checks += [check(f"1/u{at}/top1", CheckKind.CELL, Verdict.UNVERIFIABLE, f"needs {at}") for at in range(9)]
    found = tuple(
        Finding(
            id=f"f{at}",
            paper="p",
            title="t",
            severity=Severity.ERROR,
            why="t",
            checks=(f"p/claims/c{at}",),
            acknowledged=one,
        )
        for at, one in enumerate(known)
    )
    shown = AuditResult(papers=(head(),), versions={}, checks=tuple(checks), findings=found, hypotheses={"p": judged()})
    assert len(screen(shown).splitlines()) <= 40


@given(result=findings_of())
def test_what_fails_the_run_comes_first_and_the_rest_is_counted(result: AuditResult) -> None:
    shown = screen(result, 200)
    open_ = [finding for finding in result.findings if not finding.acknowledged]
    counts = [len([f for f in result.findings if f.acknowledged]), len(open_) + len(result.unexplained())]
    headings = [line for line in shown.splitlines() if re.match(r"\d+ (known )?findings? \(", line)]
    assert len(headings) == sum(count > 0 for count in counts)
    if all(counts):
        assert headings[0].endswith(("fails the run", "fail the run"))
        assert "known" in headings[1]
    for first in worst_first(result)[: any((*open_, *result.unexplained()))]:  # the rest may be counted only
        assert not first.explained or not result.unexplained()
        assert shown.index(headings[0]) < shown.index(first.checks[0]) < shown.index("imlp-audit explain p/")


def test_the_first_screen_says_what_was_checked_with_its_power_and_what_it_was_read_as() -> None:
    counted, fitted = (Power(one=Caught(caught=n, tried=2), ten=Caught(caught=9 * n, tried=20)) for n in (1, 2))
    cells: list[dict[str, Any]] = [{"power": counted}, {"power": counted}, {"power": fitted, "fitted": True}, {}]
    checks = tuple(
        check(f"1/r{n}/params", CheckKind.CELL, Verdict.REPRODUCED, printed="5.72", **more)
        for n, more in enumerate(cells)
    )
    one = AuditResult(papers=(head(),), versions={}, checks=checks, hypotheses={"p": judged()})
    shown = " ".join(screen(one, 200).split())
    power = (
        "Power: 18 of 40 wrong numbers in place of counted ones (2 of 4 one last digit away); 18 of 20 wrong numbers"
    )
    assert f"{power} in place of fitted ones (2 of 2 one last digit away) would have been caught;" in shown
    assert "it speaks of 3 of the 4 numbers." in shown
    assert "fitted anew, they may absorb a wrong digit." in shown
    assert "reading released, which explains 39 of 44 numbers (as_written 8; by chance up to 4)" in shown
    column = "convention all in plain words of Table 1, which explains 2 of 4 numbers"
    assert f"{column} (no_head 1; by chance up to 1; weak)" in shown


def test_a_fitted_counter_is_held_against_the_chance_of_its_search() -> None:
    fit = FitScore(explained=3, of=4, by_chance=3)
    columns = (judged().columns[0].model_copy(update={"fit": fit}),)
    hypothesis = judged().model_copy(update={"columns": columns})
    passing = check("1/r0/params", CheckKind.CELL, Verdict.REPRODUCED, printed="5.72")
    one = AuditResult(papers=(head(),), versions={}, checks=(passing,), hypotheses={"p": hypothesis})
    shown = " ".join(screen(one, 200).split())
    assert "of Table 1, which explains 2 of 4 numbers (no_head 1; by chance up to 3; weak)" in shown
    whole = " ".join(render_terminal(report_document(one), Surface(200)).split())
    assert re.search(r"column 1/params all weak all 2, no_head 1 4 3 ", whole)


def test_passes_that_may_be_luck_or_were_fitted_say_so_one_by_one() -> None:
    weak = check("1/r0/params", CheckKind.CELL, Verdict.REPRODUCED, printed="5.72", weak=True)
    under: dict[str, Any] = {"under": ("reading a", "convention b"), "fitted": True, "weak": True}
    fitted = check("1/r1/params", CheckKind.CELL, Verdict.REPRODUCED_UNDER, **under)
    fails = check("1/r2/params", CheckKind.CELL, Verdict.DIFFERS, weak=True, fitted=True)  # marks are of passes
    shown = screen(AuditResult(papers=(head(),), versions={}, checks=(weak, fitted, fails)), 200)
    assert "- reproduced, weak p/1/r0/params printed" in shown
    assert "- reproduced under reading a, convention b, fitted, weak p/1/r1/params" in shown
    assert "differs, " not in shown
    assert "1 pass proves little: the counter was fitted to this very number, and its weights were kept" in shown
    assert "2 passes may be luck" in shown


def test_columns_whose_choice_is_not_written_out_are_counted() -> None:
    hypothesis = judged().model_copy(update={"columns": (judged().columns[0],) * 3})
    passing = check("1/r0/params", CheckKind.CELL, Verdict.REPRODUCED, printed="5.72")
    one = AuditResult(papers=(head(),), versions={}, checks=(passing,), hypotheses={"p": hypothesis})
    assert "; the conventions of 2 more columns, 2 weak\n" in screen(one, 200)


def test_rows_that_state_their_own_counter_are_counted() -> None:
    shown = screen(mixed(), 200)
    assert "judged under  counters of their own for 3 rows (fvcore 1, macs 2)\n" in shown


def test_checks_that_broke_and_checks_that_fail_are_named() -> None:
    shown = screen(result(), 200)
    assert "p/1/r5/params" in shown
    assert (
        shown.index("could not be completed\n")
        < shown.index("that fail the run\n")
        < shown.index("1 known finding (5 checks), listed in findings.yaml: it does not fail the run")
    )
    changed = "1 known check has changed (p/1/gone/params); run imlp-audit baseline once you understand why."
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


def test_what_fails_shows_the_hint_that_may_be_its_cause() -> None:
    one = check("1/r0/params", CheckKind.CELL, Verdict.DIFFERS, "outside", printed="5.72")
    one = one.model_copy(update={"hints": ("5.72 fits with unit M, where 5 717 416 is measured",)})
    finding = Finding(
        id="p/1/params", paper="p", title="Wrong", severity=Severity.ERROR, why="", checks=(one.id,), explained=False
    )
    shown = screen(AuditResult(papers=(head(),), versions={}, checks=(one,), findings=(finding,)), 200)
    assert "hint: 5.72 fits with unit M" in shown


def test_a_few_selected_checks_are_listed_one_by_one() -> None:
    one = check("1/r0/params", CheckKind.CELL, Verdict.REPRODUCED, "prints as 5.72", printed="5.72")
    shown = screen(AuditResult(papers=(head(),), versions={}, checks=(one,)))
    assert "- reproduced p/1/r0/params printed 5.72: prints as 5.72\n" in shown
    assert "Checked 1 number: 1 holds." in shown
    assert "No check fails." in shown


def test_what_the_reader_can_decide_at_once_comes_first_and_a_single_reason_is_named() -> None:
    reasons = ["needs weights"] * 9 + ["the Python in p was not run; pass --trust-code", "the spec gives no model"]
    for more, end in (
        ([], "; 9 need weights"),
        (["needs images"], "; 10 for 2 other reasons, which their checks name"),
    ):
        checks = tuple(
            check(f"1/r{at}/params", CheckKind.CELL, Verdict.UNVERIFIABLE, reason, printed="5.72")
            for at, reason in enumerate([*reasons, *more])
        )
        shown = screen(AuditResult(papers=(head(),), versions={}, checks=checks))
        first = "1 where the Python beside the spec was not run (--trust-code runs it); 1 where the spec gives no model"
        assert f"undecided {first}{end} " in " ".join(shown.split())


def test_an_acknowledged_check_of_a_few_says_what_was_found() -> None:
    more = {"finding": "f", "acknowledged": True, "printed": "1 = 2"}
    known = check("equations/a", CheckKind.EQUATION, Verdict.DIFFERS, "false for x = 1", **more)
    shown = screen(AuditResult(papers=(head(),), versions={}, checks=(known,)))
    assert "- differs, known p/equations/a printed 1 = 2: false for x = 1\n" in shown


def test_commands_that_show_more_are_those_of_the_command() -> None:
    again = ["properties", "eq2 *", "--all"]
    shown = render_terminal(first_screen(result(), [], [again]), Surface(200)).partition("Try next\n")[2]
    assert re.fullmatch(r"imlp-audit explain p/\S+\nimlp-audit properties 'eq2 \*' --all\n", shown)


def test_next_commands_name_the_file_that_was_given() -> None:
    audited = result()
    shown = render_terminal(first_screen(audited, ["my paper.yaml"]), Surface(200))
    assert "\nimlp-audit verify 'my paper.yaml' --all\n" in shown
    assert "/acknowledged" not in shown.partition("Try next")[2]
    assert re.search(r"\nimlp-audit explain p/\S+ 'my paper.yaml'\n", shown)


def test_an_overview_has_no_title_of_its_own() -> None:
    assert not any(isinstance(block, Heading) and block.level < 3 for block in overview(result()))


def test_long_texts_end_at_a_word() -> None:
    assert shorten("one two three", 13) == "one two three"
    assert shorten("one two three four", 13) == "one two..."
    assert shorten("x" * 20, 10) == "xxxxxxx..."


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
        Finding(id=f"f{at or ''}", paper="p", title=f"Title {at}", severity=Severity.ERROR, why="w", acknowledged=True,
                checks=(f"p/claims/c{at}",) if at else tuple(one.id for one in PLACED))
        for at in range(count)
    ]  # fmt: skip
    return AuditResult(papers=(head(),), versions={}, checks=(*PLACED, *others), findings=tuple(found))


def test_a_finding_names_its_places_in_the_paper_and_not_the_lines_of_the_spec() -> None:
    shown = screen(with_findings(1), 200)
    assert "- F1 error: Title 0 [Table 1, R0, Params; and 1 more]: p/1/r0/params\n" in shown
    assert "specs/p/paper.yaml" not in shown


def test_the_five_worst_have_their_places_others_their_titles_and_the_rest_is_counted() -> None:
    shown = screen(with_findings(60))
    assert (
        "- F1 error: Title 0 [Table 1, R0, Params; and 1 more]: p/1/r0/params\n- F2 error: Title 1 [Sec. 1]\n" in shown
    )
    assert "- F5 error: Title 4 [Sec. 4]\n- F6 error: Title 5\n" in shown
    listed = len(re.findall(r"^- F\d+ ", shown, re.MULTILINE))
    assert 10 < listed < 60
    assert f"- {60 - listed} more findings: --all lists every one\n" in shown


def test_a_report_lists_every_finding_on_its_first_screen() -> None:
    written = render_terminal(overview(with_findings(60), None), Surface(80))
    assert len(re.findall(r"^- F\d+ error: Title \d+ \[", written, re.MULTILINE)) == 60
    assert "more finding" not in written


def test_a_wider_terminal_shows_more_titles() -> None:
    long = with_findings(60)
    long = long.model_copy(update={"findings": tuple(
        one.model_copy(update={"title": f"{one.title} of some more words than fit into eighty columns of a terminal"})
        for one in long.findings
    )})  # fmt: skip
    counts = [
        len(re.findall(r"^- F\d+ ", render_terminal(first_screen(long, columns=width), Surface(width)), re.MULTILINE))
        for width in (80, 120)
    ]
    assert counts[1] > counts[0]


def test_changes_and_claims_count_once_although_measured_values_are_checked_too() -> None:
    names = (("1/r0/params.delta", CheckKind.DELTA), ("claims/c", CheckKind.CLAIM))
    checks = tuple(check(f"{name}{end}", kind, Verdict.REPRODUCED) for name, kind in names for end in ("", ".measured"))
    shown = screen(AuditResult(papers=(head(),), versions={}, checks=checks))
    assert "Checked 1 printed change and 1 claim in 4 checks: 4 hold." in " ".join(shown.split())


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
    assert "imlp-audit eval" not in shown  # there is no model that weights could be of
    held = screen(AuditResult(papers=(head(),), versions={}, checks=(score, passing)))
    assert "No check fails." in held
    assert "imlp-audit eval" in held


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
    hints = (ModelHint(model="timm: a"), ModelHint(model="timm: b", gap="0.1"), ModelHint(model="timm: c"))
    sized = [one.model_copy(update={"hints": (hint,)}) for one, hint in zip(cells, hints, strict=True)]
    shown = " ".join(screen(AuditResult(papers=(head(),), versions={}, checks=tuple(sized))).split())
    assert "hint: 3 of these 3 are as printed, or nearly, with another form or size of their model" in shown


def test_of_several_cells_that_nothing_explains_the_worst_is_shown() -> None:
    cells = [
        check(f"1/{row}/params", CheckKind.CELL, Verdict.DIFFERS, f"gap {gap}", printed="5.72", gap=gap)
        for row, gap in (("near", "1.8"), ("far", "-79.5"), ("mid", "7"))
    ]
    shown = screen(AuditResult(papers=(head(),), versions={}, checks=tuple(cells)))
    assert "gap -79.5" in shown
    assert "gap 1.8" not in shown


def test_what_the_audited_text_lacks_is_said() -> None:
    lacking = head().model_copy(update={"lacks": "The stored text has lost its tables."})
    shown = screen(AuditResult(papers=(lacking,), versions={}, checks=(PLACED[0],)), 200)
    assert "Checked 1 number: 1 fails (known). The stored text has lost its tables.\n" in shown
