"""Source archives: read in memory, bounded, and never outside themselves."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.transcribe import sources
from imlp_audit.transcribe.sources import read_archive, read_source

Pack: TypeAlias = Callable[..., bytes]
MAIN = rb"\documentclass{article}\begin{document}\input{tabs/one}\end{document}"
TABLE = rb"\begin{tabular}{ll}Model & Params (M) \\ \hline DeiT-S & 22.1\end{tabular}"


def tar(**files: bytes) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as opened:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return data.getvalue()


def zipped(**files: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return data.getvalue()


@pytest.mark.parametrize("pack", [tar, zipped])
def test_the_main_file_and_what_it_inputs_are_read(tmp_path: Path, pack: Pack) -> None:
    data = pack(**{"figure.png": b"x", "appendix.tex": b"a", "tabs/one.tex": TABLE, "paper.tex": MAIN})
    (tmp_path / "2201.03545.tar.gz").write_bytes(data)
    (table,) = read_source(tmp_path / "2201.03545.tar.gz").tables
    assert (table.file, table.headings) == ("tabs/one.tex", ("Model", "Params (M)"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2201.03545.tar.gz"]


def test_one_file_that_is_only_compressed_is_read() -> None:
    assert read_archive(gzip.compress(TABLE), "x.gz") == ("main.tex", {"main.tex": TABLE.decode()})


@pytest.mark.parametrize("pack", [tar, zipped])
def test_paths_that_lead_out_are_left_alone(pack: Pack) -> None:
    data = pack(**{"../out.tex": b"1", "a/../../out.tex": b"2", "/abs.tex": b"3", "./in/../main.tex": MAIN})
    assert read_archive(data, "x") == ("main.tex", {"main.tex": MAIN.decode()})


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_are_read_in_every_form_of_tar(form: int) -> None:
    data = io.BytesIO()
    name = "/".join(["sections_of_the_appendix"] * 6) + "/main.tex"
    with tarfile.open(fileobj=data, mode="w:gz", format=form) as opened:
        info = tarfile.TarInfo(name)
        info.size, info.mtime = len(MAIN), 1.5
        opened.addfile(info, io.BytesIO(MAIN))
    assert read_archive(data.getvalue(), "x") == (name, {name: MAIN.decode()})


def test_links_in_an_archive_are_not_followed() -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as opened:
        link = tarfile.TarInfo("main.tex")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        opened.addfile(link)
    with pytest.raises(UsageError, match="has no LaTeX in it"):
        read_archive(data.getvalue(), "x")


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_UNPACKED", 100_000)
    with pytest.raises(UsageError, match="unpacks to more than"):
        read_archive(tar(**{"a.png": b" " * 90_000, "b.png": b" " * 90_000}), "x")


@pytest.mark.parametrize("pack", [tar, zipped])
def test_an_archive_with_too_much_latex_is_refused(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_TEXT", 100_000)
    with pytest.raises(UsageError, match="more than 0 MiB of LaTeX"):
        read_archive(pack(**{"a.tex": b" " * 90_000, "b.tex": b" " * 90_000}), "x")


@pytest.mark.parametrize("pack", [tar, zipped])
def test_an_archive_of_too_many_files_is_refused(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_MEMBERS", 3)
    with pytest.raises(UsageError, match="more than 3 files"):
        read_archive(pack(**{f"{n}.tex": b"" for n in range(5)}), "x")


@pytest.mark.parametrize(
    "data", [tar(**{"main.tex": MAIN})[:60], zipped(**{"main.tex": MAIN})[:60]], ids=["tar", "zip"]
)
def test_a_broken_archive_is_named(data: bytes) -> None:
    with pytest.raises(UsageError, match="x cannot be unpacked"):
        read_archive(data, "x")
