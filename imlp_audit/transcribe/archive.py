"""A source archive as arXiv or Overleaf serves it, read in memory: nothing is written to disk."""

from __future__ import annotations

import gzip
import io
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Self

from imlp_audit.errors import UsageError

MAX_UNPACKED = 192 * 1024 * 1024
MAX_TEXT = 16 * 1024 * 1024
MAX_MEMBERS = 5_000
_ENDINGS = (".tex", ".ltx", ".sty", ".cls", ".tikz", ".inc")
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
_USUAL = ("main", "paper", "ms", "root", "article", "manuscript", "arxiv")


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
        yield name, _text(content)


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _main(texts: dict[str, str]) -> str | None:
    """Return the file that begins the document: one with `\\documentclass`, of a usual name if there are several."""
    latex = [name for name in texts if name.endswith((".tex", ".ltx"))]
    heads = [name for name in latex if "\\documentclass" in texts[name] and "\\begin{document}" in texts[name]]
    ranked = sorted(heads or latex, key=lambda name: (_rank(name), name.count("/"), -len(texts[name]), name))
    return ranked[0] if ranked else None


def _rank(name: str) -> int:
    stem = posixpath.basename(name).rpartition(".")[0].lower()
    return next((at for at, usual in enumerate(_USUAL) if stem.startswith(usual)), len(_USUAL))


_MOST_ENDS = 10  # reads of nothing: tarfile meets the end of a sound archive once or twice
_LONGEST_FACTS = 64 * 1024
_OF_FACTS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, b"X")


class _CountedReader(io.RawIOBase):
    """A stream that ends with an error once more was read than an archive may hold, or than there is.

    Otherwise tarfile would read at the end for as long as a header claims that its file goes on.
    """

    def __init__(self, inner: gzip.GzipFile, shown_as: str) -> None:
        self.inner, self.shown_as, self.left, self.ends = inner, shown_as, MAX_UNPACKED, 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read some bytes. Raises UsageError past the limit."""
        data = self.inner.read(min(size, self.left + 1) if size >= 0 else self.left + 1)
        self.left -= len(data)
        if self.left < 0:
            limit = f"more than {MAX_UNPACKED // 1024**2} MiB"
            raise UsageError(f"{self.shown_as} unpacks to {limit}; give the .tex file alone")
        self.ends += not data
        if self.ends > _MOST_ENDS:
            raise EOFError("it ends before a file in it does")
        return data


class _Header(tarfile.TarInfo):
    """A header of a file in an archive. Names and other facts of files, which tarfile reads whole, are short."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Return a header. Raises ReadError for one with facts that are too long, or of a file with holes."""
        header = super().frombuf(buf, encoding, errors)
        if header.type == tarfile.GNUTYPE_SPARSE or (header.type in _OF_FACTS and header.size > _LONGEST_FACTS):
            raise tarfile.ReadError(f"a header of {header.size} bytes, or of a file with holes")
        return header


def _gzip(data: bytes, shown_as: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a .tar.gz, or the one file that is in a .gz."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as unpacked:
        stream = _CountedReader(unpacked, shown_as)
        head = stream.read(512)
        if head[257:262] != b"ustar":
            yield "main.tex", head + stream.read(MAX_TEXT)
            return
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as unpacked:
        counted = _CountedReader(unpacked, shown_as)
        with tarfile.open(fileobj=counted, mode="r|", tarinfo=_Header) as tar:
            for number, member in enumerate(tar):
                if number >= MAX_MEMBERS:
                    raise UsageError(f"{shown_as} has more than {MAX_MEMBERS} files; give the .tex file alone")
                name = _inside(member.name)
                file = tar.extractfile(member) if name and member.isreg() and not member.issparse() else None
                if file is not None and name is not None:
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
