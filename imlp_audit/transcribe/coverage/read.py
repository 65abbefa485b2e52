"""Reading a document, of whichever kind it is, as lines of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from imlp_audit.errors import UsageError
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.archive import read_archive
from imlp_audit.transcribe.latex.macros import Macro, expand, find_macros
from imlp_audit.transcribe.latex.source import LatexSource, join_source
from imlp_audit.transcribe.pdf import MAX_PAGES, PdfPage, join_words, read_pages
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


_BRACES = r"\{(?:[^{}]|\{[^{}]{0,400}\}){0,400}\}"  # bounded: a brace may never be closed
_BRACKETS = r"(?:\s*\[[^\][]{0,400}\])*"
_COMMANDS = {  # by the number of arguments that are not printed
    1: r"label|[a-zA-Z]*ref\*?|(?:no)?cite[a-zA-Z]*\*?|bibliography(?:style)?|includegraphics\*?|input|include|url|"
    r"[vh]space\*?|usepackage|cmidrule(?:\([^()]*\))?|cline|scalebox|raisebox|color|textcolor|cellcolor|rowcolor|pagestyle|"
    r"thispagestyle|multirow",
    2: r"setlength|addtolength|setcounter|addtocounter|rule|resizebox\*?|multicolumn",
    3: r"definecolor",
}
_ENVIRONMENTS = {  # by the number of arguments that are not printed
    0: r"table\*?|figure\*?|sidewaystable\*?|enumerate|itemize",
    1: r"tabular|array|longtable|minipage|adjustbox|multicols|tblr",
    2: r"tabular\*|tabularx|tabulary|wraptable|wrapfigure",
}
_SILENT = re.compile(
    "|".join(
        [rf"\\(?:{names})(?![a-zA-Z]){_BRACKETS}(?:{_BRACKETS}\s*{_BRACES}){{{n}}}" for n, names in _COMMANDS.items()]
        + [
            rf"(?P<kept{n}>\\begin\s*\{{(?:{names})\}}){_BRACKETS}(?:{_BRACKETS}\s*{_BRACES}){{{n}}}"
            for n, names in _ENVIRONMENTS.items()
        ]
        + [r"\\\\\*?\s*\[[^\][\n]{0,40}\]", r"\\(?:[vh]skip|kern)\s*-?[\d.]+\s*[a-z]{2}"]
    )
)
_DRAWN = re.compile(r"\\begin\s*\{(tikzpicture|pgfpicture|thebibliography|filecontents\*?)\}")
_DEFINITION = re.compile(
    rf"\\(?:(?:re|provide)?newcommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*\{{?\s*\\[A-Za-z@]+\s*\}}?"
    rf"(?:\s*\[[^\][]*\])*\s*\{{(?:[^{{}}\n]|{_BRACES})*\}}|\\def\s*\\[A-Za-z@]+(?:#\d)*\s*\{{(?:[^{{}}\n]|{_BRACES})*\}}"
)
_BEGIN = re.compile(r"\\begin\s*\{document\}")


def latex_lines(name: str, source: LatexSource) -> PrintedDocument:
    """Return the lines that a document prints, with the author's own macros in place of their names."""
    begun = _BEGIN.search(source.text)
    start = begun.end() if begun is not None else 0
    macros = {key: macro for key, macro in find_macros(source.text).items() if re.search(r"\d", macro.body)}
    text = _SILENT.sub(_blank, _DEFINITION.sub(_blank, _without_drawings(source.text[start:])))
    names = re.compile("|".join(rf"\\{re.escape(one)}(?![A-Za-z@])" for one in sorted(macros))) if macros else None
    lines: list[DocumentLine] = []
    at = start
    for line in text.split("\n"):
        file, number = source.place(at)
        lines.append(DocumentLine(file, number, _expand(line, macros, names)))
        at += len(line) + 1
    return PrintedDocument(name, tuple(lines), source.notes)


def _expand(line: str, macros: dict[str, Macro], names: re.Pattern[str] | None) -> str:
    return expand(line, macros)[0] if names is not None and names.search(line) else line


def _without_drawings(text: str) -> str:
    """Return a text without its drawings and its bibliography; line ends stay."""
    pieces: list[str] = []
    at = 0
    unclosed: set[str] = set()
    for found in _DRAWN.finditer(text):
        end = rf"\end{{{found[1]}}}"
        close = text.find(end, found.end()) if found.start() >= at and end not in unclosed else -1
        if close < 0:
            unclosed |= {end} if found.start() >= at else set()
            continue
        pieces += [text[at : found.start()], _spaces(text[found.start() : close])]
        at = close
    return "".join([*pieces, text[at:]])


def _blank(found: re.Match[str]) -> str:
    """Put spaces in place of a text, so that what follows keeps its place; the name of an environment stays."""
    kept = next((name for group, name in found.groupdict().items() if group.startswith("kept") and name), "")
    return kept + _spaces(found[0][len(kept) :])


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
