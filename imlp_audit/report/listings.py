"""Documents of the commands that list things: `lint` and `cache info`."""

from __future__ import annotations

from imlp_audit.numbers.words import count_of
from imlp_audit.records.listing import CacheReport, LintReport
from imlp_audit.report.document import Document, List, Paragraph, Table


def lint_document(report: LintReport) -> Document:
    """Return a line for each paper, and the findings that still need a title."""
    rows = tuple(
        (
            f"{paper.id}:",
            f"{count_of(paper.tables, 'table')}, {count_of(paper.checks, 'check')}, "
            f"{count_of(paper.findings, 'finding')}: no problems{_NO_MODEL if paper.modelless else ''}",
        )
        for paper in report.papers
    )
    drafts = tuple(draft for paper in report.papers for draft in paper.drafts)
    if not drafts:
        return (Table((), rows),)
    places = List(tuple(f"{draft.file}:{draft.line}: this finding has no title yet" for draft in drafts))
    return (Table((), rows), Paragraph(f"{count_of(len(drafts), 'draft')} to be titled by a person:"), places)


_NO_MODEL = " of form, but no row has a `model:`, so no number can be counted yet"


def cache_document(report: CacheReport) -> Document:
    """Return where measurements are kept and how many, or how to have them kept."""
    if report.folder is None:
        return (
            Paragraph("Measurements are kept nowhere: IMLP_AUDIT_CACHE is empty, or this user has no home folder."),
        )
    size = f"{report.bytes / 2**20:.1f} MiB"
    return (Paragraph(f"{report.folder}: {count_of(report.measurements, 'measurement')}, {size}"),)
