"""Reading a file, of whichever kind: its tables, or a document as lines of text; archives and separated values are
read here.
"""

from __future__ import annotations

import csv
import gzip
import io
import posixpath
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial
from itertools import accumulate, islice
from pathlib import Path

from imlp_audit import files
from imlp_audit.errors import UsageError
from imlp_audit.files import FileError
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import list_some
from imlp_audit.processes.limits import LimitError, limited
from imlp_audit.transcribe.grid import MOST_COLUMNS, MOST_ROWS, SourceDocument, SourceRow, SpanningCell, make_table
from imlp_audit.transcribe.latex.document import join_source, read_latex
from imlp_audit.transcribe.pdf import MAX_PAGES, PdfPage, join_words, read_pages, read_pdf
from imlp_audit.transcribe.web import read_markdown, read_web

MAX_BYTES = 64 * 1024 * 1024
MAX_UNPACKED = 192 * 1024 * 1024
MAX_MEMBERS = 5_000
MAX_TEXT = 16 * 1024 * 1024
MAX_CHARACTERS = 2_000_000  # of a document's text; a book of 600 pages has fewer
MAX_MEMORY = 700 * 1024 * 1024
MAX_SECONDS = 8.0
_MOST_CELLS = 100_000  # of all tables
_LONGEST_LINE = 500_000  # characters
_PIECE = b"\x1f\x8b\x08"  # each piece of a gzip file begins so; 5000 hold over 300 MB as bgzip packs them
_ENDINGS = (".tex", ".ltx", ".sty", ".cls", ".tikz", ".inc")
_BROKEN = (ValueError, zipfile.BadZipFile, zlib.error, tarfile.TarError, EOFError, OSError, RuntimeError)


def read_archive(data: bytes, shown_as: str) -> tuple[str, dict[str, str]]:
    """Return the name of the main file, and all files of LaTeX in the archive by their paths.

    Raises UsageError for an archive that is broken, too large, or has no LaTeX.
    """
    try:
        texts = dict(_texts(_zip(data, shown_as) if data.startswith(b"PK") else _gzip(data, shown_as), shown_as))
    except _BROKEN as error:
        raise UsageError(f"{shown_as} cannot be unpacked ({error}); download it again") from error
    main = _main(texts)
    if main is None:
        raise UsageError(f"{shown_as} has no LaTeX in it; give the source of a paper, or save a spreadsheet as CSV")
    return main, texts


def _texts(members: Iterator[tuple[str, bytes]], shown_as: str) -> Iterator[tuple[str, str]]:
    left = MAX_TEXT
    for name, content in members:
        left -= len(content)
        if left < 0:
            limit = f"more than {MAX_TEXT // 1024**2} MiB of LaTeX"
            raise UsageError(f"{shown_as} has {limit}; give the .tex file with the table alone")
        yield name, decode_text(content)


def decode_text(data: bytes) -> str:
    """Return text as UTF-8, or as Latin-1 where it is none, with plain ends of lines."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _main(texts: dict[str, str]) -> str | None:
    """Return the file that begins the document: the longest in the uppermost folder with `\\documentclass`."""
    latex = [name for name in texts if name.endswith((".tex", ".ltx"))]
    heads = [name for name in latex if "\\documentclass" in texts[name] and "\\begin{document}" in texts[name]]
    return min(heads or latex, key=lambda name: (name.count("/"), -len(texts[name]), name), default=None)


def _gzip(data: bytes, shown_as: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of LaTeX in a .tar.gz, or the one file that is in a .gz; links and other members are skipped."""
    if data.count(_PIECE) > MAX_MEMBERS:
        raise UsageError(
            f"{shown_as} is packed in more than {MAX_MEMBERS} pieces; pack it again, or give the .tex file"
        )
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        unpacked = packed.read(MAX_UNPACKED + 1)
    if len(unpacked) > MAX_UNPACKED:
        raise UsageError(f"{shown_as} unpacks to more than {MAX_UNPACKED // 1024**2} MiB; give the .tex file alone")
    if unpacked[257:262] != b"ustar":
        yield "main.tex", unpacked
        return
    with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as archive:
        for number, member in enumerate(archive):
            name = _inside(member.name)
            if number >= MAX_MEMBERS:
                raise UsageError(f"{shown_as} has more than {MAX_MEMBERS} files; give the .tex file alone")
            if name is not None and not member.issparse() and (file := member.isreg() and archive.extractfile(member)):
                yield name, file.read(MAX_TEXT + 1)


