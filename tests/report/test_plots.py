"""Figures: the data that is drawn, what stands for them in words, and files that are the same each time."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.paper import ColumnHead, PaperHead, RowHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Drawable, figure_file
from imlp_audit.report.figures.files import draw_figures
from imlp_audit.report.figures.gaps import Column, Gaps, find_gaps
from imlp_audit.report.figures.tradeoff import Point, Tradeoff, find_tradeoff
from imlp_audit.report.paper import report_document

from .results import check, head

PARAMETERS = ColumnHead(id="params", heading="Parameters (M)", unit="M", measure="parameters")
FLOPS = ColumnHead(id="flops", heading="FLOPs", unit="G", measure="flops")
SCORE = ColumnHead(id="top1", heading="Top-1 (%)", unit="%", measure="score")


def paper(rows: tuple[RowHead, ...], columns: tuple[ColumnHead, ...] = (PARAMETERS, FLOPS, SCORE)) -> PaperHead:
    return head().model_copy(update={"tables": (TableHead(id="1", title="T", columns=columns, rows=rows),)})


def printed(numbers: dict[str, dict[str, str]]) -> tuple[Check, ...]:
    """The cells of Table 1 by row and column, all passing."""
    return tuple(
        check(f"1/{row}/{column}", CheckKind.CELL, Verdict.REPRODUCED, printed=text)
        for row, cells in numbers.items()
        for column, text in cells.items()
    )


def audited(head: PaperHead, checks: tuple[Check, ...]) -> AuditResult:
    return AuditResult(papers=(head,), versions={}, checks=checks)


PAIRS = {
    "a": {"flops": "1.26", "top1": "72.2"}, "a2": {"flops": "1.10", "top1": "72.6"},
    "b": {"flops": "4.60", "top1": "79.9"}, "b2": {"flops": "3.93", "top1": "79.9"},
    "c": {"flops": "15.44", "top1": "83.5"}, "c2": {"flops": "13.34", "top1": "83.4"},
    "d": {"flops": "1.00", "top1": "74.9"}, "d2": {"flops": "1.00", "top1": "75"},
}  # fmt: skip
ROWS = tuple(RowHead(id=row, label=row, baseline=row[0] if row[1:] else None) for row in PAIRS)


def tradeoff() -> Tradeoff:
    table = paper(ROWS)
    found = find_tradeoff(audited(table, printed(PAIRS)), table, table.tables[0])
    assert found is not None
    return found


def test_a_tradeoff_has_the_printed_numbers_and_an_arrow_for_each_variant() -> None:
    found = tradeoff()
    assert {point.row: (point.cost, point.score) for point in found.points} == {
        row: (float(cells["flops"]), float(cells["top1"])) for row, cells in PAIRS.items()
    }
    assert [(base.row, variant.row) for base, variant in found.arrows] == [(row, f"{row}2") for row in "abcd"]
    assert (found.cost, found.score) == ("FLOPs (G)", "Top-1 (%)")
    assert found.summary == (
        "Table 1, as printed: Top-1 (%) against FLOPs (G), 8 rows. Arrows lead from a baseline to its variant: 3 of 4 "
        "variants cost less than the baseline; of these 1 score higher, 1 the same and 1 lower."
    )


def test_a_tradeoff_marks_rows_of_which_one_of_the_two_numbers_fails() -> None:
    table = paper(ROWS)
    cells = tuple(
        one.model_copy(update={"verdict": Verdict.DIFFERS}) if one.id == "p/1/b/flops" else one
        for one in printed(PAIRS)
    )
    found = find_tradeoff(audited(table, cells), table, table.tables[0])
    assert found is not None
    assert [point.row for point in found.points if point.fails] == ["b"]


@pytest.mark.parametrize("columns", [(FLOPS,), (SCORE,), ()])
def test_a_table_without_a_cost_or_a_score_has_no_tradeoff(columns: tuple[ColumnHead, ...]) -> None:
    table = paper(ROWS, columns)
    assert find_tradeoff(audited(table, printed(PAIRS)), table, table.tables[0]) is None


def test_parameters_are_the_cost_where_no_flops_are_printed() -> None:
    table = paper(ROWS, (PARAMETERS, SCORE))
    cells = {row: {"params": one["flops"], "top1": one["top1"]} for row, one in PAIRS.items()}
    found = find_tradeoff(audited(table, printed(cells)), table, table.tables[0])
    assert found is not None
    assert found.cost == "Parameters (M)"


def test_gaps_are_measured_from_the_middle_of_the_printed_interval() -> None:
    table = paper((RowHead(id="a", label="A"), RowHead(id="b", label="B")))
    low, high = "4995000", "5005000"
    at = {"p/1/a/params": "4995000", "p/1/b/params": "5010000", "p/1/a/flops": "5000000", "p/1/b/flops": "4997500"}
    cells = tuple(
        check(
            name.removeprefix("p/"), CheckKind.CELL, Verdict.DIFFERS if measured == "5010000" else Verdict.REPRODUCED,
            printed="5.00", interval=(low, high), measured=measured,
        )
        for name, measured in at.items()
    )  # fmt: skip
    found = find_gaps(audited(table, cells), table)
    assert found == Gaps(
        columns=(
            Column(name="Table 1, Parameters (M)", passing=(-0.5,), others=(1.0,)),
            Column(name="Table 1, FLOPs", passing=(0.0, -0.25), others=()),
        )
    )
    assert found.summary.endswith("3 of 4 counted numbers pass; the farthest of the others is 1.0 units away.")


@pytest.mark.parametrize("measured", ["1e40000000", "1/0", "", "nan", "9" * 400, "about 5"])
def test_a_number_that_cannot_be_drawn_is_left_out(measured: str) -> None:
    table = paper(tuple(RowHead(id=row, label=row) for row in "abcde"))
    cells = tuple(
        check(f"1/{row}/params", CheckKind.CELL, Verdict.REPRODUCED, printed="5", interval=("4", "6")).model_copy(
            update={"measured": "5" if row != "a" else measured}
        )
        for row in "abcde"
    )
    found = find_gaps(audited(table, cells), table)
    assert found is not None
    assert [column.passing for column in found.columns] == [(0.0,) * 4]


def every_plot(text: str = "plain words") -> list[Drawable]:
    return [
        Tradeoff(title=text, cost=text, score=text, points=tuple(
            Point(row=f"r{at}", label=text, cost=at + 1, score=at, baseline="r0" if at else None, fails=at == 2)
            for at in range(5))),
        Gaps(columns=(
            Column(name=text, passing=(0.1, -0.2), others=(40.0,)), Column(name=text, passing=(), others=()))),
    ]  # fmt: skip


TEXTS = (
    "a\x00b <b> \uffff $\\frac{$ \u202e", "plain words", "_x", "$\\frac{$", '<b> & "q"', "a\x1b[31m", "\uffff",
    "中文 " * 40, "",
)  # fmt: skip


@pytest.mark.daily(1)
@pytest.mark.parametrize("text", TEXTS)
def test_any_text_is_drawn_as_text_and_the_file_is_xml(text: str) -> None:
    for data in every_plot(text):
        drawn = data.draw()
        root = ElementTree.fromstring(drawn)
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not tags & {"script", "image", "a", "foreignObject"}
        assert drawn.encode()


@pytest.mark.slow  # starts Python anew
def test_the_same_data_is_the_same_file_in_another_process() -> None:
    code = "from tests.report.test_plots import *; print(*(hash_of(data) for data in every_plot()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [hash_of(data) for data in every_plot()]


def hash_of(data: Drawable) -> str:
    import hashlib

    return hashlib.sha256(data.draw().encode()).hexdigest()


def test_the_figures_of_a_report_are_those_of_its_document() -> None:
    table = paper(ROWS)
    drawn = draw_figures(report_document(audited(table, printed(PAIRS))))
    assert list(drawn) == ["p-table-1.svg"]


@pytest.mark.parametrize("name", ["../../etc/x", "a\\b", "/abs", "p/1\0", "x" * 400, "è"])
def test_the_file_of_a_figure_lies_in_the_folder(name: str) -> None:
    file = figure_file(name)
    assert not set(file) & set("/\\\0")
    assert len(file) < 200
    assert file.endswith(".svg")
