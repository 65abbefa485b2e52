"""The index of a folder of reports: each paper with its worst finding, leading to its page."""

from __future__ import annotations

from imlp_audit.records.paper import PaperHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Document, Heading, Inline, Paragraph, Span, Table
from imlp_audit.report.findings import summarize_findings
from imlp_audit.report.ranking import worst_first
from imlp_audit.report.verdicts import summarize


def index_document(result: AuditResult) -> Document:
    """Return the index of the papers of a result."""
    header = ("paper", "verdicts", "findings", "worst finding", "as a file")
    rows = tuple(_row(result.of(paper), paper) for paper in result.papers)
    return (Heading("Audited papers", 1), Paragraph(f"All of them: {summarize(result)}."), Table(header, rows))


def _row(own: AuditResult, paper: PaperHead) -> tuple[Inline, ...]:
    findings = worst_first(own)
    worst = f"{findings[0].severity.value}: {findings[0].title}" if findings else ""
    return (
        Span(paper.title, link=f"{paper.id}.html"),
        summarize(own),
        summarize_findings(own),
        worst,
        Span("markdown", link=f"{paper.id}.md"),
    )
