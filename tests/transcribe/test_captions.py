"""Captions and titles in LaTeX, without their citations."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.latex.document import read_latex
from imlp_audit.transcribe.latex.source import join_source


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"Comparison of models \cite{a} .", "Comparison of models."),
        (r"Models~\cite{a, b}, trained anew", "Models, trained anew"),
        (r"DeiT (\cite{a}) and Swin (see \citep{a}, \citep{b}).", "DeiT and Swin."),
        (r"as it was [\cite{a}]", "as it was"),
        (r"Results from \cite{a}, and \citep{b}; others", "Results from; others"),
        (r"Numbers are taken from \cite{z}.", "Numbers are taken from."),
        (r"See Table~\ref{t} (cf. \eqref{e}).", "See Table."),
        (r"of [\textbf{24}]", "of [24]"),
    ],
)
def test_a_caption_has_no_citations(tex: str, text: str) -> None:
    table = r"\begin{tabular}{ll} a & b \\ c & 1 \end{tabular}"
    document = read_latex(
        join_source("a.tex", rf"\begin{{table}}\caption{{{tex}}}{table}\end{{table}}", lambda name: None)
    )
    assert document.tables[0].caption == text


def test_authors_have_no_signs_of_affiliations() -> None:
    tex = (
        r"\author{A. One$^{1,2}$\thanks{x} \and B. Two\textsuperscript{2}, C. X\inst{1} and D. Four$^{\star,\dagger}$}"
    )
    assert read_latex(join_source("a.tex", tex, lambda name: None)).authors == "A. One, B. Two, C. X and D. Four"


def test_a_title_and_a_caption_are_sentences() -> None:
    rows = r"\begin{tabular}{ll}Model & Top-1 \\ \hline A & 1\end{tabular}"
    tex = rf"""\newcommand{{\sota}}{{models from~\cite{{x}}}} \title{{Better than \sota, and more \thanks{{A}}}}
    \begin{{table}}\caption{{Compared with \sota .}}{rows}\end{{table}}"""
    document = read_latex(join_source("a.tex", tex, lambda name: None))
    assert document.title == "Better than models from, and more"
    assert document.tables[0].caption == "Compared with models from."
