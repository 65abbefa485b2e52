"""A source archive as arXiv or Overleaf serves it, read in memory: nothing is written to disk."""

from __future__ import annotations

import gzip
import io
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

from imlp_audit.errors import UsageError

MAX_UNPACKED = 192 * 1024 * 1024
MAX_FILE = 32 * 1024 * 1024
MAX_MEMBERS = 5_000
_ENDINGS = (".tex", ".ltx", ".sty", ".cls", ".tikz", ".inc")
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
_USUAL = ("main", "paper", "ms", "root", "article", "manuscript", "arxiv")


def read_archive(data: bytes, shown_as: str) -> tuple[str, dict[str, str]]:
    """Return the name of the main file, and all files of LaTeX in the archive by their paths.

    Raises UsageError for an archive that is broken, too large, or has no LaTeX.
    """
    try:
        members = dict(_zip(data, shown_as) if data.startswith(b"PK") else _gzip(data, shown_as))
    except _BROKEN as error:
        raise UsageError(f"{shown_as} cannot be unpacked ({error}); download it again") from error
    texts = {name: _text(content) for name, content in members.items()}
    main = _main(texts)
    if main is None:
        raise UsageError(f"{shown_as} has no LaTeX in it; give the source of a paper, or save a spreadsheet as CSV")
    return main, texts


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


class _CountedReader(io.RawIOBase):
    """A stream that ends with an error once more was read than an archive may hold."""

    def __init__(self, inner: gzip.GzipFile, shown_as: str) -> None:
        self.inner, self.shown_as, self.left = inner, shown_as, MAX_UNPACKED

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read some bytes. Raises UsageError past the limit."""
        data = self.inner.read(min(size, self.left + 1) if size >= 0 else self.left + 1)
        self.left -= len(data)
        if self.left < 0:
            raise UsageError(_too_large(self.shown_as))
        return data


def _too_large(shown_as: str) -> str:
    return f"{shown_as} unpacks to more than {MAX_UNPACKED // 1024**2} MiB; give the .tex file alone"


def _gzip(data: bytes, shown_as: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a .tar.gz, or the one file that is in a .gz."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as unpacked:
        stream = _CountedReader(unpacked, shown_as)
        head = stream.read(512)
        if head[257:262] != b"ustar":
            yield "main.tex", head + stream.read(MAX_FILE)
            return
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as unpacked:
        counted = _CountedReader(unpacked, shown_as)
        with tarfile.open(fileobj=counted, mode="r|") as tar:
            for number, member in enumerate(tar):
                if number >= MAX_MEMBERS:
                    raise UsageError(f"{shown_as} has more than {MAX_MEMBERS} files; give the .tex file alone")
                name = _inside(member.name)
                file = tar.extractfile(member) if name and member.isreg() and member.size <= MAX_FILE else None
                if file is not None and name is not None:
                    yield name, file.read()


def _zip(data: bytes, shown_as: str) -> Iterator[tuple[str, bytes]]:
    left = MAX_UNPACKED
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if len(infos) > MAX_MEMBERS:
            raise UsageError(f"{shown_as} has more than {MAX_MEMBERS} files; give the .tex file alone")
        for info in infos:
            name = _inside(info.filename)
            if name is None or info.is_dir():
                continue
            with archive.open(info) as file:
                content = file.read(min(MAX_FILE, left) + 1)
            left -= len(content)
            if left < 0:
                raise UsageError(_too_large(shown_as))
            yield name, content[:MAX_FILE]


def _inside(name: str) -> str | None:
    """Return the path of a file of LaTeX in the archive; None for other files and for paths that lead out of it."""
    path = posixpath.normpath(name)
    if path.startswith(("/", "..")) or not path.lower().endswith(_ENDINGS):
        return None
    return path
