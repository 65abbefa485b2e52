"""Two runs over the same images: McNemar's test, and the verdict on the difference that is printed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.paired import EvaluatedCell, judge_difference, other_run, pair_runs
from imlp_audit.evaluate.sampling import mcnemar, paired_difference, probability_text
from imlp_audit.evaluate.verdict import judge
from imlp_audit.records.check import Check, CheckKind, DeltaCheck, Verdict
from imlp_audit.records.evidence import Accuracy
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.columns import Metric
from imlp_audit.spec.library import load
from imlp_audit.spec.paper import CellRef, find_cell
from tests.evaluate.papers import evaluated, write


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CellRef]:
    """The top-1 accuracies of the paper, by the row: base 79.9, block 80.0, same 80.0 and in Table 2 far 70.0."""
    papers = load([str(write(tmp_path_factory.mktemp("papers"), "half_up, truncation", 10_000))]).papers
    ids = {"base": "p/1/base/top1", "block": "p/1/block/top1", "same": "p/1/same/top1", "far": "p/2/far/top1",
           "top5": "p/1/block/top5", "low": "p/3/base/top1", "much": "p/3/much/top1"}  # fmt: skip
    found = {name: find_cell(papers, id_) for name, id_ in ids.items()}
    return {name: cell for name, cell in found.items() if cell is not None}


def outcomes(both: int, first_only: int, second_only: int, neither: int) -> tuple[list[bool], list[bool]]:
    """What two runs have right, in an order that mixes the four kinds of images."""
    kinds = [(True, True)] * both + [(True, False)] * first_only
    kinds += [(False, True)] * second_only + [(False, False)] * neither
    random.Random(0).shuffle(kinds)
    return [a for a, _ in kinds], [b for _, b in kinds]


@pytest.mark.slow
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_a_pair_is_counted_image_by_image(kinds: list[tuple[bool, bool]]) -> None:
    first, second = [a for a, _ in kinds], [b for _, b in kinds]
    paired = pair_runs(evaluated(first, checkpoint="b"), evaluated(second, checkpoint="c"))
    counted = [0, 0, 0]
    for a, b in kinds:
        counted[0] += a and b
        counted[1] += a and not b
        counted[2] += b and not a
    assert [paired.both, paired.first_only, paired.second_only] == counted
    assert (paired.images, paired.first, paired.second) == (len(kinds), "b" * 64, "c" * 64)
    assert Fraction(paired.difference) == pytest.approx(100 * (sum(second) - sum(first)) / max(len(kinds), 1))
    interval = paired_difference(counted[1], counted[2], len(kinds))
    assert (Fraction(paired.low), Fraction(paired.high)) == (interval.low, interval.high)
    tossed = counted[1] + counted[2]
    p = binomtest(counted[1], tossed).pvalue if tossed else 1.0
    assert p * (1 - 1e-12) <= float(paired.p) <= p * 1.01


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (evaluated((5, 9)), "one evaluated 10 images, the other 9"),
        (evaluated((5, 10), label=1), "their ids or labels differ"),
        (evaluated((5, 10), Metric.TOP5), "the runs have different metrics: top1 and top5"),
    ],
)
def test_runs_over_other_images_are_refused(other: Accuracy, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        pair_runs(evaluated((5, 10)), other)


def difference(
    cells: dict[str, CellRef],
    kinds: tuple[int, int, int, int],
    rows: tuple[str, str] = ("base", "block"),
    changes: Mapping[str, Any] = MappingProxyType({}),
) -> DeltaCheck:
    """Judge the difference between two rows; the images are of both right, one alone, the other alone, none."""
    pair = zip(outcomes(*kinds), "bc", strict=True)
    first, second = (evaluated(right, checkpoint=name, **changes) for right, name in pair)
    base, run = rows
    return judge_difference(EvaluatedCell(cells[run], second), EvaluatedCell(cells[base], first))


@pytest.mark.daily(6)
@pytest.mark.parametrize(
    ("kinds", "changes", "verdict", "under"),
    [
        # 79.9 to 80.0 leaves the differences in (0, 0.2): of 10 000 images 1 to 19
        ((7900, 90, 91, 1919), {}, "reproduced", ()),
        ((7900, 90, 109, 1901), {}, "reproduced", ()),
        ((7900, 90, 90, 1920), {}, "differs", ()),
        ((7900, 90, 110, 1900), {}, "differs", ()),
        ((7900, 90, 110, 1899), {"available": 10_000}, "unverifiable", ()),
        ((7900, 90, 80, 1929), {"available": 10_000}, "unverifiable", ()),
        ((7900, 90, 190, 1820), {}, "differs", ()),
        ((7900, 190, 90, 1820), {}, "differs", ()),
        ((7900, 90, 100, 1909), {"available": 10_000}, "unverifiable", ()),
        ((7900, 90, 100, 1910), {"available": 10_001}, "error", ()),
        ((7900, 90, 100, 1909), {"unreadable": 1}, "reproduced", ()),
        ((7900, 90, 91, 1918), {"unreadable": 1}, "unverifiable", ()),
        ((7900, 90, 100, 1899), {"unreadable": 11}, "error", ()),
        ((0, 0, 0, 0), {"unlabelled": 3}, "error", ()),
    ],
)  # fmt: skip
def test_verdicts(
    cells: dict[str, CellRef],
    kinds: tuple[int, int, int, int],
    changes: dict[str, int],
    verdict: str,
    under: tuple[str],
) -> None:
    check = difference(cells, kinds, changes=changes)
    assert (check.verdict, check.under) == (Verdict(verdict), under)


@pytest.mark.parametrize("unreadable", [(1, 0), (0, 1)])
def test_where_either_run_lacks_images_nothing_is_equal(cells: dict[str, CellRef], unreadable: tuple[int, int]) -> None:
    """One run lacks the last of 10 000 images, which the other could not read."""
    first, second = (
        evaluated(right, unreadable=lost) for right, lost in zip(outcomes(7900, 90, 100, 1909), unreadable, strict=True)
    )
    check = judge_difference(EvaluatedCell(cells["block"], second), EvaluatedCell(cells["base"], first))
    assert check.verdict is Verdict.UNVERIFIABLE


@pytest.mark.parametrize(
    ("kinds", "verdict"),
    [
        ((55, 5, 25, 15), "reproduced_under"),  # 20 points, [8.9, 30.6]
        ((5, 1, 3, 1), "unverifiable"),  # 20 points, but of ten images
        ((3, 0, 0, 0), "unverifiable"),
        ((60, 15, 10, 15), "differs"),
    ],
)
def test_a_sample_passes_if_it_excludes_that_there_is_no_difference(
    cells: dict[str, CellRef], kinds: tuple[int, int, int, int], verdict: str
) -> None:
    check = difference(cells, kinds, ("low", "much"), {"available": 10_000})
    assert check.verdict is Verdict(verdict)
    assert check.under == (("sampling",) if verdict == "reproduced_under" else ())


def test_too_many_unreadable_images_are_an_error(cells: dict[str, CellRef]) -> None:
    first, second = (evaluated(right, unreadable=11) for right in outcomes(7900, 90, 100, 1899))
    check = judge_difference(EvaluatedCell(cells["block"], second), EvaluatedCell(cells["base"], first))
    assert check.verdict is Verdict.ERROR


def test_a_run_against_itself_says_nothing(cells: dict[str, CellRef]) -> None:
    """Printed ties would pass whatever the file does, and printed differences differ."""
    found = evaluated((800, 1000), available=10_000)
    for base, run in (("same", "block"), ("base", "block"), ("low", "much")):
        check = judge_difference(EvaluatedCell(cells[run], found), EvaluatedCell(cells[base], found))
        assert check.verdict is Verdict.UNVERIFIABLE
        assert "both runs used the same file and agree on every image" in check.reason
    first, second = (evaluated(right, available=10_000) for right in outcomes(60, 15, 10, 15))  # cropped otherwise
    check = judge_difference(EvaluatedCell(cells["much"], second), EvaluatedCell(cells["low"], first))
    assert check.verdict is Verdict.DIFFERS


def test_a_pair_has_to_exclude_the_smallest_difference_of_its_scores(tmp_path: Path) -> None:
    """A difference of 72.1 points beside one of 4, over all images of 30: 22 of them are right in one run alone."""
    papers = load([str(write(tmp_path))]).papers
    chance, toys, cubes = (find_cell(papers, f"p/4/{name}") for name in ("chance/top1", "trained/top1", "trained/only"))
    assert chance is not None
    assert toys is not None
    assert cubes is not None
    first, second = (evaluated(right, available=50_000) for right in outcomes(0, 0, 22, 8))
    low = EvaluatedCell(chance, first)
    assert judge_difference(EvaluatedCell(toys, second), low).verdict is Verdict.UNVERIFIABLE
    assert judge_difference(EvaluatedCell(cubes, second), low).verdict is Verdict.REPRODUCED_UNDER
    few, right = (evaluated(one, available=50_000) for one in outcomes(0, 0, 3, 0))
    assert judge_difference(EvaluatedCell(cubes, right), EvaluatedCell(chance, few)).verdict is Verdict.UNVERIFIABLE


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
    check = difference(cells, (7900, 90, 130, 1880))
    assert check.id == "p/1/block/top1.against.base"
    assert (check.kind, check.printed, check.unit) == (CheckKind.DELTA, "79.9 to 80.0", "points")
    assert (check.interval, check.measured, check.gap, check.rounding) == (("0", "0.2"), "0.4", "3", "half_up")
    assert len(check.evidence) == 1
    assert check.source == judge(cells["block"], evaluated((1, 2))).source
    assert check.hint_texts == ()
    p = probability_text(mcnemar(90, 130))
    assert check.reason == (
        "of the same 10 000 images, block alone gets 130 right and base alone 90, a difference of +0.4 points; "
        "it does not lie in (0, 0.2), the differences that the printed numbers allow; all images were evaluated, so it "
        f"is not a matter of sampling; McNemar's exact test has p = {p}: block is better, as the paper prints"
    )


def test_reasons_say_whether_it_may_be_chance_and_in_which_direction(cells: dict[str, CellRef]) -> None:
    def held(check: Check) -> str:
        return check.reason.split("; ")[1]

    equal, worse = difference(cells, (7900, 90, 91, 1919)), difference(cells, (7900, 130, 90, 1880))
    assert equal.reason.endswith("McNemar's exact test has p = 1, so these images do not show which is better")
    assert held(equal) == "it lies in (0, 0.2), the differences that the printed numbers allow"
    assert worse.reason.endswith("base is better, contrary to what the paper prints")
    assert held(worse) == "it does not lie in (0, 0.2), the differences that the printed numbers allow"
    part = difference(cells, (7900, 130, 90, 1879), changes={"available": 10_000})
    interval = paired_difference(130, 90, 9999)
    assert held(part) == (
        f"its 95 % interval {interval} does not meet (0, 0.2), the differences that the printed numbers allow"
    )
    lost = difference(cells, (7900, 90, 91, 1918), changes={"unreadable": 1})
    assert held(lost).startswith("whether it lies in (0, 0.2)")
    assert held(lost).endswith("depends on the images that could not be read")
    tie = difference(cells, (7900, 90, 130, 1880), ("same", "block"))
    assert tie.reason.endswith("block is better, but the printed numbers are equal")
    assert tie.id == "p/1/block/top1.against.same"
    assert tie.interval == ("-0.1", "0.1")
    down = difference(cells, (7900, 130, 90, 1880), ("block", "base"))
    assert down.reason.endswith("block is better, as the paper prints")


def test_readings_that_depart_from_the_default_are_named(cells: dict[str, CellRef]) -> None:
    first, second = (evaluated(right) for right in outcomes(7900, 90, 100, 1910))
    check = judge_difference(EvaluatedCell(cells["block"], second, "skip"), EvaluatedCell(cells["base"], first, "skip"))
    assert (check.verdict, check.under, check.reading) == (Verdict.REPRODUCED_UNDER, ("reading skip",), "skip")
    turned = judge_difference(EvaluatedCell(cells["base"], first), EvaluatedCell(cells["block"], second, "skip"))
    assert turned.under == ("reading skip",)


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
