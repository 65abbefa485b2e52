"""The verdict on a printed difference, by an evaluation of each of the two rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.sampling import wilson
from imlp_audit.evaluate.verdict import SAME, EvaluatedCell, judge_difference, other_run
from imlp_audit.records.check import Check, CheckKind, DeltaCheck, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.library import load
from imlp_audit.spec.paper import CellRef, find_cell
from tests.evaluate.papers import evaluated, judge, write


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CellRef]:
    """The top-1 accuracies of the paper, by the row: base 79.9, block 80.0, same 80.0 and in Table 2 far 70.0."""
    papers = load([str(write(tmp_path_factory.mktemp("papers"), "half_up, truncation", 10_000))]).papers
    ids = {"base": "p/1/base/top1", "block": "p/1/block/top1", "same": "p/1/same/top1", "far": "p/2/far/top1",
           "top5": "p/1/block/top5", "low": "p/3/base/top1", "much": "p/3/much/top1"}  # fmt: skip
    found = {name: find_cell(papers, id_) for name, id_ in ids.items()}
    return {name: cell for name, cell in found.items() if cell is not None}


def difference(
    cells: dict[str, CellRef],
    first: int,
    second: int,
    rows: tuple[str, str] = ("base", "block"),
    *,
    images: int = 10_000,
    **changes: Any,  # noqa: ANN401
) -> DeltaCheck:
    """Judge the difference between two rows, of whose images so many are right."""
    base, run = (
        EvaluatedCell(cells[name], evaluated((right, images), checkpoint=file, **changes))
        for name, right, file in zip(rows, (first, second), "bc", strict=True)
    )
    return judge_difference(run, base)


@pytest.mark.daily(6)
@pytest.mark.parametrize(
    ("right", "images", "changes", "verdict"),
    [
        # 79.9 to 80.0 leaves the differences in (0, 0.2): of 10 000 images 1 to 19
        ((7990, 7991), 10_000, {}, "reproduced"),
        ((7990, 8009), 10_000, {}, "reproduced"),
        ((7990, 7990), 10_000, {}, "differs"),
        ((7990, 8010), 10_000, {}, "differs"),
        ((8090, 7990), 10_000, {}, "differs"),
        # a part: the intervals of both, one minus the other, meet what is printed or not; none passes
        ((7990, 8000), 9_999, {"available": 10_000}, "unverifiable"),
        ((7990, 8140), 9_999, {"available": 10_000}, "unverifiable"),
        ((7990, 8180), 9_999, {"available": 10_000}, "differs"),
        ((7990, 8000), 10_000, {"available": 10_001}, "error"),
        # unreadable images: whatever they would give
        ((7990, 8000), 9_999, {"unreadable": 1}, "reproduced"),
        ((7990, 7991), 9_999, {"unreadable": 1}, "unverifiable"),
        ((7990, 8000), 9_989, {"unreadable": 11}, "error"),
        ((0, 0), 0, {"unlabelled": 3}, "error"),
    ],
)  # fmt: skip
def test_verdicts(
    cells: dict[str, CellRef], right: tuple[int, int], images: int, changes: dict[str, Any], verdict: str
) -> None:
    check = difference(cells, *right, images=images, **changes)
    assert (check.verdict, check.under) == (Verdict(verdict), ())


@pytest.mark.parametrize("lost", [(1, 0), (0, 1)])
def test_where_either_run_lacks_images_nothing_is_equal(cells: dict[str, CellRef], lost: tuple[int, int]) -> None:
    """One run lacks the last of 10 000 images, which the other could not read."""
    base, run = (
        EvaluatedCell(cells[name], evaluated((right, 9_999), unreadable=one))
        for name, right, one in zip(("base", "block"), (7990, 8000), lost, strict=True)
    )
    assert judge_difference(run, base).verdict is Verdict.UNVERIFIABLE


def test_a_run_against_itself_says_nothing(cells: dict[str, CellRef]) -> None:
    """Printed ties would pass whatever the file does, and printed differences differ."""
    found = evaluated((800, 1000), available=10_000)
    for base, run in (("same", "block"), ("base", "block"), ("low", "much")):
        check = judge_difference(EvaluatedCell(cells[run], found), EvaluatedCell(cells[base], found))
        assert (check.verdict, check.reason) == (Verdict.UNVERIFIABLE, SAME)
    first, second = (evaluated((right, 100), available=10_000) for right in (75, 35))  # cropped otherwise
    check = judge_difference(EvaluatedCell(cells["much"], second), EvaluatedCell(cells["low"], first))
    assert check.verdict is Verdict.DIFFERS


@pytest.mark.slow
def test_another_rounding_rule_leaves_other_differences(tmp_path: Path) -> None:
    """Cut off, 79.9 to 85 leaves (5, 6.1), rounded half up (4.55, 5.65)."""
    papers = load([str(write(tmp_path, "half_up, truncation"))]).papers
    low, high = find_cell(papers, "p/1/base/top1"), find_cell(papers, "p/1/base/real")
    assert low is not None
    assert high is not None
    check = judge_difference(
        EvaluatedCell(high, evaluated((42_950, 50_000))), EvaluatedCell(low, evaluated((40_000, 50_000)))
    )  # 5.9 points more
    assert (check.verdict, check.under, check.interval) == (
        Verdict.REPRODUCED_UNDER,
        ("rounding truncation",),
        ("5", "6.1"),
    )
    assert check.gap == "0.8"  # 5.9 - 5.1 in units of the coarser last digit


def test_a_check_has_all_that_it_rests_on(cells: dict[str, CellRef]) -> None:
    check = difference(cells, 7990, 8030)
    assert check.id == "p/1/block/top1.against.base"
    assert (check.kind, check.printed, check.unit) == (CheckKind.DELTA, "79.9 to 80.0", "points")
    assert (check.interval, check.measured, check.gap, check.rounding) == (("0", "0.2"), "0.4", "3", "half_up")
    assert len(check.evidence) == 2
    assert check.source == judge(cells["block"], evaluated((1, 2))).source
    assert check.hint_texts == ()
    assert check.reason == (
        "of the images block 80.3 % and base 79.9 % are right, a difference of +0.4 points; it does not lie in "
        "(0, 0.2), the differences that the printed numbers allow; all images were evaluated, so it is not a matter of "
        "sampling"
    )


def test_reasons_say_how_far_apart_the_runs_are(cells: dict[str, CellRef]) -> None:
    possible = "(0, 0.2), the differences that the printed numbers allow"
    assert difference(cells, 7990, 7991).reason.endswith(f"a difference of +0.01 points; it lies in {possible}")
    lost = difference(cells, 7990, 7991, images=9_999, unreadable=1).reason
    assert lost.endswith(f"whether it lies in {possible}, depends on the images that could not be read")
    part = difference(cells, 8030, 7990, images=9_999, available=10_000).reason
    interval = wilson(7990, 9_999) - wilson(8030, 9_999)
    assert part.endswith(
        f"a difference of -0.4 points; its interval {interval}, by the two 95 % intervals, meets {possible}; "
        "all 10 000 images of the data set would decide"
    )
    far = difference(cells, 7990, 7090, images=9_999, available=10_000).reason
    assert far.endswith(f"by the two 95 % intervals, does not meet {possible}")
    tie = difference(cells, 7990, 8030, ("same", "block"))
    assert (tie.id, tie.interval) == ("p/1/block/top1.against.same", ("-0.1", "0.1"))


def test_readings_that_depart_from_the_default_are_named(cells: dict[str, CellRef]) -> None:
    base, block = (
        EvaluatedCell(cells[name], evaluated((right, 10_000)), "skip")
        for name, right in (("base", 7990), ("block", 8000))
    )
    check = judge_difference(block, base)
    assert (check.verdict, check.under, check.reading) == (Verdict.REPRODUCED_UNDER, ("reading skip",), "skip")
    assert judge_difference(base, block).under == ("reading skip",)


def test_other_settings_are_reported(cells: dict[str, CellRef]) -> None:
    first, second = (
        evaluated((79, 100), settings=settings) for settings in ({"crop": "0.9", "amp": "no"}, {"crop": "0.875"})
    )
    check = judge_difference(EvaluatedCell(cells["block"], second), EvaluatedCell(cells["base"], first))
    assert check.hint_texts == ("the two runs have different settings: amp (no, not stated), crop (0.9, 0.875)",)


def result(*checks: Check) -> AuditResult:
    return AuditResult(papers=(), versions={}, checks=checks)


def test_what_nothing_can_be_held_against_is_refused(cells: dict[str, CellRef]) -> None:
    base, block, same, far = (judge(cells[name], evaluated((8, 10))) for name in ("base", "block", "same", "far"))
    none = r"b.json: no evaluation of p/1/ROW/top1, as printed there, to compare p/1/block/top1 with"
    for checks, told in (
        ((), none),
        ((far,), none),
        ((base.model_copy(update={"evidence": ()}),), none),
        ((base.model_copy(update={"printed": "79.8"}),), none),
        ((base.model_copy(update={"id": "q/1/base/top1"}),), none),
        ((base.model_copy(update={"id": "p/1/base/real"}),), none),
        ((base, same), r"several evaluations to compare p/1/block/top1 with: p/1/base/top1, p/1/same/top1"),
        ((block,), "b.json: this is an evaluation of p/1/block/top1 itself"),
    ):
        with pytest.raises(UsageError, match=told):
            other_run(cells["block"], result(*checks), "b.json")
