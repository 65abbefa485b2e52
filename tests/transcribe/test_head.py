"""Headings and titles, at the top of a table and between its rows."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.draft import Draft, draft_table
from imlp_audit.transcribe.grid import SourceTable
from imlp_audit.transcribe.latex.document import read_latex
from imlp_audit.transcribe.latex.source import join_source
from imlp_audit.transcribe.web import read_web
from imlp_audit.transcribe.write import decisions_of

TITLE = r"\multicolumn{4}{c}{\textbf{(%s) %s}} \\ "
HEAD = r"\multirow{2}{*}{Model} & image & \#param. & FLOPs \\ & size & (M) & (G) \\ \hline "
SWIN_T = r"Swin-T & 224$^2$ & 28.3 & 4.5 \\ "
SWIN_B = r"Swin-B & 384$^2$ & 88 & 47.0 \\ "
HEADINGS = ("Model", "image size", "#param. (M)", "FLOPs (G)")


def read(body: str) -> SourceTable:
    tex = rf"\begin{{table}}\begin{{tabular}}{{lcrr}} {body} \end{{tabular}}\caption{{Results}}\end{{table}}"
    return read_latex(join_source("x.tex", tex, lambda name: None)).tables[0]


def printed(draft: Draft) -> list[dict[str, str]]:
    return [row.numbers.printed for row in draft.rows]


def test_a_row_over_all_columns_above_the_headings_is_a_title() -> None:
    table = read(TITLE % ("a", "Regular") + r"\hline " + HEAD + SWIN_T + SWIN_B)
    assert table.headings == HEADINGS
    draft = draft_table(table)
    assert printed(draft) == [{"params": "28.3", "flops": "4.5"}, {"params": "88", "flops": "47.0"}]
    assert draft.rows[0].remarks == ("under the heading '(a) Regular'",)


def test_a_second_block_with_a_title_and_the_same_headings_is_read_with_the_same_columns() -> None:
    one = TITLE % ("a", "ImageNet-1K") + r"\hline " + HEAD + SWIN_B
    two = r"\hline \multicolumn{4}{c}{~}\\" + TITLE % ("b", "ImageNet-22K") + r"\hline " + HEAD + SWIN_B
    table = read(one + two)
    draft = draft_table(table)
    assert printed(draft) == [{"params": "88", "flops": "47.0"}] * 2
    assert [row.training for row in draft.rows] == ["(a) ImageNet-1K", "(b) ImageNet-22K"]
    assert table.notes == ("the headings stand between the rows too (1 time); the columns below are the same",)


def test_headings_that_are_repeated_between_the_rows_are_no_row() -> None:
    head = r"Model & Image size & Params & FLOPs \\ \hline "
    table = read(head + SWIN_T + r"\hline " + head.replace("Params", "params") + SWIN_B)
    assert [row.cells[0] for row in table.rows] == ["Swin-T", "Swin-B"]
    assert [row.numbers.size for row in draft_table(table).rows] == [224, 384]


@pytest.mark.parametrize(
    "other",
    [
        "Model & Image size & FLOPs & Params",
        "Model & Image size & Params & mAP",
        "Model & Image size & Params (k) & mAP",
    ],
)
def test_rows_under_other_headings_are_not_read_with_these_columns(other: str) -> None:
    head = r"Model & Image size & Params & FLOPs \\ \hline "
    table = read(rf"{head} {SWIN_T} \hline {other} \\ \hline {SWIN_B}")
    assert [row.cells[0] for row in table.rows] == ["Swin-T"]
    assert table.notes[-1].startswith("other headings follow (Model, Image size, ")


def test_a_heading_over_some_columns_is_no_title() -> None:
    table = read(r"& \multicolumn{3}{c}{ImageNet} \\ Model & V1 & V2 & Real \\ \hline x & 1 & 2 & 3 \\ y & 1 & 2 & 3")
    assert table.headings == ("Model", "ImageNet V1", "ImageNet V2", "ImageNet Real")


def test_the_title_of_a_table_on_a_page_is_no_heading() -> None:
    rows = ["<th colspan=3>Main results", "<th>Model<th>Params (M)<th>Top-1", "<td>a<td>5<td>70", "<td>b<td>6<td>71"]
    (table,) = read_web(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>", "x.html").tables
    assert table.headings == ("Model", "Params (M)", "Top-1")
    assert [row.single for row in table.rows] == ["Main results", None, None]


def test_columns_with_one_heading_are_left_out_and_named() -> None:
    draft = draft_table(read(r"Model & FLOPs & FLOPs & Params (M) \\ \hline x & 1.1 & 2.2 & 5 \\ y & 1.3 & 2.4 & 6"))
    assert printed(draft) == [{"params": "5"}, {"params": "6"}]
    assert "2 columns have the heading 'FLOPs', so they are left out: give each its own" in decisions_of(draft)


def test_a_table_that_is_set_in_two_halves_is_one() -> None:
    half = "Model & Params (M)"
    table = read(rf"{half} & {half} \\ \hline a & 1 & c & 3 \\ \multicolumn{{4}}{{c}}{{big}} \\ b & 2 & & \\")
    assert table.headings == ("Model", "Params (M)")
    assert [row.cells for row in table.rows if row.single is None] == [("a", "1"), ("b", "2"), ("c", "3")]


def test_a_column_of_numbers_above_100_is_no_score_in_percent() -> None:
    draft = draft_table(
        read(r"Model & Top-1 & ImageNet acc. & FLOPs \\ \hline x & 1156.7 & 80 & 4 \\ y & 591.6 & 81 & 8")
    )
    assert [set(row.numbers.printed) for row in draft.rows] == [{"top1", "flops"}] * 2
    assert draft.rows[0].numbers.printed["top1"] == "80"
    assert any("'Top-1' is no score in %" in text for text in decisions_of(draft))
