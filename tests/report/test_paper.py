"""The markdown report: well-formed whatever a paper's text is, and nothing left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from imlp_audit.records.check import CheckKind, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.paper import report_document
from imlp_audit.report.verdicts import word_of

from .results import HOSTILE, check, full, head, result

PARSER = MarkdownIt("commonmark").enable("table")


def markdown(result: AuditResult) -> str:
    return render_markdown(report_document(result))


def tables(text: str) -> Iterator[list[list[str]]]:
    """The tables of a report as lists of cells, split at every `|` that no backslash escapes."""
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append(re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1])
        elif rows:
            yield rows
            rows = []


def blocks_of(report: str) -> list[str]:
    """The kinds of a report's blocks after the first screen, which shortens long texts."""
    return [token.type for token in PARSER.parse(report.partition("\n## Findings\n")[2])]


def inlines(text: str) -> Iterator[Token]:
    yield from (inner for token in PARSER.parse(text) for inner in token.children or ())


def cells_of(text: str) -> list[str]:
    """What a reader sees in the cells of the tables, markup taken away."""
    tokens = PARSER.parse(text)
    inside = [tokens[i + 1] for i, token in enumerate(tokens) if token.type in ("td_open", "th_open")]
    return ["".join(child.content for child in cell.children or ()) for cell in inside]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(text: str) -> None:
    found = list(tables(markdown(result(text))))
    assert len(found) >= 6
    for rows in found:
        assert {len(row) for row in rows} == {len(rows[0])}
        assert all(cell.strip() in ("---", "---:") for cell in rows[1])


@pytest.mark.daily(6)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_reader_sees_the_text_as_the_paper_has_it(text: str) -> None:
    assert " ".join(text.split()) in cells_of(markdown(result(text)))


@pytest.mark.daily(2)
@pytest.mark.parametrize("url", ["x> <script>alert(1)</script>", "javascript:alert(1)", "a b", "<", "x>\n# y"])
def test_the_url_of_a_paper_is_never_markup(url: str) -> None:
    paper = head().model_copy(update={"url": url})
    report = markdown(result().model_copy(update={"papers": (paper,)}))
    assert not any("html" in token.type for token in (*PARSER.parse(report), *inlines(report)))
    assert not any("javascript:" in str(token.attrGet("href")) for token in inlines(report))
    assert "\n# y" not in report


@pytest.mark.parametrize("text", ["plain words", "a | b"])
def test_every_check_is_in_the_report_by_its_id_or_in_its_tables_cell(text: str) -> None:
    audited = result(text)
    report = markdown(audited)
    listed = [row for rows in tables(report) for row in rows if len(row) == 7 and "also measured" in rows[0][6]]
    cells = [one for one in audited.checks if one.kind in (CheckKind.CELL, CheckKind.DELTA)]
    lacking = [one for one in cells if one.verdict is Verdict.UNVERIFIABLE and one.measured is None]
    assert len(listed) == len(cells) - len(lacking) + 2  # head and rule
    for one in audited.checks:
        if one in lacking:
            assert f"{one.printed} ○" in report
        elif one in cells:
            assert any(word_of(one.verdict).replace("_", " ") in row[5] for row in listed), one.id
        elif one.kind in (CheckKind.CLAIM, CheckKind.EQUATION):
            assert f"`{one.id.rpartition('/')[2]}`" in report
        else:
            assert f"`{one.id}`" in report


def test_findings_have_their_reasons_and_stand_by_kind() -> None:
    report = markdown(result("why"))
    asked, notes = (
        report.partition(f"\n## {kind}\n")[2].partition("\n## ")[0] for kind in ("Ask the authors", "Notes")
    )
    headings = [line.removeprefix("### ") for line in asked.splitlines() if line.startswith("### ")]
    assert [heading.partition(" ")[0] for heading in headings] == [f"F{at}" for at in range(1, len(headings) + 1)]
    assert all(heading.endswith(" **(unexplained, fails the run)**") for heading in headings)
    assert [line for line in notes.splitlines() if line.startswith("### ")] == [
        f"### F{len(headings) + 1} why", "### Not completed", "### Known before, different now"
    ]  # fmt: skip
    assert "None" not in asked + notes


def test_the_sections_are_in_the_order_that_a_reader_needs() -> None:
    headings = [line for line in markdown(full()).splitlines() if line.startswith("## ")]
    order = (
        "The tables as printed", "Ask the authors", "What the text says about the numbers",
        "What the text says about functions", "What the numbers say the model was", "Provenance",
    )  # fmt: skip
    assert [heading for heading in headings if heading[3:] in order] == [f"## {name}" for name in order]
    assert headings[0] == "## The tables as printed"
    assert headings[-1] == "## Provenance"


def test_numbers_carry_their_signs_and_failing_ones_their_finding() -> None:
    report = markdown(full())
    (printed,) = [rows for rows in tables(report) if rows[0][0].strip() == "model" and len(rows[0]) == 3]
    shown = [cell.strip() for row in printed[2:] for cell in row[1:] if cell.strip()]
    assert shown[0] == "5.72 ✓; -12.6% ✗ F7"  # the graver of the change's two verdicts
    assert shown[1] == "5.72 ✓\\*ƒ\\~"
    assert shown[2:] == ["72.2 ○", "5.72 ✗ F1", "5.72 ✗ F1", "5.72 ○", "? !"]


def test_numbers_that_are_open_for_many_reasons_do_not_fill_the_page() -> None:
    def notes(reasons: int) -> list[str]:
        cells = [
            check(f"1/r{i}/top1", CheckKind.CELL, Verdict.UNVERIFIABLE, f"needs GPU {i % reasons}", printed="7")
            for i in range(5)
        ]
        made = full().model_copy(update={"checks": tuple(cells), "findings": ()})
        return re.findall(r"^- (T: .*)", markdown(made), re.MULTILINE)

    assert notes(2) == ["T: 3 unverifiable: needs GPU 0", "T: 2 unverifiable: needs GPU 1"]
    assert notes(5) == [
        "T: 1 unverifiable: needs GPU 0",
        "T: 4 more unverifiable, for 4 other reasons: each number says its own",
    ]


def test_the_report_of_several_papers_has_each_of_them() -> None:
    papers = (head(), head(paper="q"))
    other = check("x", CheckKind.CLAIM, Verdict.DIFFERS).model_copy(update={"id": "q/claims/x"})
    both = result().model_copy(update={"papers": papers, "checks": (*result().checks, other)})
    report = markdown(both)
    assert report.count("# Audit of ") == 2
    first, second = report.split("# Audit of ")[1:]
    assert "q/claims/x" not in first
    assert second.count("`q/claims/x`") == 2  # on the first screen and among the findings
