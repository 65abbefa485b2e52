"""The report for a terminal: every finding at every width, text as the paper has it, colours only where wanted."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from imlp_audit.records.check import CheckKind, Verdict
from imlp_audit.records.document import from_json, to_json
from imlp_audit.records.result import AuditResult
from imlp_audit.report.audit_terminal import terminal
from imlp_audit.report.formats import Format, Surface
from imlp_audit.report.layout import GRAVEST_FIRST, findings
from imlp_audit.report.registry import FORMATS

from .results import HOSTILE, check, head, result

WIDTHS = (40, 80, 200)
ESCAPE = "\x1b["


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("text", HOSTILE)
def test_every_finding_is_shown_whole_at_every_width(width: int, text: str) -> None:
    audited = result(text)
    shown = terminal(audited, width, colour=False)
    found = findings(audited)
    assert len(found) == sum(one.verdict in GRAVEST_FIRST for one in audited.checks) > 0
    assert all(f" {finding.id}{' printed ' if finding.printed else ''}" in shown for finding in found)
    reason = text.replace("\r", "")  # rich leaves carriage returns out
    assert shown.count(f"\n  {reason}\n  ") == len(found)
    assert "specs/p/paper.yaml:7" in shown


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_of_a_table_is_wider_than_the_terminal(width: int) -> None:
    lines = terminal(result("a rather long text that has to be cut or wrapped"), width, colour=False).splitlines()
    boxed = [line for line in lines if line and line[0] in "┏┃┡│└"]
    assert boxed
    assert all(cell_len(line) <= width for line in boxed)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_papers_text_is_shown_as_it_is(text: str) -> None:
    shown = terminal(result(text), 400, colour=False)
    assert f"p {text}".replace("\r", "") in shown


def test_an_error_without_a_number_is_not_told_to_print_none() -> None:
    assert "None" not in terminal(result(), 200, colour=False)


def test_colours_are_there_only_where_they_are_wanted() -> None:
    assert ESCAPE in terminal(result(), 80, colour=True)
    assert ESCAPE not in terminal(result(), 80, colour=False)


@pytest.mark.parametrize("id_", ["1/r0/params.delta", "1/r0/params.delta.measured"])
def test_a_printed_change_that_is_alone_is_counted(id_: str) -> None:
    one = check(id_, CheckKind.DELTA, Verdict.REPRODUCED, printed="-12.6%")
    shown = terminal(AuditResult(papers=(head(),), versions={}, checks=(one,)), 80, colour=False)
    assert "printed changes against the" in shown


@pytest.mark.parametrize("format_", list(Format))
def test_a_format_is_a_pure_function_of_the_result(format_: Format) -> None:
    audited = result()
    before = to_json(audited)
    texts = {FORMATS[format_](audited, Surface(80)) for _ in range(2)}
    assert len(texts) == 1
    assert to_json(audited) == before


@pytest.mark.parametrize("text", HOSTILE)
def test_a_result_survives_its_json(text: str) -> None:
    assert from_json(AuditResult, to_json(result(text)), "r.json") == result(text)
