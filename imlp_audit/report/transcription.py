"""The document of `imlp-audit init`."""

from __future__ import annotations

from imlp_audit.numbers.words import count_of
from imlp_audit.records.listing import Transcription
from imlp_audit.report.document import Block, Code, Document, Heading, List, Paragraph


def transcription_document(done: Transcription) -> Document:
    """Return what was made of a table, what to decide, and the next commands."""
    caption = f": {done.caption}" if done.caption else ""
    blocks: list[Block] = [Paragraph(f"Wrote {done.file}: table {done.table}{caption}"), List(done.made)]
    if done.decide:
        count = count_of(len(done.decide), "thing")
        blocks += [Paragraph(f"{count} to decide, each also a comment in the file:"), List(done.decide)]
    return (*blocks, Heading("Try next", 3), Code("\n".join(done.next), "sh"))