def _zip(data: bytes, shown_as: str) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if len(infos) > MAX_MEMBERS:
            raise UsageError(f"{shown_as} has more than {MAX_MEMBERS} files; give the .tex file alone")
        for info in infos:
            name = _inside(info.filename)
            if name is None or info.is_dir():
                continue
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack without a limit
                raise UsageError(f"{shown_as}: {name} is not packed by deflate; pack it again as .tar.gz")
            with archive.open(info) as file:
                yield name, file.read(MAX_TEXT + 1)


def _inside(name: str) -> str | None:
    """Return the path of a file of LaTeX in the archive; None for other files and for paths that lead out of it."""
    path = posixpath.normpath(name)
    if path.startswith(("/", "..")) or not path.lower().endswith(_ENDINGS):
        return None
    return path


def read_separated(text: str, shown_as: str, delimiter: str | None = None) -> SourceDocument:
    """Return the one table of a file; its first row is the headings. Raises UsageError for what is not such a file."""
    first = text.lstrip("\n").partition("\n")[0]
    separator = delimiter or max(",;\t", key=first.count)
    reader = csv.reader(_lines(text, shown_as), delimiter=separator, strict=True)
    rows: list[SourceRow] = []
    line = 1
    try:
        for record in islice(reader, MOST_ROWS + 1):
            cells = tuple(SpanningCell(" ".join(cell.split())) for cell in record[:MOST_COLUMNS])
            if any(cell.text for cell in cells):
                rows.append(SourceRow(line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(
            f"{shown_as}:{reader.line_num}: not comma-separated values ({error}); mend the line, or give a .tsv"
        ) from error
    return SourceDocument((make_table("1", "", rows, shown_as, 1),))


def _lines(text: str, shown_as: str) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text), 1):
        if len(line) > _LONGEST_LINE:
            raise UsageError(f"{shown_as}:{number}: a line of more than {_LONGEST_LINE} characters; is this one table?")
        yield line


class SourceKind(StrEnum):
    """What a source is written in."""

    LATEX = ".tex .ltx"
    CSV = ".csv"
    TSV = ".tsv"
    MARKDOWN = ".md .markdown"
    HTML = ".html .htm"
    YAML = ".yml .yaml"


_SIGNS = (
    (SourceKind.LATEX, r"\\begin\s*\{(?:tabular|longtable|table)"),
    (SourceKind.HTML, r"(?i)<table\b"),
    (SourceKind.MARKDOWN, r"\|[^\n|]*\n[ \t]{0,20}\|?[ \t]{0,20}:?-{2,}"),
    (SourceKind.TSV, r"\A[^\n]*\t"),
    (SourceKind.CSV, r"\A[^\n]*[,;]"),
)
_READERS: Mapping[SourceKind | None, Callable[[str, str], SourceDocument]] = {
    SourceKind.HTML: read_web,
    SourceKind.MARKDOWN: read_markdown,
    SourceKind.TSV: partial(read_separated, delimiter="\t"),
    SourceKind.CSV: read_separated,
}
_KNOWN = "LaTeX (.tex, or the .tar.gz or .zip of its source), CSV, TSV, markdown, HTML or a PDF"
_DOCUMENTS = "text, markdown or a PDF with a text layer"
_TEXT = frozenset({".txt", ".text", ".md", ".markdown", ""})


def read_source(path: Path) -> SourceDocument:
    """Return the tables of a file. Raises UsageError for one that cannot be read, or is of another kind."""
    with limited_reading(path):
        document = _read(path)
    cells = accumulate(((len(table.rows) + 1) * (len(table.headings) + 1) for table in document.tables), initial=0)
    kept = [table for table, before in zip(document.tables, cells, strict=False) if before < _MOST_CELLS]
    return replace(document, tables=tuple(kept))


