"""A document as lines of text, each with its place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A line of text, and where it stands: the file, its line there, and the page of a PDF."""

    file: str
    number: int
    text: str
    page: int | None = None


@dataclass(frozen=True)
class PrintedDocument:
    """The lines of a document; `notes` say what of it could not be read."""

    name: str
    lines: tuple[DocumentLine, ...]
    notes: tuple[str, ...] = ()
