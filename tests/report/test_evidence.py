"""What runs measured, in the terminal and in markdown; a result without any is shown as it was."""

from __future__ import annotations

import re

import pytest

from imlp_audit.cli.report import merge_runs
from imlp_audit.records.check import Check, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.report.sections import describe_run

from .results import BENIGN, HOSTILE
from .runs import accuracy, audited, cell, run, throughput
from .test_paper import blocks_of, inlines, markdown, tables
from .test_summary import squeeze, terminal


def shown(text: str = BENIGN, *checks: Check) -> AuditResult:
    return merge_runs(audited(text), [("a.json", run(*(checks or (cell(text),))))])


def test_the_evidence_in_words() -> None:
    assert describe_run(accuracy("0.9")) == (
        "checkpoint 0123456789ab; 2 of 5 images, 95 % interval [11.76, 76.93]; images ffffffffffff; "
        "0.9 bicubic, crop 0.9"
    )
    assert describe_run(throughput("a CPU")) == (
        "63.6 and 69.9 images a second, ratio 1.099; 95 % interval [1.09, 1.11], batch 32, 10 pairs; "
        "on a CPU; the paper: a CPU; threads 2"
    )


def test_a_number_that_was_open_stands_in_its_table_with_its_verdict() -> None:
    report = markdown(shown())
    rows = [[part.strip() for part in row] for table in tables(report) for row in table]
    assert [BENIGN, "T", "72.2", "40", "-322", "reproduced under sampling", ""] in rows
    text = terminal(shown(), 160, colour=False)
    assert re.search(r" T +72\.2 +40 +-322 +reproduced under sampling", text)
    assert "T: 1 unverifiable" in text  # the other row's, of which there is no run
    assert "T: 2 unverifiable" in terminal(audited(), 160, colour=False)


def test_the_report_has_a_section_of_evidence() -> None:
    section = markdown(shown()).partition("\n## Evidence\n")[2].partition("\n## ")[0]
    assert "Under `sampling`" in section
    assert f"- reproduced under sampling `p/1/r1/top1` printed 72.2: {BENIGN}\n  - checkpoint 0123456789ab" in section
    written = squeeze(terminal(shown(), 120, colour=False).partition("\nEvidence\n")[2])
    assert squeeze(f"p/1/r1/top1 printed 72.2: {BENIGN} - {describe_run(accuracy())}") in written


def test_the_reason_of_a_run_that_leaves_a_number_open_is_given_once() -> None:
    bench = cell("on other hardware", verdict=Verdict.UNVERIFIABLE, evidence=(throughput(),))
    sections = markdown(shown(BENIGN, bench)).partition("\n## The tables as printed\n")[2]
    assert sections.count("on other hardware") == 1
    assert terminal(shown(BENIGN, bench), 120, colour=False).count("on other hardware") == 1


@pytest.mark.daily(6)
@pytest.mark.parametrize("text", HOSTILE)
def test_evidence_brings_no_markup_of_its_own(text: str) -> None:
    def all_of(words: str) -> AuditResult:
        return shown(words, cell(words, evidence=(accuracy(words), throughput(words))))

    report, plain = markdown(all_of(text)), markdown(all_of(BENIGN))
    assert blocks_of(report) == blocks_of(plain)
    assert {token.type for token in inlines(report)} <= {token.type for token in inlines(plain)}
    for rows in tables(report):
        assert {len(row) for row in rows} == {len(rows[0])}
    assert terminal(all_of(text), 100, colour=False)
