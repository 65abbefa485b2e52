"""The first screen of a run: the first numbers that were measured in full, and how many more there are."""

from __future__ import annotations

import re

import pytest

from imlp_audit.records.check import Verdict
from imlp_audit.report.first_screen import run_screen
from imlp_audit.report.terminal import Surface, render_terminal

from .results import head
from .runs import cell, run

LONG = "a reason of some words " * 6


def screen(*verdicts: Verdict, text: str = LONG) -> str:
    checks = [cell(text, f"1/r{at}/top1", verdict) for at, verdict in enumerate(verdicts)]
    result = run(*checks).model_copy(update={"papers": (head(),)})
    return render_terminal(run_screen(result, ["my paper.yaml"]), Surface(80))


@pytest.mark.parametrize("count", [1, 3, 30])
@pytest.mark.parametrize("verdict", [Verdict.UNVERIFIABLE, Verdict.DIFFERS, Verdict.REPRODUCED_UNDER])
def test_a_run_lists_six_numbers_and_counts_the_rest(count: int, verdict: Verdict) -> None:
    shown = screen(*[verdict] * count)
    measured = " ".join(shown.partition("What was measured")[2].split())
    listed = len(re.findall(r"p/1/r\d+/top1 printed 72.2: a reason", measured))
    (more,) = re.findall(r"(\d+) more numbers?: --all shows every one", measured) or ["0"]
    assert (listed, int(more)) == (min(count, 6), max(count - 6, 0))


def test_what_was_measured_is_shown_in_full_with_how() -> None:
    shown = " ".join(screen(Verdict.DIFFERS).split())
    assert shown.index("(unexplained: fails the run)") < shown.index("What was measured")
    measured = shown.partition("What was measured")[2]
    assert f"differs p/1/r0/top1 printed 72.2: {LONG.strip()} - checkpoint 0123456789ab; 2 of 5 images" in measured
    assert measured.endswith(
        "Once more with -o RUN.json, which keeps the run; then: "
        "imlp-audit report 'my paper.yaml' --with RUN.json --dir DIR"
    )


def test_sampling_is_explained_where_a_verdict_rests_on_it() -> None:
    sentence = "Under sampling, a part was measured for the whole"
    assert sentence in " ".join(screen(Verdict.REPRODUCED_UNDER).split())
    assert sentence not in " ".join(screen(Verdict.DIFFERS).split())
