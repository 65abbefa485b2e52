"""The bundled papers' coverage, on documents that are made of what their specs quote."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from imlp_audit.records.listing import CoverageReport, NumberState
from imlp_audit.spec.paper import Paper
from imlp_audit.transcribe.cover import cover
from imlp_audit.transcribe.sources import DocumentLine, PrintedDocument
from tests.bundled import bundled_paper, bundled_selection

PAPERS = ("mlp_mixer_notes", "imlp", "iffn_poster", "resmlp", "mixer_gmlp_coursework")


def table_lines(paper: Paper) -> Iterator[str]:
    """Print each table as a paper does: its caption, then a line a row, with changes in brackets."""
    for table in (located.value for located in paper.tables):
        name = "Table " + table.table.upper().replace("_", "")
        yield f"{name}: {table.title}" if table.table[-1].isdigit() else ""
        for row in table.rows:
            cells = (f"{text} ({row.delta[name]})" if name in row.delta else text for name, text in row.printed.items())
            yield "\t".join([row.label, *cells]) if table.table[-1].isdigit() else ""
        yield ""


def cover_lines(paper: Paper, lines: Iterator[str]) -> CoverageReport:
    document = PrintedDocument("made.txt", tuple(DocumentLine(at, one) for at, one in enumerate(lines, 1)))
    return cover(document, paper, bundled_selection().known)


@pytest.mark.daily(2)
@pytest.mark.parametrize("name", PAPERS)
def test_a_document_made_of_the_tables_has_every_cell_at_its_line(name: str) -> None:
    paper = bundled_paper(name)
    lines = list(table_lines(paper))
    report = cover_lines(paper, iter(lines))
    for number in report.numbers:
        row = lines[number.line - 1]
        for check in number.checks:
            _, table, *rest = check.split("/")
            if table in {"claims", "equations", "columns", "marks", "repeats"} or rest[-1] == "*":
                continue
            (found,) = [one.value for one in paper.tables if one.value.table == table]
            label = next(one.label for one in found.rows if one.id == rest[0])
            assert row.startswith(label), f"{number.text} of {row!r} is not {check}"
    cells = {check for number in report.numbers for check in number.checks}
    wanted = {
        f"{name}/{table.value.table}/{row.id}/{column}"
        for table in paper.tables
        if table.value.table[-1].isdigit()
        for row in table.value.rows
        for column in row.printed
    }
    assert wanted - cells == set()


@pytest.mark.daily(2)
@pytest.mark.parametrize("name", PAPERS)
def test_every_quotation_of_numbers_explains_or_binds_the_numbers_that_it_means(name: str) -> None:
    paper = bundled_paper(name)
    quotes = [
        (quote, entry, located.source("numbers", at, "near", place).line)
        for located in paper.coverage
        for at, entry in enumerate(located.value.numbers)
        for place, quote in enumerate(entry.near)
    ]
    report = cover_lines(paper, iter([quote for quote, _, _ in quotes]))
    said = {one.source.line: one.reason for one in report.unplaced if one.what.startswith("the quotation")}
    assert {reason for reason in said.values() if "times" not in reason} == set()
    for number in report.numbers:
        quote, entry, line = quotes[number.line - 1]
        meant = entry.numbers is None or any(text in number.text for text in entry.numbers)
        if meant and line not in said:  # a quotation that is part of another stands there twice
            assert number.state is not NumberState.OPEN, (quote, number.text)
