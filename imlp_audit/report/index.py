"""The index of a folder of reports: each paper's verdict in a sentence and its worst findings, leading to its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from imlp_audit.numbers.words import count_of
from imlp_audit.records.paper import PaperHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Document, Heading, Item, List, Paragraph, Span
from imlp_audit.report.numbered import NumberedFinding, number_findings
from imlp_audit.report.outcome import say_verdict
from imlp_audit.report.page_blocks import safe_anchor
from imlp_audit.report.places import name_places_of
from imlp_audit.report.verdicts import summarize

_WORST = 2  # findings of a paper


def index_document(result: AuditResult) -> Document:
    """Return the index of the papers of a result."""
    papers = (block for paper in result.papers for block in _paper(result.of(paper), paper))
    return (Heading("Audited papers", 1), Paragraph(f"All of them: {summarize(result)}."), *papers)


def _paper(own: AuditResult, paper: PaperHead) -> Iterator[Block]:
    page = f"{paper.id}.html"
    findings = number_findings(own)
    yield Heading(Span(paper.title, link=page), 2, f"paper/{paper.id}")
    yield Paragraph(f"{say_verdict(own)} {summarize(own)}.")
    worst = [_finding(own, one, page) for one in findings[:_WORST]]
    rest = len(findings) - len(worst)
    more = f"{count_of(rest, 'more finding')} and every check" if rest else "Every check"
    if worst:
        yield List(tuple(worst))
    yield Paragraph((f"{more}: ", Span("page", link=page), ", ", Span("markdown", link=f"{paper.id}.md"), "."))


def _finding(own: AuditResult, one: NumberedFinding, page: str) -> Item:
    """Write a finding: what is wrong and where, leading to its evidence."""
    name = replace(one.link, link=f"{page}#{safe_anchor(one.anchor)}")
    place = name_places_of(one.finding, own.checks_of(one.finding))
    return Item((name, f" {one.finding.title} [{place}]"))
