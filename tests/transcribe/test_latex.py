"""Tables in LaTeX: the cells that were written are the cells that are read, whatever they are dressed in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from imlp_audit.transcribe.cells import split_mark
from imlp_audit.transcribe.grid import SourceDocument
from imlp_audit.transcribe.latex.document import join_source, read_latex
from imlp_audit.transcribe.latex.scan import to_text

from .writers import Cells, grids, latex


def read(tex: str, **files: str) -> SourceDocument:
    return read_latex(join_source("main.tex", tex, lambda name: files.get(name)))


def cells(tex: str) -> list[tuple[str, ...]]:
    (table,) = read(rf"\begin{{tabular}}{{lll}} {tex} \end{{tabular}}").tables
    return [table.headings, *(row.cells for row in table.rows)]


@settings(max_examples=40)
@given(grids())
def test_what_was_written_is_read(grid: Cells) -> None:
    (table,) = read(latex(grid)).tables
    assert [list(table.headings), *(list(row.cells) for row in table.rows)] == grid
    assert (table.number, table.label, table.caption) == ("1", "t", "A table")


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\textbf{79.8}", "79.8"),
        (r"{\bf 79.8}", "79.8"),
        (r"$\mathbf{79.8}$", "79.8"),
        (r"79.8$_{\pm 0.1}$", "79.8 ±0.1"),
        (r"79.8 {\scriptsize$\pm$0.1}", "79.8 ±0.1"),
        (r"5.00 {\small ($-12.6\%$)}", "5.00 (-12.6%)"),
        (r"5.00\,M", "5.00 M"),
        (r"25\,557\,032", "25557032"),
        (r"1{,}415.1", "1,415.1"),
        (r"224$^2$", "224^2"),
        (r"224\textsuperscript{2}", "224^2"),
        (r"$224\times224$", "224×224"),
        (r"DeiT-S~\cite[Tab.~1]{deit}", "DeiT-S"),
        (r"DeiT-S$^{\dagger}$", "DeiT-S†"),
        (r"DeiT-S\textsuperscript{*}", "DeiT-S*"),
        (r"DeiT-S\tnote{a}", "DeiT-S^a"),
        (r"\textcolor{gray}{DeiT-S}", "DeiT-S"),
        (r"\cellcolor{gray!20}\textbf{4.6}", "4.6"),
        (r"\color[HTML]{FF0000}4.6", "4.6"),
        (r"\begin{tabular}[c]{@{}c@{}}Top-1\\ Acc.\end{tabular}", "Top-1 Acc."),
        (r"\makecell[c]{Top-1 \\ Acc.}", "Top-1 Acc."),
        (r"\rotatebox{90}{Params}", "Params"),
        (r"\num{5.70}", "5.70"),
        (r"\SI{5.7}{\mega}", "5.7 M"),
        (r"\phantom{0}4.6", "4.6"),
        (r"$\sim$25.6", "~25.6"),
        (r"J\'egou \"uber \c{c}a", "Jégou über ça"),
        (r"4.6\footnote{By fvcore.}", "4.6⋄"),
        (r"DeiT-S\footnotemark", "DeiT-S⋄"),
        (r"DeiT-S\footnotemark[1]", "DeiT-S^¹"),
        (r"DeiT-S\tnote{1}", "DeiT-S^¹"),
        (r"DeiT-S\tnote{$\dagger$}", "DeiT-S†"),
        (r"\tabincell{c}{Top-1\\(\%)}", "Top-1 (%)"),
        (r"\mycell[t]{lt}{Top-1\\(\%)}", "Top-1 (%)"),
        (r"\best{c}", "c"),
        (r"\best{cd}{e}", "cde"),
        (r"\begin{tabular*}{2cm}{c}Top-1\\(\%)\end{tabular*}", "Top-1 (%)"),
        (r"$\begin{array}{c}a\\b\end{array}$", "a b"),
        (r"\begin{turn}{90}Params\end{turn}", "Params"),
        (r"\diagbox{Model}{Cost}", "Model/Cost"),
        (r"\href{http://x.y/a_b}{DeiT}", "DeiT"),
        (r"$^{\dagger*}$", "†*"),
        (r"@224$\Upsilon$", "@224Υ"),
        (r"$\uparrow$384$\Upsilon$", "↑384Υ"),
        (r"\ding{51}", "✓"),
        (r"$\frac{H}{4}$", "H/4"),
        (r"\foo S-24", "S-24"),
        (r"\foo [S] 24", "[S] 24"),
        (r"\foo[red]{S} 24", "S 24"),
        (r"\foo@24", "@24"),
        (r"{\sl DeiT}", "DeiT"),
        ("--", "–"),
        ("{" * 100 + "4.6" + "}" * 100, "4.6"),
        ("\\", ""),
        ("{4.6", "4.6"),
    ],
)
def test_a_cell_is_what_it_prints(tex: str, text: str) -> None:
    assert to_text(tex) == text


def test_cells_over_rows_and_columns_are_in_each() -> None:
    tex = r"""\toprule \multirow{2}{*}{Model} & \multicolumn{2}{c}{Cost} \\ \cmidrule(lr){2-3}
        & Params (M) & FLOPs (G) \\ \midrule
        \multirow{2}*{DeiT-S} & 22.1 & 4.6 \\ & \textbf{22.0} & 4.5 \\ \bottomrule"""
    assert cells(tex) == [
        ("Model", "Cost Params (M)", "Cost FLOPs (G)"),
        ("DeiT-S", "22.1", "4.6"),
        ("DeiT-S", "22.0", "4.5"),
    ]


def test_a_cell_may_stand_for_the_rows_above_it() -> None:
    tex = r"a & b & c \\ \hline & 1 & 3 \\ \multirow{-2}{*}{y} & 2 & 4 \\"
    assert cells(tex)[1:] == [("y", "1", "3"), ("y", "2", "4")]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (r"DeiT-S\alambic~\cite{deit}", "DeiT-S⋄"),  # distilled, as a picture says
        (r"DeiT-S~\includegraphics[width=1em]{alembic.pdf}", "DeiT-S ⋄"),
        (r"DeiT-S\nobodyknows", "DeiT-S⋄"),
        (r"\alambic DeiT-S", "DeiT-S"),
        (r"\nobodyknows 82.1", "82.1"),
        (r"\nobodyknows{82.1}", "82.1"),
        (r"82.1\nobodyknows{}", "82.1"),
    ],
)
def test_a_picture_or_an_unknown_macro_behind_a_text_is_a_mark(cell: str, text: str) -> None:
    tex = r"\def\alambic{\includegraphics[width=0.02\linewidth]{figs/alembic-crop.pdf}\xspace}"
    (table,) = read(rf"{tex} \begin{{tabular}}{{ll}} a & b \\ \hline {cell} & 1 \\ \end{{tabular}}").tables
    assert table.rows[0].cells[0].rstrip() == text


def test_a_cell_of_several_lines_over_rows_is_its_text() -> None:
    tex = r"\multirowthead{2}{Mo\\del} & \multirowcell{2}[-1ex][c]{b} & c \\ & & d \\ \hline x & 1 & 2"
    assert cells(tex) == [("Mo del", "b", "c d"), ("x", "1", "2")]


def test_the_last_definition_of_a_name_is_taken() -> None:
    tex = r"""\def\net{A}\newcommand{\net}{B}\DeclareMathOperator{\other}{C}\def\other{D}
        \begin{tabular}{ll} a & b \\ \hline \net & \other\end{tabular}"""
    (table,) = read(tex).tables
    assert [row.cells for row in table.rows] == [("B", "D")]


def test_notes_below_a_table_are_read() -> None:
    tex = r"""\begin{table}\begin{threeparttable}\begin{tabular}{ll} a & b \\ \hline x\tnote{1} & 2 \\ \end{tabular}
        \begin{tablenotes}[flushleft]\small \item[1] At $288^2$.\end{tablenotes}\end{threeparttable}\end{table}"""
    (table,) = read(tex).tables
    assert "At 288^2." in table.around
    assert split_mark(table.rows[0].cells[0]) == ("x", "¹")


def test_rules_of_ones_own_are_rules() -> None:
    tex = r"""\def\shline{\noalign{\ifnum0=`}\fi\hrule height 1pt}
        \begin{tabular}{ll}\shline a & b \\ c & d \\ \shline 1 & 2\end{tabular}"""
    (table,) = read(tex).tables
    assert table.headings == ("a c", "b d")
    assert [row.cells for row in table.rows] == [("1", "2")]


def test_the_authors_macros_are_expanded() -> None:
    tex = r"""\newcommand{\ours}[2][-]{\textbf{#2}#1} \def\x{$\times$} \newcommand*\net{DeiT-S\xspace}
        \begin{tabular}{ll} a & b \\ \hline \net & \ours[\x]{1.5} \\ \net{} & \ours{2}\end{tabular}"""
    (table,) = read(tex).tables
    assert [row.cells for row in table.rows] == [("DeiT-S", "1.5×"), ("DeiT-S", "2-")]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (r"\deit III-S", "DeiT III-S"),
        (r"\deit-S", "DeiT-S"),
        (r"\deit{}-S", "DeiT-S"),
        (r"\deit\ S", "DeiT S"),
        (r"\deit@384", "DeiT @384"),
        (r"\deit$^\dagger$", "DeiT †"),
        (r"\bb Swin-T", "Swin-T"),
        (r"\bo Swin-T", "Swin-T"),
        (r"\bb\plain", "Net"),
        (r"\plain S", "NetS"),
        (r"\under{Net}", "Net"),
        (r"\best{\plain}", "Net"),
        (r"\two{a}{b}", "b a"),
    ],
)
def test_a_name_ends_where_tex_ends_it(cell: str, text: str) -> None:
    tex = r"""\newcommand{\deit}{DeiT\xspace} \newcommand{\bb}{\bf} \let\bo=\bf \def\plain{Net}
        \newcommand{\best}[1]{{\bf#1}}
        \newcommand\under[1]{\underline#1} \NewDocumentCommand{\two}{m m}{#2 #1} \newcommand{\tr}{\toprule}
        \begin{tabular}{ll}\tr model & b \\\midrule %s & 1 \\plain & 2\end{tabular}"""
    (table,) = read(tex % cell).tables
    assert table.headings == ("model", "b")
    assert [row.cells for row in table.rows] == [(text, "1"), ("plain", "2")]
    assert table.notes == ()


def test_braces_after_a_rule_are_the_first_cell() -> None:
    tex = r"""\newcommand{\thick}[1]{\noalign{\hrule height #1}} \begin{tabular*}{1cm}{@{\extracolsep{\fill}}ll}
        \Xhline{1pt}
        {Model} & {a} \\ \cmidrule[1pt](lr){1-2} \midrule {\bf Swin-T} & 1 \\ \myrule{.5pt} {B} & 2 \\ \hline
        \end{tabular*}"""
    (table,) = read(tex).tables
    assert (table.headings, table.notes) == (("Model", "a"), ())
    assert [row.cells for row in table.rows] == [("Swin-T", "1"), ("B", "2")]


def test_a_tabular_in_a_definition_is_no_table() -> None:
    tex = r"""\newcommand{\cell}[2]{\begin{tabular}[c]{@{}c@{}}#1\\#2\end{tabular}}
        \def\two#1{\begin{tabular}{l}#1\end{tabular}}
        \newenvironment{mine}[1]{\begin{table}\begin{tabular}{#1}}{\end{tabular}\end{table}}
        \begin{tabular}{ll} \cell{Top-1}{Acc.} & b \\ \hline \two{x} & 1\end{tabular}"""
    (table,) = read(tex).tables
    assert (table.number, table.headings, table.rows[0].cells) == ("1", ("Top-1 Acc.", "b"), ("x", "1"))
    (table,) = read(r"\newcommand{\main}{\begin{tabular}{ll} a & b \\ \hline x & 1\end{tabular}} \main").tables
    assert table.rows[0].cells == ("x", "1")


@pytest.mark.parametrize(
    "definition",
    [r"\def\loop{\loop 7}", r"\def\loop{\again\again}\def\again{\loop\loop}", r"\def\loop{\loop\loop\loop}"],
)
def test_a_macro_that_never_ends_is_left_out_and_named(definition: str) -> None:
    (table,) = read(rf"{definition}\begin{{tabular}}{{ll}} a & b \\ \hline x & 4\loop 2\end{{tabular}}").tables
    assert [row.cells for row in table.rows] == [("x", "42")]
    assert any("expand into themselves" in note and r"\loop" in note for note in table.notes)


def test_comments_and_what_is_not_set_are_not_read() -> None:
    tex = r"""\begin{verbatim}\begin{tabular}{l} a \\ b \end{tabular}\end{verbatim}
        % \begin{tabular}{l} c \\ d \end{tabular}
        \iffalse \begin{tabular}{l} e \\ f \end{tabular} \fi
        \begin{tabular}{ll} g & 100\% \\ % x & y \\
        h & 1 \end{tabular}"""
    (table,) = read(tex).tables
    assert table.headings == ("g", "100%")
    assert [(row.line, row.cells) for row in table.rows] == [(5, ("h", "1"))]


def test_nothing_is_read_after_the_end_of_the_document() -> None:
    small = r"\begin{tabular}{ll} a & b \\ \hline 5\% & \\% no cell"
    tables = read(f"% \\end{{document}}\n{small}\n1 \\end{{tabular}}\\end{{document}}{small} 2\\end{{tabular}}").tables
    assert [row.cells for table in tables for row in table.rows] == [("5%", ""), ("1", "")]


def test_files_that_are_input_are_read_in_their_place_and_lines_are_theirs() -> None:
    document = read(
        "\\begin{table}\\caption{C}\n\\input{tabs/one}\\label{tab:one}\\end{table}\n\\input{gone}\\input{main}",
        **{"tabs/one.tex": "% x\n\\begin{tabular}{ll}\na & b \\\\ \\hline\nc & 1\\end{tabular}"},
    )
    (table,) = document.tables
    assert (table.file, table.line, table.caption, table.label) == ("tabs/one.tex", 2, "C", "tab:one")
    assert [row.line for row in table.rows] == [4]
    assert document.notes == ("not there, so not read: gone",)


def test_tables_are_numbered_as_floats_with_their_captions_and_labels() -> None:
    small = r"\begin{tabular}{l} a \\ b \end{tabular}"
    tex = rf"""\begin{{table*}}\caption{{One \cite{{x}}.}}\label{{a}}{small}{small}\end{{table*}}
        \begin{{table}}{small}\caption{{Two}}\label{{b}} {small}\caption{{Three}}\label{{c}}\end{{table}} {small}"""
    tables = read(tex).tables
    assert [(table.number, table.caption, table.label) for table in tables] == [
        ("1a", "One.", "a"),
        ("1b", "One.", "a"),
        ("2", "Two", "b"),
        ("3", "Three", "c"),
        ("4", "", None),
    ]


def test_tables_are_numbered_as_the_paper_does() -> None:
    small = r"\begin{tabular}{ll} a & b \\ x & 1 \end{tabular}"
    part = rf"\begin{{subtable}}{{1cm}}{small}\caption{{%s}}\end{{subtable}}"
    tex = rf"""\author{{{small}}} \begin{{table}}\includegraphics{{x}}\caption{{A picture}}\end{{table}}
        \begin{{figure}}{small}\caption{{A figure}}\end{{figure}} \begin{{table}}{small}\caption*{{Bare}}\end{{table}}
        \begin{{table}}{part % "Left"}{part % "Right"}\caption{{Both}}\end{{table}}
        \begin{{figure}}{small}\captionof{{table}}{{In a figure}}\end{{figure}}"""
    assert [(table.number, table.caption) for table in read(tex).tables] == [
        ("4", ""),
        ("5", "A figure"),
        ("6", "Bare"),
        ("2a", "Both Left"),
        ("2b", "Both Right"),
        ("3", "In a figure"),
    ]


def test_a_table_without_an_end_is_named_and_the_others_are_read() -> None:
    document = read("\\begin{table}\n\\begin{tabular}{l}\na\n\\end{table}\\begin{tabular}{l} a \\\\ b\\end{tabular}")
    assert [note.split(",")[0] for note in document.notes] == [r"main.tex:2: \begin{tabular} has no \end{tabular}"]
    assert [table.headings for table in document.tables] == [("a",)]


def test_a_title_is_read() -> None:
    assert read(r"\title{On \emph{x} \\ and y\footnote{See z.}}").title == "On x and y"
    assert read(r"\icmltitlerunning{Short} \icmltitle{On \emph{x}}").title == "On x"


@pytest.mark.parametrize(
    "rule", [r"\hline", r"\midrule", r"\midrule[1pt]", r"\cmidrule(lr){1-2}", r"\cmidrule[1pt](r){1-2}"]
)
def test_brackets_after_a_rule_belong_to_the_row_unless_they_trim_the_rule(rule: str) -> None:
    assert cells(rf"Model & P \\ {rule} (a) & 1 \\ {rule} () & 2 \\") == [("Model", "P"), ("(a)", "1"), ("()", "2")]


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
    assert read(rf"\begin{{table}}\caption{{{tex}}}{table}\end{{table}}").tables[0].caption == text


def test_a_title_and_a_caption_are_sentences() -> None:
    rows = r"\begin{tabular}{ll}Model & Top-1 \\ \hline A & 1\end{tabular}"
    tex = rf"""\newcommand{{\sota}}{{models from~\cite{{x}}}} \title{{Better than \sota, and more \thanks{{A}}}}
    \begin{{table}}\caption{{Compared with \sota .}}{rows}\end{{table}}"""
    document = read(tex)
    assert document.title == "Better than models from, and more"
    assert document.tables[0].caption == "Compared with models from."
