"""What `imlp-audit acknowledge` acknowledged, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.numbers.words import count_of
from imlp_audit.records.finding import AcknowledgeReport, RenewedLock, StaleEntry
from imlp_audit.report.document import Block, Document, Heading, Item, List, Paragraph, code, parse_code
from imlp_audit.report.findings import stale_findings


def acknowledged_document(report: AcknowledgeReport) -> Document:
    """Return what each lock gains and loses, and what no finding covers yet."""
    return tuple(block for paper in report.papers for block in _paper(paper, written=report.written))


def _paper(paper: RenewedLock, *, written: bool) -> Iterator[Block]:
    total = paper.kept + len(paper.new) + len(paper.changed)
    state = "in" if written else "would be in"
    yield Heading(f"{paper.paper}: {total} {'entry' if total == 1 else 'entries'} {state} {paper.lock}", 1)
    if not (paper.new or paper.changed or paper.dropped):
        yield Paragraph("The lock stays as it is.")
    if paper.new:
        yield Heading(f"New: {count_of(len(paper.new), 'check')}", 3)
        yield List(tuple(Item((code(one.check), f" ({one.finding})"), (one.reason,)) for one in paper.new))
    yield from _entries("Changed", paper.changed)
    yield from _entries("Dropped", paper.dropped)
    if paper.unexplained:
        yield Heading("Still failing: no titled finding covers these", 3)
        yield List(tuple(Item(f"{one.kind.value}: {one.title}", (", ".join(one.checks),)) for one in paper.unexplained))
        yield Paragraph(parse_code(_what_next(paper, written=written)))
    yield from stale_findings(paper.stale_findings)


def _entries(name: str, entries: Sequence[StaleEntry]) -> Iterator[Block]:
    if entries:
        yield Heading(f"{name}: {count_of(len(entries), 'check')}", 3)
        yield List(tuple(Item((code(entry.check), ": ", entry.reason)) for entry in entries))


def _what_next(paper: RenewedLock, *, written: bool) -> str:
    if paper.drafts and not written:
        named = f"{count_of(len(paper.drafts), 'draft')}: {', '.join(f'`{name}`' for name in paper.drafts)}"
        return f"Nothing was written. Without `--dry-run`, `--draft` writes {named}."
    if paper.drafts:
        return (
            "Drafts were written for them: give each a title and the reason, then run `imlp-audit acknowledge` again."
        )
    return (
        "Describe each cause in the paper's `findings.yaml`, or let `imlp-audit acknowledge --draft` write the entries."
    )
