"""Which check reads which number: decided by where it stands, not only by its digits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.records.listing import NumberState
from imlp_audit.transcribe.cover import cover
from imlp_audit.transcribe.sources import DocumentLine, PrintedDocument

from .two_nets import SPEC, TEXT, by_check, by_state, cover_text, missing, read_two

TABLE_1 = {
    "1/small/params": [(13, "5.72")],
    "1/small/top1": [(13, "72.2")],
    "1/other/params": [(14, "5.00")],
    "1/other/params.delta": [(14, "-12.6%")],
    "1/other/top1": [(14, "72.6")],
    "1/other/*": [(14, "3")],
}
TABLE_2 = {"2/small/params": [(19, "5.72")], "2/large/params": [(20, "22.05")]}


def test_each_number_is_read_explained_apart_or_open(tmp_path: Path) -> None:
    report = cover_text(tmp_path)
    read = by_check(report)
    assert read.pop("1/small/params") == [(13, "5.72"), (28, "5.72")]
    assert read.pop("claims/fewer") == [(6, "12.6%")]
    assert read == {name: places for name, places in {**TABLE_1, **TABLE_2}.items() if name != "1/small/params"}
    assert by_state(report, NumberState.EXPLAINED) == [(6, "32"), (8, "7")]
    assert by_state(report, NumberState.OPEN) == [(6, "4"), (6, "0.1"), (6, "5.72"), (6, "12.6%"), (10, "224")]
    assert missing(report) == []
    assert report.quantities == 10 + 2 + 5
    reasons = {(number.line, number.text): number.reason for number in report.numbers if number.reason}
    assert reasons[1, "12"] == reasons[13, "12"] == "part of a name"
    assert reasons[3, "1"] == "the number of a heading"
    assert reasons[5, "3"] == reasons[10, "1"] == "a reference to a part of the document"
    assert reasons[6, "2"] == reasons[6, "2019"] == "part of a citation"
    assert reasons[24, "5.72"] == "in the bibliography"
    assert reasons[6, "32"] == "a setting of training"


def test_a_number_that_the_table_prints_otherwise_is_open_and_the_cell_is_missing(tmp_path: Path) -> None:
    report = cover_text(tmp_path, TEXT.replace("n = 3\t5.00", "n = 3\t5.01"))
    assert (14, "5.01") in by_state(report, NumberState.OPEN)
    assert missing(report) == ["Table 1: 1 number of the spec not found there: 1/other/params"]
    assert by_check(report)["1/other/top1"] == [(14, "72.6")]


@pytest.mark.parametrize(
    ("cell", "open_"), [("5.0 (-12.6%)", "5.0"), ("5.00 (12.6%)", "12.6%"), ("5.00 (-12.60%)", "-12.60%")]
)
def test_digits_and_signs_count_as_printed(tmp_path: Path, cell: str, open_: str) -> None:
    report = cover_text(tmp_path, TEXT.replace("5.00 (-12.6%)", cell))
    assert by_state(report, NumberState.OPEN)[-1] == (14, open_)


def test_a_table_that_the_document_lacks_is_named(tmp_path: Path) -> None:
    report = cover_text(tmp_path, TEXT[: TEXT.index("Table 2")])
    assert missing(report)[-1] == "Table 2: not found in the document"
    assert by_check(report)["1/small/params"] == [(13, "5.72")], "the other 5.72 is not of Table 2"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("5.72\t72.2\n5.00 (-12.6%)\t72.6\n\nTable 1: Sizes\n\n5.72\n22.05\n\nTable 2: More\n", [1, 2, 6, 7]),
        ("Table 1: Sizes\n\nTable 2: More\n\n5.72\t72.2\t5.72\n5.00 (-12.6%)\t72.6\t22.05\n", [5, 6, 5, 6]),
        ("**Таблица 1:** А\n\n5.72 72.2\n5.00 (-12.6%) 72.6\n\nТаблица 2. Б\n5.72\n22.05\n", [3, 4, 7, 8]),
        ("Table 1: A\nParameters\t5.72\t5.00 (-12.6%)\nTop-1\t72.2\t72.6\nTable 2: B\n5.72\t22.05\n", [2, 2, 5, 5]),
    ],
    ids=["captions below", "side by side", "in Russian", "rows go down"],
)
def test_tables_are_found_however_they_are_set(tmp_path: Path, text: str, lines: list[int]) -> None:
    read = by_check(cover_text(tmp_path, text))
    names = ("1/small/params", "1/other/params", "2/small/params", "2/large/params")
    assert [read[name][0][0] for name in names] == lines
    assert by_state(cover_text(tmp_path, text), NumberState.OPEN) == []


def test_a_number_below_a_table_is_not_taken_for_a_cell_that_is_printed_otherwise(tmp_path: Path) -> None:
    report = cover_text(tmp_path, "Table 1: A\nNet-S12 5.72 72.2\nn = 3 5.01 (-12.6%) 72.6\nsum\t5.00\n")
    assert by_state(report, NumberState.OPEN) == [(3, "5.01"), (4, "5.00")]


def test_both_sides_of_a_square_are_one_cell(tmp_path: Path) -> None:
    spec = SPEC.replace("label: Net-S12, printed: {params: 5.72}}", "label: Net, printed: {params: 5}}")
    text = "Table 2: More\nNet\t$5 \\times 5$\t$7 \\times 7$\n"
    read = by_check(cover_text(tmp_path, text, spec=spec.replace("22.05", "7")))
    assert read["2/small/params"] == [(2, "5"), (2, "5")]
    assert read["2/large/params"] == [(2, "7"), (2, "7")]


def test_a_sentence_with_a_table_s_numbers_is_no_row(tmp_path: Path) -> None:
    prose = "We see that the first of the two has 5.72 million of them and that it reaches 72.2 there.\n"
    report = cover_text(tmp_path, f"Table 1: Sizes\n\n{prose}")
    assert "Table 1: not found in the document" in missing(report)
    assert by_state(report, NumberState.OPEN) == [(3, "5.72"), (3, "72.2")]


@pytest.mark.parametrize(
    "text",
    [
        "the   parameters fall\nby $12.6\\%$ on 4 machines",
        "The para-\nmeters fall by “12.6%” on\n4 machines",
        "the \\textbf{parameters} fall by\n12.6\\% on 4 machines",
    ],
)
def test_a_quotation_is_found_whatever_stands_between_its_words(tmp_path: Path, text: str) -> None:
    assert by_check(cover_text(tmp_path, text))["claims/fewer"]


@pytest.mark.parametrize(
    "text", ["the parameters fall by 12.65% on 4 machines", "the parameters fall by 1 on 4 machines"]
)
def test_a_quotation_with_another_number_is_another(tmp_path: Path, text: str) -> None:
    report = cover_text(tmp_path, text)
    assert by_check(report) == {}
    assert "the text of claims/fewer: not found in the document" in missing(report)


def test_a_quotation_that_stands_twice_names_no_place(tmp_path: Path) -> None:
    report = cover_text(tmp_path, TEXT + "on all 5.72 million.\n")
    assert by_state(report, NumberState.OPEN)[-2:] == [(28, "5.72"), (29, "5.72")]
    assert "stands there 2 times" in missing(report)[-1]


def test_quotations_that_end_inside_a_number_do_not_fit(tmp_path: Path) -> None:
    report = cover_text(tmp_path, "with a batch of 32 and a rate of 0.15\n")
    assert by_state(report, NumberState.OPEN) == [(1, "32"), (1, "0.15")]


def test_specs_of_another_document_are_doubted(tmp_path: Path) -> None:
    report = cover_text(tmp_path, "\n".join(f"Row {number}.5 of it" for number in range(30)))
    assert report.notes[0].startswith("the specs of two read or explain only 0 of 30 numbers")
    assert cover_text(tmp_path, "No number.").notes == ("no number was found in it",)


FRAGMENTS = st.sampled_from(
    (
        r"5.72|12|-12.6%|Table 1:|Table 2: More|[2]|References|Contents|$$|\tag{1}|(1)|1.|#|A.2|x_{1}|_{|{|22.05|²|٣|"
        r"(Lee et al., 2019)|the parameters fall by 12.6% on 4 machines|\begin{equation}|\end{align}|Theorem 1|5.00|"
        f"<b>|72.2|on all 5.72 million|{'9' * 5000}|\n|\n\n|\t"
    ).split("|")
)


@settings(max_examples=40)
@given(st.lists(FRAGMENTS, max_size=30).map(" ".join), st.booleans())
def test_any_text_has_each_of_its_numbers_once(text: str, paged: bool) -> None:
    paper = read_two()
    lines = tuple(DocumentLine(at, line, 1 if paged else None) for at, line in enumerate(text.split("\n"), 1))
    report = cover(PrintedDocument("a", lines), paper, [paper])
    assert len(report.numbers) == len(re.findall(r"[0-9]+(?:[.,][0-9]+)*", text))
    assert all(number.checks for number in report.numbers if number.state is NumberState.BOUND)


@pytest.mark.parametrize(
    ("row", "left"),
    [
        ("n = 3\t5.01 (-12.5%)\t72.6", ["3", "5.01", "-12.5%", "72.6"]),
        ("72.6\tn = 3\t5.00 (-12.6%)\t72.6", ["72.6"]),
    ],
    ids=["most of a row differs", "a number stands before its row"],
)
def test_numbers_that_only_look_like_a_row_s_are_open(tmp_path: Path, row: str, left: list[str]) -> None:
    report = cover_text(tmp_path, f"Table 1: A\nNet-S12\t5.72\t72.2\n{row}\n")
    assert [text for line, text in by_state(report, NumberState.OPEN) if line == 3] == left
    if len(left) == 1:
        assert next(number for number in report.numbers if number.line == 3).state is NumberState.OPEN


def test_a_number_of_a_name_in_a_label_binds_nothing(tmp_path: Path) -> None:
    report = cover_text(tmp_path, "Table 2: More\n12 of\tNet-S12\t5.72\nNet-L24\t22.05\n")
    assert by_state(report, NumberState.OPEN) == [(2, "12")]


def test_the_rows_of_another_table_are_not_this_one_s(tmp_path: Path) -> None:
    report = cover_text(tmp_path, "Table 7: Else\nNet-S12\t5.72\t72.2\nn = 3\t5.00 (-12.6%)\t72.6\n")
    assert by_check(report) == {}


def test_a_claim_about_where_numbers_stand_reads_none(tmp_path: Path) -> None:
    form = 'reference: {table: "1", holds: [two/1/small/params]}'
    claim = f'  - {{id: there, text: we list 1 of two, source: {{section: "1"}}, {form}}}'
    report = cover_text(tmp_path, "Here we list 1 of two.\n", spec=SPEC.replace("claims:\n", f"claims:\n{claim}\n"))
    assert by_state(report, NumberState.OPEN) == [(1, "1")]
