"""Files that would take hours or all memory to read: a clear error, from the command, within a time limit."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

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


def pdf(content: bytes, pages: bytes = b"[3 0 R]") -> bytes:
    """Return a PDF of one page with this content, packed; `pages` are those that its tree lists."""
    packed = zlib.compress(content)
    body = b"".join(
        b"%d 0 obj\n%s\nendobj\n" % one
        for one in (
            (1, b"<< /Type /Catalog /Pages 2 0 R >>"),
            (2, b"<< /Type /Pages /Kids %s /Count 1 >>" % pages),
            (3, b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> >>"),
            (4, b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)),
        )
    )
    return b"%PDF-1.5\n" + body + b"trailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"


def run(command: str, path: Path, *more: str) -> tuple[int, str]:
    """Run a command on a file; a hang fails."""
    arguments = [sys.executable, "-m", "imlp_audit", command, str(path), *more]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("claimed.tar.gz", gzip.compress(header("main.tex", 2**40)), "cannot be unpacked"),
        ("picture.tar.gz", gzip.compress(header("a.png", 2**30)), "cannot be unpacked"),
        ("name.tar.gz", gzip.compress(header("n", 2**27, tarfile.GNUTYPE_LONGNAME)), "cannot be unpacked"),
        ("facts.tar.gz", gzip.compress(header("x", 2**27, tarfile.XHDTYPE)), "cannot be unpacked"),
        ("holes.tar.gz", gzip.compress(header("main.tex", 0, tarfile.GNUTYPE_SPARSE)), "has no LaTeX in it"),
        ("facts_of_facts.tar.gz", gzip.compress(header("x", 0, tarfile.XHDTYPE) * 300_000), "cannot be unpacked"),
        ("pieces.tar.gz", gzip.compress(b"") * 6000, "is packed in more than 5000 pieces"),
        ("alone.gz", gzip.compress(b" " * 2**25), "more than 16 MiB of LaTeX"),
        ("deflated.zip", zipped(zipfile.ZIP_DEFLATED), "more than 16 MiB of LaTeX"),
        ("bzip2.zip", zipped(zipfile.ZIP_BZIP2), "not packed by deflate"),
        ("long.csv", b"a,b\n" * 2**23, "more than 16 MiB of text"),
        ("line.csv", b"a,b\nc,1\n" + b"," * 600_000, "line.csv:3: a line of more than 500000 characters"),
        ("lines.md", b"a\n" * 300_000, "more than 200000 lines"),
        ("newlines.dat", b"|" + b"\n" * 1_000_000 + b"-", "no table is seen in it"),
        ("inflated.pdf", pdf(b" " * 2**30), "more than 700 MiB of memory"),
        pytest.param(
            "endless.pdf", pdf(b"q " * 10**7), "it takes more than", marks=pytest.mark.slow
        ),  # seconds or memory, as the machine is
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_a_file_of_endless_work_is_refused(name: str, data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    code, error = run("init", tmp_path / name, "--print")
    assert (code, why in error) == (2, True), error


@pytest.mark.parametrize("opening", [b"{", rb"\textbf{", b"a^{"])
def test_a_cell_of_nested_braces_is_read_as_far_as_any_cell_goes(opening: bytes, tmp_path: Path) -> None:
    path = tmp_path / "deep.tex"
    row = rb"\\ DeiT-Ti & 5.7"
    path.write_bytes(TABLE % (opening * 30_000 + b"}" * 30_000 + b" & 1" + row))
    code, error = run("init", path, "--print")
    assert code == 0, error


def test_a_line_of_endless_addresses_is_covered(tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text("x@" * 10_000)
    specs = Path(__file__).parents[1] / "examples" / "good" / "single_file"
    code, error = run("coverage", tmp_path / "paper.txt", str(specs))
    assert code == 0, error
