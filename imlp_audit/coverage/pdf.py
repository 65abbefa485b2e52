"""The text layer of a PDF."""

from __future__ import annotations

import logging
from io import BytesIO
from pathlib import Path

from imlp_audit.coverage.lines import DocumentLine, PrintedDocument
from imlp_audit.errors import MissingLibraryError, UsageError
from imlp_audit.numbers.words import count_of

_MOST_PAGES = 300


def pdf_lines(path: Path, data: bytes) -> PrintedDocument:
    """Return the lines of a PDF by page. Raises UsageError for one that is broken or has no text layer."""
    try:
        import pdfplumber
    except ModuleNotFoundError as error:
        raise MissingLibraryError(
            f"{path}: reading a PDF needs pdfplumber, which is not installed; run: pip install 'imlp-audit[pdf]'"
        ) from error
    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)  # it logs what it mends in broken files
    lines: list[DocumentLine] = []
    empty: list[int] = []
    try:
        with pdfplumber.open(BytesIO(data)) as pdf:
            count = len(pdf.pages)
            for number, page in enumerate(pdf.pages[:_MOST_PAGES], start=1):
                text = page.extract_text() or ""
                page.close()
                lines += (DocumentLine(path.name, at, line, number) for at, line in enumerate(text.split("\n"), 1))
                empty += [] if text.strip() else [number]
    except Exception as error:  # of a broken file the library raises whatever it stumbles over
        raise UsageError(f"{path} cannot be read as a PDF ({error or type(error).__name__}); save it again") from error
    if len(empty) == min(count, _MOST_PAGES):
        raise UsageError(
            f"{path}: this PDF has no text layer ({count_of(count, 'page')} of pictures); run OCR on it, or give the "
            "paper's source"
        )
    notes = [f"pages without text, such as scans: {', '.join(map(str, empty))}"] if empty else []
    notes += [f"only the first {_MOST_PAGES} of {count} pages were read"] if count > _MOST_PAGES else []
    return PrintedDocument(path.name, tuple(lines), tuple(notes))
