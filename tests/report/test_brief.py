"""The short form of a report: small enough for a comment, in the same order, and open about what it leaves out."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from imlp_audit.records.check import CheckKind, Verdict
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Heading, Paragraph
from imlp_audit.report.markdown import LIMIT, render_markdown, render_short
from imlp_audit.report.paper import report_document

from .results import check, full, head, result

PARSER = MarkdownIt("commonmark").enable("table")
REASON = "a reason of some words " * 6
KEPT = sorted((Path(__file__).parents[2] / "reports").glob("*.md"))


def many(findings: int, rows: int, text: str) -> AuditResult:
    """A result with so many findings of so many claims each."""
    names = [[f"claims/f{at}x{row}" for row in range(rows)] for at in range(findings)]
    checks = [
        check(name, CheckKind.CLAIM, Verdict.DIFFERS, f"{text} {name}", printed=text, finding=f"f{at}")
        for at, group in enumerate(names)
        for name in group
    ]
    checks += [check(f"claims/ok{at}", CheckKind.CLAIM, Verdict.REPRODUCED, text, printed=text) for at in range(rows)]
    found = tuple(
        Finding(
            id=f"f{at}", paper="p", title=f"Cause {at}", kind=FindingKind.ASK, why=text,
            checks=tuple(f"p/{name}" for name in group),
        )
        for at, group in enumerate(names)
    )  # fmt: skip
    return AuditResult(papers=(head(),), versions={}, checks=tuple(checks), findings=found)


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ .*$", text, re.MULTILINE)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 25), st.integers(1, 5), st.sampled_from(["words", "a | b <b> " * 9, "wörter 中文 " * 40]))
def test_a_report_fits_into_a_comment_and_says_where_something_is_missing(findings: int, rows: int, text: str) -> None:
    made = many(findings, rows, text)
    written, whole = render_short(report_document(made)), render_markdown(report_document(made))
    assert len(written.encode()) <= LIMIT
    assert (written == whole) is ("Short form: " not in written)
    kept = headings(written)
    assert [line for line in headings(whole) if line in kept] == kept  # the same order


def test_findings_keep_their_causes_and_the_first_screen_stays_while_details_go() -> None:
    crowded = many(40, 9, REASON)
    written = render_short(report_document(crowded))
    assert all(f"Cause {at} " in written for at in range(40))
    asked = written.partition("## Ask the authors\n")[2]
    shown = [len(re.findall(rf"`p/claims/f{at}x\d+`", asked)) for at in range(40)]
    assert all(1 <= one <= 9 for one in shown)
    assert f"*{9 - shown[0]} more* rows" in asked
    assert written.startswith(render_markdown(report_document(crowded)).partition("\n## ")[0].rstrip())


def test_what_passes_goes_before_what_fails() -> None:
    few = render_short(report_document(many(2, 120, REASON)))
    assert "`ok0`" not in few
    assert "120 checks that pass: *120 more*" in few


def test_where_nothing_else_is_left_findings_go_from_the_end() -> None:
    whole = report_document(many(60, 1, "words"))
    start = next(at for at, block in enumerate(whole) if isinstance(block, Heading) and block.level == 2)
    written = render_short(whole[start:], 4000)
    assert len(written.encode()) <= 4000
    assert written.rstrip().splitlines()[-1].startswith("Short form: ")
    order = [int(at) for at in re.findall(r"^### F(\d+) ", written, re.MULTILINE)]
    assert order == list(range(1, len(order) + 1))
    assert len(order) > 9


@pytest.mark.parametrize("made", [result(), full()])
def test_a_short_report_is_the_whole_one(made: AuditResult) -> None:
    whole = report_document(made)
    assert render_short(whole) == render_markdown(whole)


@pytest.mark.parametrize("limit", [1200, 3000, 6000, 20_000])
def test_every_limit_is_kept(limit: int) -> None:
    report = (Heading("T", 1), Paragraph("first"), *report_document(full())[8:])
    sizes = [len(render_short(report, one).encode()) for one in (limit, limit * 2)]
    assert sizes[0] <= limit
    assert all(one <= other for one, other in pairwise(sizes))


@pytest.mark.parametrize("report", [None, *KEPT], ids=lambda path: path.stem if path else "short")
def test_a_short_report_and_those_that_are_kept_are_commonmark_without_html(report: Path | None) -> None:
    made = render_short(report_document(many(9, 4, "<b> a | b `c` " * 9)))
    text = report.read_text(encoding="utf-8") if report is not None else made
    assert len(text.encode()) <= LIMIT
    tokens = PARSER.parse(text)
    inner = [child for token in tokens for child in token.children or ()]
    assert not any("html" in token.type for token in (*tokens, *inner))
