"""Verdicts on printed accuracies, and the evidence that they rest on."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.images import data_digest
from imlp_audit.evaluate.verdict import (
    MOST_UNREADABLE,
    PART,
    SETTINGS,
    UNPROVEN,
    ScoreCell,
    score_cells,
    wilson,
)
from imlp_audit.records.check import CellCheck, Check, Verdict
from imlp_audit.spec.columns import Metric
from imlp_audit.spec.load import load
from imlp_audit.spec.paper import CellRef, find_cell
from tests.evaluate.papers import cell, evaluated, judge, row, write


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> CellRef:
    """79.9, rounded half up or not at all."""
    return cell(tmp_path_factory.mktemp("papers"), "p/1/base/top1", "half_up, truncation")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> CellRef:
    """80.0 beside a baseline of 60.0, of a data set with 60 images."""
    return cell(tmp_path_factory.mktemp("papers"), "p/3/much/top1", images=60)


@pytest.fixture(scope="module")
def guessing(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], CellRef]:
    """Cells of Table 4, 72.2 beside a baseline of 0.1."""
    papers = load([str(write(tmp_path_factory.mktemp("papers")))]).papers

    def find(name: str) -> CellRef:
        found = find_cell(papers, f"p/4/{name}")
        assert found is not None
        return found

    return find


def names(cells: tuple[ScoreCell, ...]) -> list[str]:
    return [one.cell.column_id for one in cells]


def test_the_cells_that_an_evaluation_judges(tmp_path: Path) -> None:
    assert names(score_cells(row(tmp_path / "a", "p/1/base"), "photos")) == ["top1", "top5"]
    assert names(score_cells(row(tmp_path / "b", "p/1/base"), "drawings")) == ["real"]
    assert names(score_cells(row(tmp_path / "c", "p/1/block"), None)) == ["top1", "top5"]


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("p/1/base", None, "p/1/base prints accuracies on photos, drawings; pass --on to say which one the images are"),
        ("p/1/block", "drawings", "p/1/block prints no accuracy on 'drawings'; it has: photos"),
        ("p/1/block", "photo", "p/1/block prints no accuracy on 'photo'; did you mean 'photos'?"),
        ("p/1/words", None, "p/1/words prints no number whose column has `metric` and `data`"),
        ("p/1/words", "photos", "p/1/words prints no number whose column has `metric` and `data`"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_what_there_is(
    tmp_path: Path, name: str, data: str | None, told: str
) -> None:
    with pytest.raises(UsageError, match=told.replace("?", r"\?")):
        score_cells(row(tmp_path, name), data)


def outcome(check: Check) -> tuple[Verdict, tuple[str, ...]]:
    return check.verdict, check.under


@pytest.mark.daily(8)
@pytest.mark.parametrize(
    ("correct", "images", "changes", "verdict", "under"),
    [
        # all images: what prints as 79.9 is equal, the ends of [79.85, 79.95) included and excluded
        (39_950, 50_000, {}, "reproduced", ()),
        (39_925, 50_000, {}, "reproduced", ()),
        (39_924, 50_000, {}, "differs", ()),
        (39_974, 50_000, {}, "reproduced", ()),
        (39_975, 50_000, {}, "reproduced_under", ("rounding truncation",)),
        (39_999, 50_000, {}, "reproduced_under", ("rounding truncation",)),
        (40_000, 50_000, {}, "differs", ()),
        # fewer images, or a folder that holds fewer: never equal, and too wide an interval to exclude 80.0
        (799, 1000, {"available": 50_000}, "unverifiable", ()),
        (780, 1000, {"available": 50_000}, "unverifiable", ()),
        (799, 1000, {}, "unverifiable", ()),
        (39_949, 49_999, {"available": 50_000}, "unverifiable", ()),
        (700, 1000, {}, "differs", ()),
        # the interval around 79.5 % of 49 999 ends at 79.851 %, that around 79.49 % below 79.85 %
        (39_750, 49_999, {"available": 50_000}, "unverifiable", ()),
        (39_744, 49_999, {"available": 50_000}, "differs", ()),
        # more images than the data set has are not its images
        (39_950, 50_000, {"available": 50_001}, "error", ()),
        (39_950, 50_000, {"available": 50_001, "unlabelled": 1}, "reproduced", ()),
        (39_950, 50_000, {"unreadable": 1}, "unverifiable", ()),  # one too many, which may be any file
        # images without a label are not evaluated: what is left is a part
        (37_423, 46_837, {"unlabelled": 3163}, "unverifiable", ()),
        (26, 36, {"unlabelled": 49_964}, "unverifiable", ()),
        # unreadable images: equal only if it is so whatever they would give
        (39_925, 49_999, {"unreadable": 1}, "reproduced", ()),
        (39_924, 49_999, {"unreadable": 1}, "unverifiable", ()),
        (39_923, 49_999, {"unreadable": 1}, "differs", ()),
        (39_974, 49_999, {"unreadable": 1}, "reproduced_under", ("rounding truncation",)),
        (39_973, 49_999, {"unreadable": 1}, "reproduced", ()),
        (39_910, 49_950, {"unreadable": 50}, "unverifiable", ()),
        (39_909, 49_949, {"unreadable": 51}, "error", ()),
        (0, 0, {"unlabelled": 5}, "error", ()),
        (0, 0, {}, "error", ()),
        (0, 0, {"unreadable": 5}, "error", ()),
    ],
)  # fmt: skip
def test_verdicts(
    base: CellRef, correct: int, images: int, changes: dict[str, Any], verdict: str, under: tuple[str, ...]
) -> None:
    assert outcome(judge(base, evaluated((correct, images), **changes))) == (Verdict(verdict), under)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5), st.integers(0, 2), st.integers(0, 5))
def test_a_verdict_is_what_its_definition_says(
    small: CellRef, correct: int, wrong: int, missing: int, unreadable: int, unlabelled: int
) -> None:
    """80.0 beside a baseline of 60.0, of a data set with 60 images."""
    images = correct + wrong
    found = evaluated((correct, images), unreadable=unreadable, unlabelled=unlabelled)
    found = found.model_copy(update={"available": found.available + missing})
    check = judge(small, found)
    low, high = wilson(correct, images).low, wilson(correct, images).high
    if not images or Fraction(unreadable, images + unreadable) > MOST_UNREADABLE or images + missing > 60:
        expected = Verdict.ERROR
    elif images == 60 and not unreadable:
        expected = Verdict.REPRODUCED if 7995 * images <= 10_000 * correct < 8005 * images else Verdict.DIFFERS
    elif high < Fraction("79.95") or low >= Fraction("80.05"):
        expected = Verdict.DIFFERS
    # if 60 % were right, the interval of n images ends below 79.95 % from n = z^2 0.7995 0.2005 / 0.1995^2 = 15.5 on
    elif low >= Fraction("60.05") and high < Fraction("99.95") and images >= 16:
        expected = Verdict.REPRODUCED_UNDER
    else:
        expected = Verdict.UNVERIFIABLE
    assert check.verdict is expected
    assert check.under == (("sampling",) if expected is Verdict.REPRODUCED_UNDER else ())


@pytest.mark.parametrize(
    ("name", "counted", "available", "verdict"),
    [
        ("much/top1", (80, 100), 50_000, "reproduced_under"),
        ("much/top1", (20, 25), 50_000, "reproduced_under"),
        ("much/top1", (16, 20), 50_000, "unverifiable"),
        ("much/top1", (3, 3), 50_000, "unverifiable"),
        ("much/top1", (60, 100), 50_000, "differs"),
        ("much/unsized", (80, 100), 100, "reproduced_under"),  # of how many images is not known
        ("much/unsized", (8, 10), 10, "unverifiable"),
        ("other/top1", (26, 36), 36, "reproduced_under"),  # without a pair of its own: the column's 60.0 to 80.0
        ("other/top1", (3, 3), 3, "unverifiable"),
        ("other/top1", (36_100, 50_000), 50_000, "reproduced"),
    ],
)
def test_a_sample_passes_only_on_evidence_that_could_have_failed_it(
    tmp_path: Path, name: str, counted: tuple[int, int], available: int, verdict: str
) -> None:
    check = judge(cell(tmp_path, f"p/3/{name}"), evaluated(counted, available=available))
    assert check.verdict is Verdict(verdict)


@pytest.mark.parametrize(
    ("name", "counted", "verdict"),
    [
        # 72.2 beside 0.1: one image is right, or it decides nothing; three that are right do not exclude 100 %
        ("trained/only", (1, 1), "unverifiable"),
        ("trained/only", (0, 1), "unverifiable"),
        ("trained/only", (3, 3), "unverifiable"),
        ("trained/only", (2, 3), "unverifiable"),  # three of three would not have missed 72.2 %
        ("trained/only", (8, 11), "reproduced_under"),  # the interval of 11 of 11 begins at 11 / (11 + z^2) = 74.1 %
        ("trained/only", (11, 11), "differs"),
        ("trained/only", (3, 11), "differs"),
        # where the column has a smaller difference, 72.2 to 76.2, that is what a sample has to exclude
        ("trained/top1", (8, 11), "unverifiable"),
        ("trained/top1", (361, 500), "unverifiable"),
        ("trained/top1", (361, 502), "unverifiable"),
        ("trained/top1", (1444, 2000), "reproduced_under"),
        ("more/top1", (762, 1000), "reproduced_under"),
        ("trained/top1", (1520, 2000), "differs"),
    ],
)
def test_a_sample_that_cannot_fail_does_not_pass(
    guessing: Callable[[str], CellRef], name: str, counted: tuple[int, int], verdict: str
) -> None:
    check = judge(guessing(name), evaluated(counted, available=50_000))
    assert check.verdict is Verdict(verdict)


@pytest.mark.parametrize(
    ("counted", "changes", "verdict"),
    [
        # real.json has labels for 46 837 of 50 000 images: 33 816 of them print as 72.2
        ((33_816, 46_837), {"unlabelled": 3163}, "reproduced"),
        ((33_816, 46_837), {}, "reproduced"),  # the images without a label were left out
        ((33_700, 46_837), {"unlabelled": 3163}, "differs"),
        ((33_815, 46_836), {"unlabelled": 3163, "available": 50_000}, "unverifiable"),
        ((36_100, 50_000), {}, "error"),  # labels of another file
        # one of 50 000 lists, most of them empty
        ((26, 36), {"unlabelled": 49_964}, "unverifiable"),
        ((13, 18), {"unlabelled": 49_982}, "unverifiable"),
    ],
)
def test_all_images_of_real_labels_are_those_with_a_label(
    guessing: Callable[[str], CellRef], counted: tuple[int, int], changes: dict[str, Any], verdict: str
) -> None:
    check = judge(guessing("trained/real"), evaluated(counted, **changes))
    assert check.verdict is Verdict(verdict)


def test_a_sample_that_decides_nothing_says_what_would(tmp_path: Path, base: CellRef) -> None:
    three = judge(cell(tmp_path / "a", "p/3/much/top1"), evaluated((3, 3), available=50_000)).reason
    assert three.endswith(
        "meets [79.95, 80.05), but leaves too much room to pass: it does not exclude a difference of 20 points, as "
        "from base to much (60.0 to 80.0); all 50 000 images of the data set would decide"
    )
    few = judge(base, evaluated((799, 1000), available=50_000)).reason
    assert few.endswith("as from base to block (79.9 to 80.0); all 50 000 images of the data set would decide")
    alone = judge(cell(tmp_path / "b", "p/1/base/real"), evaluated((8, 10), available=50_000)).reason
    assert "the paper makes nothing of a difference between two such scores" in alone
    unsized = judge(cell(tmp_path / "c", "p/3/much/unsized"), evaluated((8, 10))).reason
    assert "(10 were given; how many the data set has, its column does not say (images:))" in unsized


def test_a_check_has_all_that_it_rests_on(base: CellRef) -> None:
    found = evaluated((39_750, 50_000))
    check = judge(base, found)
    assert check.place == "Table 1, Base, Top-1"
    assert check == CellCheck(
        id="p/1/base/top1",
        verdict=Verdict.DIFFERS,
        reason=(
            "the checkpoint classifies 39 750 of all 50 000 images correctly with the first guess, 79.5 %; that is 4 "
            "units of the last digit below the printed 79.9, which stands for [79.85, 79.95); all images were "
            "evaluated, so it is not a matter of sampling"
        ),
        source=check.source,
        place=check.place,
        printed="79.9",
        unit="%",
        interval=("79.85", "79.95"),
        measured="79.5",
        gap="-4",
        rounding="half_up",
        hints=(UNPROVEN, SETTINGS),
        evidence=(found,),
    )
    assert Path(check.source.file).read_text().splitlines()[check.source.line - 1].count("top1: 79.9") == 1


@pytest.mark.parametrize(
    ("counted", "changes", "hints"),
    [
        ((39_950, 50_000), {}, ()),
        ((700, 1000), {"available": 50_000}, (SETTINGS,)),  # drawn here
        ((799, 1000), {}, (PART,)),
        ((700, 1000), {}, (PART, SETTINGS)),
        ((26, 36), {"unlabelled": 49_964}, (PART,)),
    ],
)
def test_what_a_verdict_assumes_is_a_hint(
    base: CellRef, counted: tuple[int, int], changes: dict[str, Any], hints: tuple[str, ...]
) -> None:
    assert judge(base, evaluated(counted, **changes)).hint_texts == (UNPROVEN, *hints)


def reason(check: Check) -> str:
    return check.reason.partition("; ")[2]


def test_reasons_are_clear_to_a_reader_who_has_only_the_paper(base: CellRef) -> None:
    assert reason(judge(base, evaluated((39_950, 50_000)))) == "that prints as 79.9, which stands for [79.85, 79.95)"
    assert reason(judge(base, evaluated((39_744, 49_999), available=50_000))) == (
        "that is 4.1 units of the last digit below the printed 79.9, and the 95 % interval "
        f"{wilson(39_744, 49_999)} does not meet [79.85, 79.95): more than sampling explains"
    )
    assert "0.6" not in reason(judge(base, evaluated((40_300, 50_000))))
    assert "7 units of the last digit above the printed 79.9" in reason(judge(base, evaluated((40_300, 50_000))))


def test_an_equal_number_from_a_part_of_the_images_is_marked_as_luck(base: CellRef) -> None:
    few = judge(base, evaluated((799, 1000), available=50_000))
    assert few.reason == (
        "the checkpoint classifies 799 of 1 000 images correctly with the first guess (the data set has 50 000), 79.9 "
        "%; that is equal to 79.9 as printed, which may be luck, since not all images were evaluated; the 95 % "
        f"interval {wilson(799, 1000)} meets [79.85, 79.95), but leaves too much room to pass: it does not "
        "exclude a difference of 0.1 points, as from base to block (79.9 to 80.0); all 50 000 images of the data "
        "set would decide"
    )
    other = judge(base, evaluated((780, 1000), available=50_000))
    assert "that is not 79.9 as printed, since not all images were evaluated" in other.reason


@pytest.mark.slow
def test_reasons_count_what_was_not_judged(base: CellRef, tmp_path: Path) -> None:
    top5 = cell(tmp_path, "p/1/base/top5", images=100)
    found = evaluated((95, 100), Metric.TOP5, unlabelled=7)
    assert judge(top5, found).reason.startswith(
        "the checkpoint classifies 95 of 100 images correctly among the first five guesses "
        "(7 without a label are not judged), 95 %; that prints as 95.0"
    )
    lost = judge(base, evaluated((39_909, 49_949), unreadable=51)).reason
    assert lost == (
        "51 of 50 000 images could not be read, more than the 0.1 % up to which an accuracy is judged; "
        "repair the data set"
    )
    assert "(1 could not be read)" in judge(base, evaluated((39_925, 49_999), unreadable=1)).reason
    assert judge(base, evaluated((0, 0), unlabelled=3)).reason == "no image that has a label was evaluated"


@pytest.mark.slow
@pytest.mark.daily(4)
@pytest.mark.parametrize(
    ("name", "reading", "under"),
    [
        ("p/1/block/top1", None, ()),
        ("p/1/block/top1", "plain", ()),
        ("p/1/block/top1", "twin", ()),  # by another name, but the same model
        ("p/1/block/top1", "skip", ("reading skip",)),
        ("p/1/base/top1", "skip", ()),  # a model about which nothing is left open
    ],
)
def test_another_reading_than_the_papers_default_is_named(
    tmp_path: Path, name: str, reading: str | None, under: tuple[str, ...]
) -> None:
    one = cell(tmp_path, name)
    equal = round(one.printed.value * 500), 50_000
    check = judge(one, evaluated(equal), reading)
    assert outcome(check) == (Verdict.REPRODUCED_UNDER if under else Verdict.REPRODUCED, under)
    assert check.reading == reading
    off = judge(one, evaluated((equal[0] - 100, 50_000)), reading)
    assert outcome(off) == (Verdict.DIFFERS, ())
    assert outcome(judge(one, evaluated((10, 50_000)), reading)) == (Verdict.DIFFERS, ())


@pytest.mark.parametrize(("right", "place"), [(39_950, "inside"), (40_100, "inside"), (40_101, "outside")])
def test_one_run_neither_meets_nor_misses_a_mean_of_several(tmp_path: Path, right: int, place: str) -> None:
    """79.9 ± 0.3 speaks of runs from 79.6 to 80.2 %."""
    file = write(tmp_path) / "paper.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("top1: 79.9", "top1: 79.9 ± 0.3"), encoding="utf-8")
    found = find_cell(load([str(file)]).papers, "p/1/base/top1")
    assert found is not None
    check = judge(found, evaluated((right, 50_000)))
    assert (check.verdict, check.interval, check.printed) == (Verdict.UNVERIFIABLE, ("79.6", "80.2"), "79.9 ± 0.3")
    assert f"{place} [79.6, 80.2]; one run cannot settle a mean of several, 79.9 ± 0.3: it takes" in check.reason


IMAGES = (("a/1.png", (0,)), ("a/2.png", (0, 3)), ("b/1.png", (1,)))


def digest(*images: tuple[str, tuple[int, ...]]) -> str:
    return data_digest(images)


def test_unreadable_images_widen_the_interval_by_whatever_they_would_give() -> None:
    found = evaluated((70, 90), unreadable=10)
    assert (Fraction(found.low), Fraction(found.high)) == (wilson(70, 100).low, wilson(80, 100).high)


def test_other_images_labels_or_orders_have_another_digest() -> None:
    one, two, three = IMAGES
    others = [
        digest(),
        digest(one, two),
        digest(one, three, two),
        digest(one, two, ("b/1.png", (2,))),
        digest(one, ("a/2.png", (0,)), three),
        digest(one, two, ("b/1.pn", (1,))),
        digest(("a/1.png", ()), two, three),
        digest(one, two, three, three),
    ]
    assert len({digest(*IMAGES), *others}) == len(others) + 1
    assert digest(*IMAGES) == digest(*IMAGES)
