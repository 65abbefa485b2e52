"""Figures: the data that is drawn, what stands for them in words, and files that are the same each time."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.paper import ColumnHead, PaperHead, RowHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import figure_file
from imlp_audit.report.figures import Column, Gaps, draw_figures, find_gaps
from imlp_audit.report.paper import report_document

from .results import check, head

PARAMETERS = ColumnHead(id="params", heading="Parameters (M)", unit="M", measure="parameters")
FLOPS = ColumnHead(id="flops", heading="FLOPs", unit="G", measure="flops")


def paper(rows: tuple[RowHead, ...], columns: tuple[ColumnHead, ...] = (PARAMETERS, FLOPS)) -> PaperHead:
    return head().model_copy(update={"tables": (TableHead(id="1", title="T", columns=columns, rows=rows),)})


def audited(head: PaperHead, checks: tuple[Check, ...]) -> AuditResult:
    return AuditResult(papers=(head,), versions={}, checks=checks)


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


def plot_of(text: str = "plain words") -> Gaps:
    columns = (Column(name=text, passing=(0.1, -0.2), others=(40.0,)), Column(name=text, passing=(), others=()))
    return Gaps(columns=columns)


TEXTS = (
    "a\x00b <b> \uffff $\\frac{$ \u202e", "plain words", "_x", "$\\frac{$", '<b> & "q"', "a\x1b[31m", "\uffff",
    "中文 " * 40, "",
)  # fmt: skip


@pytest.mark.daily(1)
@pytest.mark.parametrize("text", TEXTS)
def test_any_text_is_drawn_as_text_and_the_file_is_xml(text: str) -> None:
    root = ElementTree.fromstring(plot_of(text).draw())
    assert not {element.tag.rpartition("}")[2] for element in root.iter()} & {"script", "image", "a", "foreignObject"}


@pytest.mark.slow  # starts Python anew
def test_the_same_data_is_the_same_file_in_another_process() -> None:
    code = "from tests.report.test_figures import *; print(plot_of().draw())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == plot_of().draw().strip()


def test_the_figures_of_a_report_are_those_of_its_document() -> None:
    table = paper(tuple(RowHead(id=row, label=row) for row in "abcd"))
    cells = (
        check(f"1/{row}/params", CheckKind.CELL, Verdict.REPRODUCED, printed="5", interval=("4", "6")) for row in "abcd"
    )
    counted = tuple(one.model_copy(update={"measured": "5"}) for one in cells)
    assert list(draw_figures(report_document(audited(table, counted)))) == ["p-printed-against-measured.svg"]


@pytest.mark.parametrize("name", ["../../etc/x", "a\\b", "/abs", "p/1\0", "x" * 400, "è"])
def test_the_file_of_a_figure_lies_in_the_folder(name: str) -> None:
    file = figure_file(name)
    assert not set(file) & set("/\\\0")
    assert len(file) < 200
    assert file.endswith(".svg")
