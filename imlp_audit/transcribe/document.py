"""Reading a document, of whichever kind it is, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from imlp_audit.errors import UsageError
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.pdf import MAX_PAGES, PdfPage, join_words, read_pages
from imlp_audit.transcribe.sources import SourceKind, decode, is_archive, kind_of, limited_reading, read_bytes

_KNOWN = "text, markdown or a PDF with a text layer"
_TEXT = frozenset({".txt", ".text", ".md", ".markdown", ""})


MAX_CHARACTERS = 2_000_000  # of a text; a book of 600 pages has fewer


def read_document(path: Path) -> PrintedDocument:
    """Return a document's lines. Raises UsageError for what cannot be read as a document."""
    with limited_reading(path):
        return _read(path)


def _read(path: Path) -> PrintedDocument:
    data = read_bytes(path, f"a document: {_KNOWN}")
    if data.startswith(b"%PDF"):
        return _pdf_lines(path.name, data)
    if is_archive(data):
        raise UsageError(f"{path} is an archive, which is not read; give the paper's PDF, or its text")
    text = decode(data, path.name, f"give a document: {_KNOWN}")
    if len(text) > MAX_CHARACTERS:
        raise UsageError(
            f"{path} has {readable(len(text))} characters, more than the {readable(MAX_CHARACTERS)} of a long book: "
            "leave out data that no page prints, or give the paper's PDF"
        )
    kind = None if path.suffix.lower() in _TEXT else kind_of(path, text)
    if kind in (SourceKind.LATEX, SourceKind.HTML):
        name = "HTML" if kind is SourceKind.HTML else "LaTeX"
        raise UsageError(f"{path}: {name} is not read; give the paper's PDF, or its text")
    if kind is SourceKind.YAML:
        raise UsageError(f"{path} is YAML, not a document: give the document first, and the specs after it")
    lines = (DocumentLine(at, line) for at, line in enumerate(text.split("\n"), start=1))
    return PrintedDocument(path.name, tuple(lines))


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A line of text, its number, and the page of a PDF that it stands on."""

    number: int
    text: str
    page: int | None = None

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return f"{f'page {self.page}, ' if self.page is not None else ''}line {self.number}"


@dataclass(frozen=True)
class PrintedDocument:
    """The lines of a document; `notes` say what of it could not be read."""

    name: str
    lines: tuple[DocumentLine, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """All lines."""
        return "\n".join(line.text for line in self.lines)

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins in the text, and where one after the last would."""
        return list(accumulate((len(line.text) + 1 for line in self.lines), initial=0))


def _pdf_lines(name: str, data: bytes) -> PrintedDocument:
    """Return the lines of a PDF. Raises UsageError for one that is broken, locked or without a text layer."""
    pages = read_pages(data, name)
    lines = tuple(
        DocumentLine(number, join_words(line), page.number)
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
