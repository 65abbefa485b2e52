"""The verdict on a printed accuracy: equal as printed, within sampling error, different, or not to be judged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.statistics import wilson
from imlp_audit.evaluate.verdict import MOST_UNREADABLE, UNPROVEN, ScoreCell, judge, score_cells, why_not_judged
from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.spec.references import CellRef
from imlp_audit.spec.tables import Metric
from tests.evaluate.papers import cell, evaluated, row


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> CellRef:
    """79.9, rounded half up or not at all."""
    return cell(tmp_path_factory.mktemp("papers"), "p/1/base/top1", "half_up, truncation")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> CellRef:
    """80.0 beside a baseline of 60.0, of a data set with 60 images."""
    return cell(tmp_path_factory.mktemp("papers"), "p/3/much/top1", images=60)


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
        (39_924, 50_000, {}, "unverifiable", ()),
        (39_974, 50_000, {}, "reproduced", ()),
        (39_975, 50_000, {}, "reproduced_under", ("rounding truncation",)),
        (39_999, 50_000, {}, "reproduced_under", ("rounding truncation",)),
        (40_000, 50_000, {}, "unverifiable", ()),
        # the interval around 79.5 % of 50 000 ends at 79.851 %, that around 79.49 % below 79.85 %
        (39_750, 50_000, {}, "unverifiable", ()),
        (39_745, 50_000, {}, "differs", ()),
        (40_160, 50_000, {}, "unverifiable", ()),  # from 79.97 % on
        (40_200, 50_000, {}, "differs", ()),
        # fewer images, or a folder that holds fewer: never equal, and too wide an interval to exclude 80.0
        (799, 1000, {"available": 50_000}, "unverifiable", ()),
        (780, 1000, {"available": 50_000}, "unverifiable", ()),
        (799, 1000, {}, "unverifiable", ()),
        (39_950, 50_000, {"available": 50_001}, "unverifiable", ()),
        (700, 1000, {}, "differs", ()),
        (39_745, 50_000, {"available": 50_001}, "differs", ()),
        # of ReaL's images, those without a label are not judged, and so are not missing
        (37_423, 46_837, {"unlabelled": 3163}, "reproduced", ()),
        # unreadable images: equal only if it is so whatever they would give
        (39_925, 49_999, {"unreadable": 1}, "reproduced", ()),
        (39_924, 49_999, {"unreadable": 1}, "unverifiable", ()),
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


def test_the_limit_of_unreadable_images_can_be_set(base: CellRef) -> None:
    found = evaluated((39_909, 49_949), unreadable=51)
    assert judge(base, found, None, Fraction(51, 50_000)).verdict is Verdict.UNVERIFIABLE
    assert "more than the 0.05 % up to" in judge(base, found, None, Fraction(1, 2000)).reason
    # 70 to 80 of 100: too low if the 10 unreadable ones were wrong, but not if they were right
    assert judge(base, evaluated((70, 90), unreadable=10), None, Fraction(1)).verdict is Verdict.UNVERIFIABLE


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5), st.integers(0, 2), st.integers(0, 5))
def test_a_verdict_is_what_its_definition_says(
    small: CellRef, correct: int, wrong: int, missing: int, unreadable: int, unlabelled: int
) -> None:
    """80.0 beside a baseline of 60.0, of a data set with 60 images."""
    images = correct + wrong
    found = evaluated((correct, images), unreadable=unreadable, unlabelled=unlabelled)
    found = found.model_copy(update={"available": found.available + missing})
    check = judge(small, found)
    looked_at = images + unreadable
    low, high = wilson(correct, images).low, wilson(correct, images).high
    if not images or Fraction(unreadable, looked_at) > MOST_UNREADABLE:
        expected = Verdict.ERROR
    elif missing == 0 and images + unlabelled == 60 and 7995 * images <= 10_000 * correct < 8005 * images:
        expected = Verdict.REPRODUCED
    elif high < Fraction("79.95") or low >= Fraction("80.05"):
        expected = Verdict.DIFFERS
    elif low >= Fraction("60.05") and high < Fraction("99.95"):
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


def test_a_sample_that_decides_nothing_says_how_many_images_would(tmp_path: Path, base: CellRef) -> None:
    three = judge(cell(tmp_path / "a", "p/3/much/top1"), evaluated((3, 3), available=50_000)).reason
    # Wilson's interval around 80 % excludes 60.05 % from n = z^2 0.6005 0.3995 / 0.1995^2 = 23.15 on
    assert three.endswith(
        "meets [79.95, 80.05), but leaves too much room to pass: about 24 images would decide: they exclude a "
        "difference of 20 points, as from base to much (60.0 to 80.0)"
    )
    few = judge(base, evaluated((799, 1000), available=50_000)).reason
    assert few.endswith("as from base to block (79.9 to 80.0); all 50 000 images of the data set would decide")
    alone = judge(cell(tmp_path / "b", "p/2/far/top1"), evaluated((7, 10), available=50_000)).reason
    assert "the table prints no difference between a baseline and its variant in this column" in alone
    unsized = judge(cell(tmp_path / "c", "p/3/much/unsized"), evaluated((8, 10))).reason
    assert "(10 were given; how many the data set has, its column does not say (images:))" in unsized
    whole = judge(base, evaluated((39_750, 50_000))).reason
    assert whole.endswith("no more images decide it; the file behind the printed number would")


def test_a_check_has_all_that_it_rests_on(base: CellRef) -> None:
    found = evaluated((39_750, 50_000))
    check = judge(base, found)
    assert check == Check(
        id="p/1/base/top1",
        kind=CheckKind.CELL,
        verdict=Verdict.UNVERIFIABLE,
        reason=(
            "the checkpoint classifies 39 750 of all 50 000 images correctly with the first guess, 79.5 %; "
            f"that does not print as 79.9; the 95 % interval {wilson(39_750, 50_000)} meets [79.85, 79.95), but leaves "
            "too much room to pass: no more images decide it; the file behind the printed number would"
        ),
        source=check.source,
        printed="79.9",
        unit="%",
        interval=("79.85", "79.95"),
        measured="79.5",
        gap="-4",
        rounding="half_up",
        hints=(UNPROVEN,),
        evidence=(found,),
    )
    assert Path(check.source.file).read_text().splitlines()[check.source.line - 1].count("top1: 79.9") == 1


def reason(check: Check) -> str:
    return check.reason.partition("; ")[2]


def test_reasons_are_clear_to_a_reader_who_has_only_the_paper(base: CellRef) -> None:
    assert reason(judge(base, evaluated((39_950, 50_000)))) == "that prints as 79.9, which stands for [79.85, 79.95)"
    assert reason(judge(base, evaluated((39_745, 50_000)))) == (
        "that is 4.1 units of the last digit below the printed 79.9, and the 95 % interval "
        f"{wilson(39_745, 50_000)} does not meet [79.85, 79.95): more than sampling explains"
    )
    assert "0.6" not in reason(judge(base, evaluated((40_300, 50_000))))
    assert "7 units of the last digit above the printed 79.9" in reason(judge(base, evaluated((40_300, 50_000))))


def test_an_equal_number_from_a_part_of_the_images_is_marked_as_luck(base: CellRef) -> None:
    few = judge(base, evaluated((799, 1000), available=50_000))
    assert few.reason == (
        "the checkpoint classifies 799 of 1 000 images correctly with the first guess (the data set has 50 000), 79.9 "
        "%; that is equal to 79.9 as printed, which may be luck, since not all images were evaluated; the 95 % "
        f"interval {wilson(799, 1000)} meets [79.85, 79.95), but leaves too much room to pass: no sample excludes a "
        "difference of 0.1 points, as from base to block (79.9 to 80.0); all 50 000 images of the data set would decide"
    )
    other = judge(base, evaluated((780, 1000), available=50_000))
    assert "that is not 79.9 as printed, since not all images were evaluated" in other.reason


@pytest.mark.slow
def test_reasons_count_what_was_not_judged(base: CellRef, tmp_path: Path) -> None:
    top5 = cell(tmp_path, "p/1/base/top5", images=107)
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
    assert why_not_judged(evaluated((0, 0), unlabelled=3)) == "no image that has a label was evaluated"


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
    assert outcome(off) == (Verdict.UNVERIFIABLE, ())
    assert outcome(judge(one, evaluated((10, 50_000)), reading)) == (Verdict.DIFFERS, ())
