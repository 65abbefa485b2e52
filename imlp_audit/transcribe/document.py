"""Reading a document, of whichever kind it is, as lines of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from imlp_audit.errors import UsageError
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.latex.commands import BOXES, DROPPED, LAST_KEPT, TABULARS
from imlp_audit.transcribe.latex.macros import Macro, find_definitions, find_macros, join
from imlp_audit.transcribe.latex.source import LatexSource, blank, blank_environments
from imlp_audit.transcribe.pdf import MAX_PAGES, PdfPage, join_words, read_pages
from imlp_audit.transcribe.sources import SourceKind, kind_of, limited_reading, open_source

_KNOWN = "text, markdown, LaTeX (.tex, or the .tar.gz or .zip of its source) or a PDF with a text layer"
_TEXT = frozenset({".txt", ".text", ".md", ".markdown", ""})


MAX_CHARACTERS = 2_000_000  # of a text; a book of 600 pages has fewer


def read_document(path: Path) -> PrintedDocument:
    """Return a document's lines. Raises UsageError for what cannot be read as a document."""
    with limited_reading(path):
        return _read(path)


def _read(path: Path) -> PrintedDocument:
    opened = open_source(path, f"a document: {_KNOWN}", _TEXT)
    if isinstance(opened, bytes):
        return _pdf_lines(path.name, opened)
    text = opened.text if isinstance(opened, LatexSource) else opened
    if len(text) > MAX_CHARACTERS:
        raise UsageError(
            f"{path} has {readable(len(text))} characters, more than the {readable(MAX_CHARACTERS)} of a long book: "
            "leave out data that no page prints, or give the paper's PDF"
        )
    if isinstance(opened, LatexSource):
        return latex_lines(path.name, opened)
    kind = None if path.suffix.lower() in _TEXT else kind_of(path, text)
    if kind is SourceKind.HTML:
        raise UsageError(f"{path}: HTML is not read; save the page as text, or give the paper's LaTeX or PDF")
    if kind is SourceKind.YAML:
        raise UsageError(f"{path} is YAML, not a document: give the document first, and the specs after it")
    lines = (DocumentLine(path.name, at, line) for at, line in enumerate(text.split("\n"), start=1))
    return PrintedDocument(path.name, tuple(lines))


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


_BRACES = r"\{(?:[^{}]|\{[^{}]{0,400}\}){0,400}\}"  # bounded: a brace may never be closed
_BRACKETS = r"(?:\s*\[[^\][]{0,400}\])*"
_NOT_PRINTED = {  # macros, and environments in braces, by how many of their arguments are not printed
    **{name: count - 1 for name, count in LAST_KEPT.items() if count > 1},
    **{name: count for name, count in DROPPED.items() if name not in ("footnotetext", "thanks")},
    r"[a-zA-Z]*ref\*?|(?:no)?cite[a-zA-Z]*\*?|bibliography(?:style)?|includegraphics\*?|input|include|url": 1,
    r"usepackage|[vh]space\*|cmidrule(?:\([^()]*\))?|cline|(?:this)?pagestyle": 1,
    r"(?:set|addto)counter|resizebox\*": 2,
    **{rf"begin\s*\{{{re.escape(name)}\}}": count for name, count in (TABULARS | BOXES).items()},
    r"begin\s*\{(?:table\*?|figure\*?|sidewaystable\*?|enumerate|itemize)\}": 0,
    r"begin\s*\{(?:multicols)\}": 1,
    r"begin\s*\{(?:wraptable|wrapfigure)\}": 2,
}
_SILENT = re.compile(
    "|".join(
        rf"(?P<kept{at}>\\{name}){_BRACKETS}(?:{_BRACKETS}\s*{_BRACES}){{{count}}}"
        if name.startswith("begin")
        else rf"\\(?:{name})(?![a-zA-Z]){_BRACKETS}(?:{_BRACKETS}\s*{_BRACES}){{{count}}}"
        for at, (name, count) in enumerate(_NOT_PRINTED.items())
    )
    + r"|\\\\\*?\s*\[[^\][\n]{0,40}\]|\\(?:[vh]skip|kern)\s*-?[\d.]+\s*[a-z]{2}"
)
_DRAWN = re.compile(r"\\begin\s*\{(tikzpicture|pgfpicture|thebibliography|filecontents)(\*?)\}")
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_MOST_CALLS = 100  # of macros in a line


def latex_lines(name: str, source: LatexSource) -> PrintedDocument:
    """Return the lines that a document prints, with the author's own macros in place of their names."""
    definitions = list(find_definitions(source.text))
    macros = find_macros(source.text, definitions)
    macros = {key: macro for key, macro in macros.items() if re.search(r"\d", macro.body)}
    names = re.compile("|".join(rf"\\{re.escape(one)}(?![A-Za-z@])" for one in sorted(macros))) if macros else None
    pieces: list[str] = []
    end = 0
    for one in definitions:
        pieces += [source.text[end : one.start], blank(source.text[max(end, one.start) : one.end])]
        end = max(end, one.end)
    text = "".join([*pieces, source.text[end:]])
    begun = _BEGIN.search(text)
    at = begun.end() if begun is not None else 0
    lines: list[DocumentLine] = []
    for line in _SILENT.sub(_without_arguments, blank_environments(text[at:], _DRAWN)).split("\n"):
        lines.append(DocumentLine(*source.place(at), line if names is None else _expand(line, macros, names)))
        at += len(line) + 1
    return PrintedDocument(name, tuple(lines), source.notes)


def _expand(line: str, macros: dict[str, Macro], names: re.Pattern[str]) -> str:
    for _ in range(_MOST_CALLS):
        found = names.search(line)
        if found is None:
            break
        text, end = macros[found[0][1:]].call(line, found.end())
        line = join([line[: found.start()], text, line[end:]])
    return line


def _without_arguments(found: re.Match[str]) -> str:
    """Put spaces in place of a text, so that what follows keeps its place; the name of an environment stays."""
    kept = next((name for name in found.groupdict().values() if name), "")
    return kept + blank(found[0][len(kept) :])
