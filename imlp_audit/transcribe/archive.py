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
MAX_TEXT = 16 * 1024 * 1024
MAX_MEMBERS = 5_000
_PIECE = b"\x1f\x8b\x08"  # each piece of a gzip file begins so; 5000 hold over 300 MB as bgzip packs them
_ENDINGS = (".tex", ".ltx", ".sty", ".cls", ".tikz", ".inc")
_BROKEN = (ValueError, zipfile.BadZipFile, zlib.error, tarfile.TarError, EOFError, OSError, RuntimeError)
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
        yield name, decode_text(content)


def decode_text(data: bytes) -> str:
    """Return text as UTF-8, or as Latin-1 where it is none, with plain ends of lines."""
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
