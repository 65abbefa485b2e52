"""Reading a document, of whichever kind it is, as lines of text."""

from __future__ import annotations

from pathlib import Path

from imlp_audit.errors import UsageError
from imlp_audit.numbers.interval import readable
from imlp_audit.transcribe.archive import read_archive
from imlp_audit.transcribe.coverage.latex import latex_lines
from imlp_audit.transcribe.coverage.lines import DocumentLine, PrintedDocument
from imlp_audit.transcribe.coverage.pdf import pdf_lines
from imlp_audit.transcribe.latex.source import join_source
from imlp_audit.transcribe.sources import BesideSource, SourceKind, decode, kind_of, limited_reading, read_bytes

_KNOWN = "text, markdown, LaTeX (.tex, or the .tar.gz or .zip of its source) or a PDF with a text layer"
_TEXT = frozenset({".txt", ".text", ".md", ".markdown", ""})


MAX_CHARACTERS = 2_000_000  # of a text; a book of 600 pages has fewer


def read_document(path: Path) -> PrintedDocument:
    """Return a document's lines. Raises UsageError for what cannot be read as a document."""
    with limited_reading(path):
        return _read(path)


def _read(path: Path) -> PrintedDocument:
    data = read_bytes(path, f"a document: {_KNOWN}")
    if data.startswith(b"%PDF"):
        return pdf_lines(path.name, data)
    if data.startswith((b"\x1f\x8b", b"PK\x03\x04")):
        main, members = read_archive(data, path.name)
        return latex_lines(path.name, join_source(main, members[main], members.get))
    text = decode(data, str(path), f"a document is {_KNOWN}")
    if len(text) > MAX_CHARACTERS:
        raise UsageError(_too_long(path, text))
    kind = None if path.suffix.lower() in _TEXT else kind_of(path, text)
    if kind is SourceKind.LATEX:
        return latex_lines(path.name, join_source(path.name, text, BesideSource(path.parent).read))
    if kind is SourceKind.HTML:
        raise UsageError(f"{path}: HTML is not read; save the page as text, or give the paper's LaTeX or PDF")
    if kind is SourceKind.MODEL_INDEX:
        raise UsageError(f"{path} is YAML, not a document: give the document first, and the specs after it")
    lines = (DocumentLine(path.name, at, line) for at, line in enumerate(text.split("\n"), start=1))
    return PrintedDocument(path.name, tuple(lines))


def _too_long(path: Path, text: str) -> str:
    lines = text.split("\n")
    longest = max(range(len(lines)), key=lambda at: len(lines[at]))
    return (
        f"{path} has {readable(len(text))} characters, more than the {readable(MAX_CHARACTERS)} of a long book (its "
        f"longest line is {longest + 1}): leave out data that no page prints, or give the paper's PDF"
    )
