"""The short report for a terminal: every finding at every width, text as in the paper, colours only if asked for."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from imlp_audit.records.check import FAILS, CheckKind, Verdict
from imlp_audit.records.document import from_json, to_json
from imlp_audit.records.result import AuditResult
from imlp_audit.report.formats import Surface
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.paper import report_document, summary_document
from imlp_audit.report.terminal import render_terminal
from imlp_audit.report.verdicts import word_of

from .results import HOSTILE, check, full, head, mixed, result

WIDTHS = (40, 80, 200)
ESCAPE = "\x1b["


def terminal(result: AuditResult, width: int, *, colour: bool) -> str:
    return render_terminal(summary_document(result), Surface(width, colour))


def squeeze(text: str) -> str:
    """A text without spaces and line breaks: what is left of it however it is wrapped."""
    return "".join(text.split())


@pytest.mark.daily(12)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("text", HOSTILE)
def test_every_finding_is_shown_whole_at_every_width(width: int, text: str) -> None:
    audited = result(text)
    shown = squeeze(terminal(audited, width, colour=False).partition("\nTable 1: ")[0])
    failing = [one for one in audited.checks if one.verdict in (*FAILS, Verdict.ERROR) and not one.acknowledged]
    assert len(failing) > 5
    for one in failing:
        printed = f" printed {one.printed}" if one.printed else ""
        verdict = word_of(one.verdict).replace("_", " ")
        assert squeeze(f"{verdict} {one.id}{printed} - {text}") in shown
    assert "specs/p/paper.yaml:7" in shown
    assert squeeze(f"p/1/gone/params: {text}") in shown


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = terminal(result("a rather long text that has to be wrapped"), width, colour=False).splitlines()
    assert max(map(cell_len, lines)) <= width


@pytest.mark.daily(6)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_papers_text_is_shown_as_it_is(text: str) -> None:
    shown = terminal(result(text), 400, colour=False)
    assert f"p {' '.join(text.replace(chr(13), '').split(chr(10)))}\n" in shown


def test_an_error_without_a_number_does_not_print_none() -> None:
    assert "None" not in terminal(result(), 200, colour=False)


def test_colours_are_there_only_where_they_are_wanted() -> None:
    assert ESCAPE in terminal(result(), 80, colour=True)
    assert ESCAPE not in terminal(result(), 80, colour=False)


@pytest.mark.parametrize("id_", ["1/r0/params.delta", "1/r0/params.delta.measured"])
def test_a_printed_change_without_its_number_is_counted(id_: str) -> None:
    one = check(id_, CheckKind.DELTA, Verdict.REPRODUCED, printed="-12.6%")
    shown = terminal(AuditResult(papers=(head(),), versions={}, checks=(one,)), 80, colour=False)
    assert "printed changes against the" in shown


@pytest.mark.parametrize(
    ("change", "as_measured", "told"),
    [
        (Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER, "reproduced"),
        (Verdict.INCONSISTENT, Verdict.REPRODUCED, "reproduced; change: inconsistent"),
        (Verdict.REPRODUCED, Verdict.DIFFERS, "reproduced; change as measured: differs"),
        (Verdict.INCONSISTENT, Verdict.DIFFERS, "reproduced; change: inconsistent; change as measured: differs"),
        (None, Verdict.UNVERIFIABLE, "reproduced; change as measured: unverifiable"),
    ],
)
def test_a_number_stands_with_the_verdict_on_its_printed_change(
    change: Verdict | None, as_measured: Verdict, told: str
) -> None:
    checks = [
        check("1/r0/params", CheckKind.CELL, Verdict.REPRODUCED, printed="5.00", unit="M", measured="4998184"),
        check("1/r0/params.delta.measured", CheckKind.DELTA, as_measured, printed="-12.6"),
    ]
    if change is not None:
        checks.append(check("1/r0/params.delta", CheckKind.DELTA, change, printed="-12.6"))
    shown = terminal(AuditResult(papers=(head(),), versions={}, checks=tuple(checks)), 200, colour=False)
    (line,) = [line for line in shown.splitlines() if "4 998 184" in line]
    assert line.rstrip().endswith(f" {told}")


def test_every_check_has_its_marks_and_every_column_its_scores() -> None:
    audited = full()
    shown = " ".join(terminal(audited, 300, colour=False).split())
    assert "5 717 416 -0.3 reproduced under plain words, fitted, weak" in shown
    assert "macs, which explains 22 of 22 (fvcore 3), a clear choice" in shown
    assert "395 of 400 wrong numbers within ten last digits would not have passed" in shown
    assert "2 reproduced_under (1 fitted, 1 weak)" in shown


def test_every_format_for_people_says_which_rows_state_their_own_counter() -> None:
    said = "counters of their own for 3 rows: fvcore for r0 (because: it fits); macs for r1, r2 (because: it fits)"
    assert said in terminal(mixed("it fits"), 200, colour=False)
    assert said in render_markdown(report_document(mixed("it fits")))
    assert from_json(AuditResult, to_json(mixed()), "r.json") == mixed()
    assert "counters" not in to_json(result())


def test_a_report_is_a_pure_function_of_the_result() -> None:
    audited = result()
    before = to_json(audited)
    assert terminal(audited, 80, colour=True) == terminal(audited, 80, colour=True)
    assert to_json(audited) == before


@pytest.mark.parametrize("text", HOSTILE)
def test_a_result_survives_its_json(text: str) -> None:
    assert from_json(AuditResult, to_json(result(text)), "r.json") == result(text)
