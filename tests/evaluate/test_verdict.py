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
        (39_924, 50_000, {}, "reproduced_under", ("sampling",)),
        (39_974, 50_000, {}, "reproduced", ()),
        (39_975, 50_000, {}, "reproduced_under", ("rounding truncation",)),
        (39_999, 50_000, {}, "reproduced_under", ("rounding truncation",)),
        (40_000, 50_000, {}, "reproduced_under", ("sampling",)),
        # the interval around 79.5 % of 50 000 ends at 79.851 %, that around 79.49 % below 79.85 %
        (39_750, 50_000, {}, "reproduced_under", ("sampling",)),
        (39_745, 50_000, {}, "differs", ()),
        (40_160, 50_000, {}, "reproduced_under", ("rounding truncation", "sampling")),  # from 79.97 % on
        (40_200, 50_000, {}, "differs", ()),
        # fewer images: never equal, and a wider interval
        (799, 1000, {"available": 50_000}, "reproduced_under", ("sampling",)),
        (780, 1000, {"available": 50_000}, "reproduced_under", ("sampling",)),
        (39_745, 50_000, {"available": 50_001}, "differs", ()),
        # of ReaL's images, those without a label are not judged, and so are not missing
        (39_950, 50_000, {"unlabelled": 3163}, "reproduced", ()),
        # unreadable images: equal only if it is so whatever they would give
        (39_925, 49_999, {"unreadable": 1}, "reproduced", ()),
        (39_924, 49_999, {"unreadable": 1}, "reproduced_under", ("sampling",)),
        (39_974, 49_999, {"unreadable": 1}, "reproduced_under", ("rounding truncation",)),
        (39_973, 49_999, {"unreadable": 1}, "reproduced", ()),
        (39_910, 49_950, {"unreadable": 50}, "reproduced_under", ("sampling",)),
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
    assert judge(base, found, None, Fraction(51, 50_000)).verdict is Verdict.REPRODUCED_UNDER
    assert "more than the 0.05 % up to" in judge(base, found, None, Fraction(1, 2000)).reason
    # 70 to 80 of 100: too low if the 10 unreadable ones were wrong, but not if they were right
    assert judge(base, evaluated((70, 90), unreadable=10), None, Fraction(1)).verdict is Verdict.REPRODUCED_UNDER


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 50), st.integers(0, 2), st.integers(0, 5))
def test_a_verdict_is_what_its_definition_says(
    base: CellRef, correct: int, wrong: int, missing: int, unreadable: int, unlabelled: int
) -> None:
    images = correct + wrong
    found = evaluated((correct, images), unreadable=unreadable, unlabelled=unlabelled)
    found = found.model_copy(update={"available": found.available + missing})
    check = judge(base, found)
    looked_at = images + unreadable
    if not images or Fraction(unreadable, looked_at) > MOST_UNREADABLE:
        expected = Verdict.ERROR
    elif missing == 0 and unreadable == 0 and 7985 * images <= 10_000 * correct < 7995 * images:
        expected = Verdict.REPRODUCED
    elif wilson(correct, images).high < Fraction("79.85") or wilson(correct, images).low >= 80:
        expected = Verdict.DIFFERS
    else:
        expected = Verdict.REPRODUCED_UNDER
    assert check.verdict is expected
    assert ("sampling" in check.under) <= (check.verdict is Verdict.REPRODUCED_UNDER)
    assert check.verdict is not Verdict.REPRODUCED or not missing


def test_a_check_has_all_that_it_rests_on(base: CellRef) -> None:
    found = evaluated((39_750, 50_000))
    check = judge(base, found)
    assert check == Check(
        id="p/1/base/top1",
        kind=CheckKind.CELL,
        verdict=Verdict.REPRODUCED_UNDER,
        reason=(
            "the checkpoint classifies 39 750 of all 50 000 images correctly with the first guess, 79.5 %; "
            f"that does not print as 79.9, but the 95 % interval {wilson(39_750, 50_000)} meets [79.85, 79.95): "
            "no more than sampling explains"
        ),
        source=check.source,
        printed="79.9",
        unit="%",
        interval=("79.85", "79.95"),
        measured="79.5",
        gap="-4",
        rounding="half_up",
        under=("sampling",),
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
        f"interval {wilson(799, 1000)} meets [79.85, 79.95)"
    )
    other = judge(base, evaluated((780, 1000), available=50_000))
    assert "that is not 79.9 as printed, since not all images were evaluated" in other.reason


@pytest.mark.slow
def test_reasons_count_what_was_not_judged(base: CellRef, tmp_path: Path) -> None:
    top5 = cell(tmp_path, "p/1/base/top5")
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
    assert outcome(off) == (Verdict.REPRODUCED_UNDER, (*under, "sampling"))
    assert outcome(judge(one, evaluated((10, 50_000)), reading)) == (Verdict.DIFFERS, ())