@contextmanager
def limited_reading(path: Path) -> Iterator[None]:
    """Raise UsageError where reading a file takes more memory or time than that of any paper's does."""
    try:
        with limited(MAX_MEMORY, MAX_SECONDS):
            yield
    except LimitError as error:
        raise UsageError(f"{path} cannot be read: {error}; give a smaller file") from error


def _read(path: Path) -> SourceDocument:
    known = f"a file with a table in it: {_KNOWN}"
    data = read_bytes(path, known)
    if is_archive(data):
        main, members = read_archive(data, path.name)
        return read_latex(join_source(main, members[main], members.get))
    if data.startswith(b"%PDF"):
        return read_pdf(data, path.name)
    text = decode(data, path.name, f"give {known}")
    kind = kind_of(path, text)
    if kind is SourceKind.LATEX:
        return read_latex(join_source(path.name, text, partial(_read_beside, path.parent.resolve())))
    if kind is SourceKind.YAML:
        raise UsageError(f"{path} is YAML, which has no table; if it is a spec already, run `imlp-audit lint` on it")
    if kind not in _READERS:
        raise UsageError(f"{path}: no table is seen in it; init reads {_KNOWN}")
    return _READERS[kind](text, path.name)


def is_archive(data: bytes) -> bool:
    """Return whether a file is a gzip file or a zip archive."""
    return data.startswith((b"\x1f\x8b", b"PK\x03\x04"))


def kind_of(path: Path, text: str) -> SourceKind | None:
    """Return what a text is written in, by the file's ending or else by what stands in it."""
    ending = path.suffix.lower()
    named = next((kind for kind in SourceKind if ending and ending in kind.split()), None)
    return named or next((kind for kind, sign in _SIGNS if re.search(sign, text)), None)


def read_bytes(path: Path, known: str) -> bytes:
    """Return a file's bytes. Raises UsageError, which names the kinds that are `known`, where it cannot be read."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the file in it, such as main.tex")
    try:
        data = files.read_bytes(path, MAX_BYTES)
    except FileError as error:
        if error.missing and re.match(r"https?:/", str(path)):
            advice = "of an arXiv paper, the source under Other formats"
            raise UsageError(f"files are read, not addresses; download it first ({advice}): {path}") from error
        raise UsageError(f"{error}; give {known}") from error
    if not data.strip():
        raise UsageError(f"{path} is empty; give {known}")
    return data


def decode(data: bytes, shown_as: str, known: str) -> str:
    """Return a file's text. Raises UsageError, with what is `known`, for what is no text, or is too long."""
    if b"\x00" in data[:65536]:
        raise UsageError(f"{shown_as} is not text; {known}")
    if len(data) > MAX_TEXT:
        raise UsageError(f"{shown_as} has more than {MAX_TEXT // 1024**2} MiB of text; give a smaller file")
    return decode_text(data)


def _read_beside(folder: Path, name: str) -> str | None:
    """Return the text of a file that a document names; None for one not there, outside its folder, or no text."""
    try:
        path = (folder / name).resolve()
        return decode(files.read_bytes(path, MAX_BYTES), name, "") if path.is_relative_to(folder) else None
    except (OSError, UsageError, ValueError):
        return None


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


def read_document(path: Path) -> PrintedDocument:
    """Return a document's lines. Raises UsageError for what cannot be read as a document."""
    with limited_reading(path):
        return _read_lines(path)


def _read_lines(path: Path) -> PrintedDocument:
    data = read_bytes(path, f"a document: {_DOCUMENTS}")
    if data.startswith(b"%PDF"):
        return _pdf_lines(path.name, data)
    if is_archive(data):
        raise UsageError(f"{path} is an archive, which is not read; give the paper's PDF, or its text")
    text = decode(data, path.name, f"give a document: {_DOCUMENTS}")
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
