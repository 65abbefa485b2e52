"""Documents of every kind as lines, and what is said of those that cannot be read."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.records.listing import NumberState
from imlp_audit.transcribe.document import read_document

from .pdfs import Put, make_pdf
from .two_nets import by_check, by_state, cover_text, missing

LATEX = r"""\documentclass[10pt]{article}
\newcommand{\best}{72.6}
\usepackage[margin=1in]{geometry}
\begin{document}
We train\cite{lee2019} for 300 epochs (Fig.~\ref{fig:7}). % not 400
\vspace{-2mm}
\begin{equation} x_1 = 2y \end{equation}
\begin{table}[t]
\caption{Sizes at 7}
\begin{tabular}{l@{\hskip 3pt}rr}
\cmidrule(lr){2-3}
Net & \multicolumn{2}{c}{Numbers} \\[2pt]
\textcolor{red}{Net-S12} & \textbf{5.72} & $72.2_{\pm0.3}$ \\
n = 3 & 5.00 ($-12.6\%$) & \best \\
\end{tabular}
\end{table}
\begin{tikzpicture} \draw (0,1) -- (2,3); \end{tikzpicture}
\input{rest}
\end{document}
"""
REST = "\\begin{table}\\caption{More}\n5.72 \\\\\n22.05\n\\end{table}\nWe use 9 of them.\n"


def test_latex_has_the_numbers_that_it_prints_at_their_lines(tmp_path: Path) -> None:
    (tmp_path / "rest.tex").write_text(REST, encoding="utf-8")
    report = cover_text(tmp_path, LATEX, name="main.tex")
    assert by_state(report, NumberState.OPEN) == [(5, "300"), (9, "7"), (13, "0.3"), (5, "9")]
    assert by_state(report, NumberState.EXPLAINED) == [(7, "2")]
    read = by_check(report)
    assert read["1/small/top1"] == [(13, "72.2")]
    assert read["1/other/top1"] == [(14, "72.6")], "a macro's number stands where it is used"
    assert read["2/large/params"] == [(3, "22.05")]
    assert {number.file for number in report.numbers if "2/large/params" in number.checks} <= {"rest.tex"}
    assert missing(report)[:1] == ["the text of claims/fewer: not found in the document"]


def test_an_archive_is_read_from_its_main_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "source.zip", "w") as archive:
        archive.writestr("main.tex", LATEX)
        archive.writestr("rest.tex", REST)
    lines = read_document(tmp_path / "source.zip").lines
    assert [(line.file, line.number) for line in lines if "22.05" in line.text] == [("rest.tex", 3)]


def test_a_document_longer_than_a_book_is_answered_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imlp_audit.transcribe.document.MAX_CHARACTERS", 1000)
    (tmp_path / "main.tex").write_text("a\n" + "\\draw (0,1);" * 100, encoding="utf-8")
    with pytest.raises(UsageError, match=r"main.tex has 1 202 characters, more than the 1 000 of a long book"):
        read_document(tmp_path / "main.tex")


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
        ("scan.pdf", pdf("", ""), "scan.pdf has no text layer"),
        ("torn.pdf", b"%PDF-1.4\nnothing", "torn.pdf cannot be read: it is not a sound PDF"),
        ("weights.bin", b"\x00\x01\x02", "weights.bin is not text; give a document: text, markdown, LaTeX"),
        ("empty.txt", b"\n", "empty.txt is empty; give a document: text, markdown, LaTeX"),
        ("spec.yaml", b"paper: p\n", "spec.yaml is YAML, not a document: give the document first"),
        ("page.html", b"<p>5.72</p>", "page.html: HTML is not read; save the page as text"),
        ("paper.zip", b"PK\x03\x04torn", "paper.zip cannot be unpacked"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_to_do(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError) as raised:
        read_document(tmp_path / name)
    assert said in str(raised.value)


def test_data_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imlp_audit.transcribe.cover.MOST_NUMBERS", 30)
    with pytest.raises(UsageError, match=r"paper.txt has more than 30 numbers up to paper.txt, line 4: this is data"):
        cover_text(tmp_path, "1 2 3 4 5 6 7 8 9\n" * 40)
