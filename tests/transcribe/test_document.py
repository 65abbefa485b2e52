"""Documents of every kind as lines, and what is said of those that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.transcribe.sources import read_document

from .pdfs import Put, make_pdf
from .two_nets import cover_text


def test_a_document_longer_than_a_book_is_answered_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imlp_audit.transcribe.sources.MAX_CHARACTERS", 1000)
    (tmp_path / "notes.txt").write_text("a\n" + "\\draw (0,1);" * 100, encoding="utf-8")
    with pytest.raises(UsageError, match=r"notes.txt has 1 202 characters, more than the 1 000 of a long book"):
        read_document(tmp_path / "notes.txt")


def pdf(*pages: str) -> bytes:
    """Write a PDF with a page for each text; a page without text has no text layer."""
    return make_pdf(*([Put(50, 700 - 14 * at, line) for at, line in enumerate(page.split("\n"))] for page in pages))


def test_a_pdf_has_its_numbers_by_page(tmp_path: Path) -> None:
    table = "Table 1: Sizes\nNet-S12 5.72 72.2\nn = 3 5.00 (-12.6%) 72.6\n2"
    (tmp_path / "paper.pdf").write_bytes(pdf("We have 7 nets.\n1", table))
    document = read_document(tmp_path / "paper.pdf")
    assert [(line.page, line.number, line.text) for line in document.lines][:3] == [
        (1, 1, "We have 7 nets."),
        (1, 2, "1"),
        (2, 1, "Table 1: Sizes"),
    ]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (
            "scan.pdf",
            pdf("", ""),
            "scan.pdf has no text layer (a scan?): give the paper's LaTeX source (init) or its text (coverage)",
        ),
        ("torn.pdf", b"%PDF-1.4\nnothing", "torn.pdf cannot be read: it is not a sound PDF"),
        ("weights.bin", b"\x00\x01\x02", "weights.bin is not text; give a document: text, markdown or a PDF"),
        ("empty.txt", b"\n", "empty.txt is empty; give a document: text, markdown or a PDF"),
        ("spec.yaml", b"paper: p\n", "spec.yaml is YAML, not a document: give the document first"),
        ("page.html", b"<p>5.72</p>", "page.html: HTML is not read; give the paper's PDF, or its text"),
        ("main.tex", b"We use 9.", "main.tex: LaTeX is not read; give the paper's PDF, or its text"),
        ("paper.zip", b"PK\x03\x04torn", "paper.zip is an archive, which is not read; give the paper's PDF"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_to_do(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError) as raised:
        read_document(tmp_path / name)
    assert said in str(raised.value)


def test_data_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imlp_audit.transcribe.cover.MOST_NUMBERS", 30)
    with pytest.raises(UsageError, match=r"paper.txt has more than 30 numbers up to line 4: this is data"):
        cover_text(tmp_path, "1 2 3 4 5 6 7 8 9\n" * 40)
