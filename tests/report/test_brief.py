"""The short form of a report: small enough for a comment, in the same order, and open about what it leaves out."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from imlp_audit.records.check import CheckKind, Verdict
from imlp_audit.records.finding import Finding, FindingKind
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Fold, Heading, List, MarkedTable, Paragraph, Table
from imlp_audit.report.markdown import LIMIT, ReportPart, Role, render_markdown, shorten_report
from imlp_audit.report.paper import report_document, short_report

from .results import check, full, head, result

PARSER = MarkdownIt("commonmark").enable("table")


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


@pytest.fixture(scope="module")
def crowded() -> AuditResult:
    return many(40, 9, "a reason of some words " * 6)


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ .*$", text, re.MULTILINE)


def entries(blocks: tuple[Block, ...]) -> int:
    """The rows and items of a document, those in folds included."""
    found = 0
    for block in blocks:
        match block:
            case Table():
                found += len(block.rows)
            case List():
                found += len(block.items)
            case MarkedTable():
                found += len(block.rows) + (len(block.listing.rows) if block.listing else 0)
            case Fold():
                found += entries(block.blocks)
            case _:
                pass
    return found


def marks(text: str) -> list[int]:
    return [int(count) for count in re.findall(r"\*(\d+) more\*", text)]


def stated(text: str) -> int:
    """How many rows and items the note after the first screen says to be missing."""
    (note,) = re.findall(r"^Short form, with ([\d ]+) rows? and items left out", text, re.MULTILINE)
    return int(note.replace(" ", ""))


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 25), st.integers(1, 5), st.sampled_from(["words", "a | b <b> " * 9, "wörter 中文 " * 40]))
def test_a_report_fits_into_a_comment_and_counts_what_it_leaves_out(findings: int, rows: int, text: str) -> None:
    made = many(findings, rows, text)
    written = render_markdown(short_report(made))
    assert len(written.encode()) <= LIMIT
    whole = render_markdown(report_document(made))
    left_out = marks(written)
    if left_out:
        assert stated(written) == sum(left_out)
        kept = entries(short_report(made))
        notes = sum(f"- *{count} more*" in written for count in set(left_out)) and written.count("more* item")
        assert entries(report_document(made)) == kept - notes + sum(left_out)
    else:
        assert len(whole.encode()) <= LIMIT or "long text" in written
    kept_headings = headings(written)
    assert [line for line in headings(whole) if line in kept_headings] == kept_headings  # the same order


def test_findings_keep_their_causes_while_details_go(crowded: AuditResult) -> None:
    written = render_markdown(short_report(crowded))
    assert all(f"Cause {at} " in written for at in range(40))
    assert written.count("a reason of some words") > 40
    shown = [
        len(re.findall(rf"`p/claims/f{at}x\d+`", written.partition("## Ask the authors\n")[2])) for at in range(40)
    ]
    assert all(1 <= one <= 9 for one in shown)


def test_what_passes_goes_before_what_fails() -> None:
    text = "a reason of some words " * 6
    few = render_markdown(short_report(many(2, 120, text)))
    assert "`ok0`" not in few
    assert "120 checks that pass: *120 more*" in few


def test_where_nothing_else_is_left_findings_go_from_the_end() -> None:
    findings = report_document(many(60, 1, "words"))[1:]
    document = shorten_report([ReportPart(Role.FINDINGS, findings)], 4000)
    written = render_markdown(document)
    assert len(written.encode()) <= 4000
    assert written.rstrip().splitlines()[-1].startswith("Short form, with ")
    order = [int(at) for at in re.findall(r"^### F(\d+) ", written, re.MULTILINE)]
    assert order == list(range(1, len(order) + 1))
    assert len(order) > 9


def test_a_short_report_is_the_whole_one() -> None:
    assert short_report(result()) == report_document(result())
    assert short_report(full()) == report_document(full())


def test_the_first_screen_is_never_shortened(crowded: AuditResult) -> None:
    screen = render_markdown(report_document(crowded)).partition("\n## ")[0]
    assert render_markdown(short_report(crowded)).startswith(screen.rstrip())


@pytest.mark.parametrize("limit", [1200, 3000, 6000, 20_000])
def test_every_limit_is_kept(limit: int) -> None:
    parts = [
        ReportPart(Role.SCREEN, (Heading("T", 1), Paragraph("first"))),
        ReportPart(Role.REST, report_document(full())[8:]),
    ]
    sizes = [len(render_markdown(shorten_report(parts, one)).encode()) for one in (limit, limit * 2)]
    assert sizes[0] <= limit
    assert all(one <= other for one, other in pairwise(sizes))


def test_a_short_report_is_commonmark_without_html() -> None:
    tokens = PARSER.parse(render_markdown(short_report(many(9, 4, "<b> a | b `c` " * 9))))
    inner = [child for token in tokens for child in token.children or ()]
    assert not any("html" in token.type for token in (*tokens, *inner))
