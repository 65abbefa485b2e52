"""Files that would take hours or all memory to read: a clear error, from the command, within a time limit."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import call_apart

TABLE = rb"\begin{tabular}{lr}Model & Params (M)\\\hline %s & 5.7\\\end{tabular}"


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return a header that claims a size, and nothing after it."""
    one = tarfile.TarInfo(name)
    one.size, one.type = size, kind
    return one.tobuf(tarfile.GNU_FORMAT)


def zipped(method: int) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        archive.writestr("main.tex", b" " * 2**25)
    return data.getvalue()


def pdf(content: bytes, times: int) -> bytes:
    """Return a PDF of one page with this content so many times, packed."""
    packing = zlib.compressobj(1)
    packed = b"".join(packing.compress(content) for _ in range(times)) + packing.flush()
    body = b"".join(
        b"%d 0 obj\n%s\nendobj\n" % one
        for one in (
            (1, b"<< /Type /Catalog /Pages 2 0 R >>"),
            (2, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"),
            (3, b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> >>"),
            (4, b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)),
        )
    )
    return b"%PDF-1.5\n" + body + b"trailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("claimed.tar.gz", lambda: gzip.compress(header("main.tex", 2**40)), "cannot be unpacked"),
        ("picture.tar.gz", lambda: gzip.compress(header("a.png", 2**30)), "cannot be unpacked"),
        ("name.tar.gz", lambda: gzip.compress(header("n", 2**27, tarfile.GNUTYPE_LONGNAME)), "cannot be unpacked"),
        ("facts.tar.gz", lambda: gzip.compress(header("x", 2**27, tarfile.XHDTYPE)), "cannot be unpacked"),
        ("holes.tar.gz", lambda: gzip.compress(header("main.tex", 0, tarfile.GNUTYPE_SPARSE)), "has no LaTeX in it"),
        (
            "facts_of_facts.tar.gz",
            lambda: gzip.compress(header("x", 0, tarfile.XHDTYPE) * 300_000),
            "cannot be unpacked",
        ),
        ("pieces.tar.gz", lambda: gzip.compress(b"") * 6000, "is packed in more than 5000 pieces"),
        ("alone.gz", lambda: gzip.compress(b" " * 2**25), "more than 16 MiB of LaTeX"),
        ("deflated.zip", lambda: zipped(zipfile.ZIP_DEFLATED), "more than 16 MiB of LaTeX"),
        ("bzip2.zip", lambda: zipped(zipfile.ZIP_BZIP2), "not packed by deflate"),
        ("long.csv", lambda: b"a,b\n" * 2**23, "more than 16 MiB of text"),
        ("line.csv", lambda: b"a,b\nc,1\n" + b"," * 600_000, "line.csv:3: a line of more than 500000 characters"),
        ("lines.md", lambda: b"a\n" * 300_000, "more than 200000 lines"),
        ("newlines.dat", lambda: b"|" + b"\n" * 1_000_000 + b"-", "no table is seen in it"),
        ("inflated.pdf", lambda: pdf(b" " * 2**20, 720), "more than 700 MiB of memory"),
        pytest.param(
            "endless.pdf", lambda: pdf(b"q " * 10**4, 10**3), "it takes more than", marks=pytest.mark.slow
        ),  # seconds or memory, as the machine is
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_a_file_of_endless_work_is_refused(name: str, data: Callable[[], bytes], why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data())
    done = call_apart("init", str(tmp_path / name), "--print")
    assert (done.code, why in done.err) == (2, True), done.err


@pytest.mark.parametrize("opening", [b"{", rb"\textbf{", b"a^{"])
def test_a_cell_of_nested_braces_is_read_as_far_as_any_cell_goes(opening: bytes, tmp_path: Path) -> None:
    path = tmp_path / "deep.tex"
    row = rb"\\ DeiT-Ti & 5.7"
    path.write_bytes(TABLE % (opening * 30_000 + b"}" * 30_000 + b" & 1" + row))
    done = call_apart("init", str(path), "--print")
    assert done.code == 0, done.err


def test_a_line_of_endless_addresses_is_covered(tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text("x@" * 10_000)
    specs = Path(__file__).parents[1] / "examples" / "good" / "single_file"
    done = call_apart("coverage", str(tmp_path / "paper.txt"), str(specs))
    assert done.code == 0, done.err
