"""The text layer of a PDF, as lines by page."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.coverage.lines import DocumentLine, PrintedDocument
from imlp_audit.transcribe.pdf import MAX_PAGES, PdfPage, read_pages
from imlp_audit.transcribe.pdf_words import join_words


def pdf_lines(name: str, data: bytes) -> PrintedDocument:
    """Return the lines of a PDF. Raises UsageError for one that is broken, locked or without a text layer."""
    pages = read_pages(data, name)
    lines = tuple(
        DocumentLine(name, number, join_words(line), page.number)
        for page in pages
        for number, line in enumerate(page.lines, start=1)
    )
    return PrintedDocument(name, lines, tuple(_notes(pages)))


def _notes(pages: tuple[PdfPage, ...]) -> Iterator[str]:
    empty = [str(page.number) for page in pages if not page.lines]
    if empty:
        yield f"pages without text, such as pictures: {list_some(empty, 12)}"
    if len(pages) == MAX_PAGES:
        yield f"only the first {MAX_PAGES} pages were read"
    rotated = sum(page.rotated for page in pages)
    if rotated:
        yield f"{rotated} characters that do not stand upright were left out"
