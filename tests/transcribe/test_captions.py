"""Captions and titles in LaTeX, without their citations."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.latex.document import read_latex
from imlp_audit.transcribe.latex.source import join_source
from imlp_audit.transcribe.latex.text import to_sentence


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"Comparison of models \cite{a} .", "Comparison of models."),
        (r"Models~\cite{a, b}, trained anew", "Models, trained anew"),
        (r"DeiT (\cite{a}) and Swin (see \citep{a}, \citep{b}).", "DeiT and Swin."),
        (r"as it was [\cite{a}]", "as it was"),
        (r"Results from \cite{a}, and \citep{b}; others", "Results from […]; others"),
        (r"Numbers from~\cite{x}, \cite[Tab.~2]{y}, and ours.", "Numbers from […], and ours."),
        (r"Numbers are taken from \cite{z}.", "Numbers are taken from […]."),
        (r"models, e.g. \cite{a}, \cite{b} and \cite{c}, on", "models, e.g. […], on"),
        (r"See \S\ref{s}, Table~\ref{t} (cf. \eqref{e}).", "See §[…], Table […] (cf. […])."),
        (r"\citet{x} report \textcite*{x}'s results", "[…] report […]'s results"),
        (r"by \cite{x}'s code", "by […]'s code"),
        (r"following \cite{timm} : X", "following […]: X"),
        (r"of [\textbf{24}]", "of [24]"),
    ],
)
def test_a_citation_leaves_no_hole(tex: str, text: str) -> None:
    assert to_sentence(tex, {}) == text


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
    assert document.title == "Better than models from […], and more"
    assert document.tables[0].caption == "Compared with models from […]."
