"""What timings say of a printed ratio and a printed throughput: medians with their intervals, and verdicts."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from imlp_audit.bench.planning import FEWEST_PAIRS, RowComparison, find_table, plan_comparisons
from imlp_audit.bench.verdict import (
    PLACES,
    BenchConditions,
    MedianEstimate,
    RatioFinding,
    Timed,
    compare_ratios,
    estimate_median,
    judge,
    printed_ratio,
)
from imlp_audit.numbers.interval import Interval
from imlp_audit.records.check import CellCheck, Verdict
from imlp_audit.spec.load import load

from .papers import BLOCK, SMALL, comparison, paper, row

HERE, THERE = BenchConditions("this machine", same=False), BenchConditions("this machine", same=True)


def between(low: str, high: str) -> Interval:
    return Interval(Fraction(low), Fraction(high))


def about(low: str, high: str) -> MedianEstimate:
    return MedianEstimate((Fraction(low) + Fraction(high)) / 2, Interval(Fraction(low), Fraction(high)))


@pytest.mark.slow
def test_the_printed_ratio_is_that_of_all_numbers_that_print_so() -> None:
    (imlp,) = load(["imlp"]).papers
    found = plan_comparisons(imlp, find_table(imlp, "9"), "cpu", ["deit_ti_imlp"])[0]  # 69.9 of 63.6
    ratio = printed_ratio(found)
    assert ratio is not None
    assert (ratio.low, ratio.high) == (Fraction(6985, 6365), Fraction(6995, 6355))
    assert Fraction(699, 636) in ratio


ends = st.fractions(Fraction(1, 4), 4)


intervals = st.tuples(ends, ends).map(lambda pair: Interval(min(pair), max(pair)))


@given(intervals, intervals)
def test_an_interval_that_holds_1_decides_nothing_and_no_other_is_left_open(one: Interval, other: Interval) -> None:
    assert (compare_ratios(one, other) is RatioFinding.OPEN) == (1 in one or 1 in other)
    if compare_ratios(one, other) is RatioFinding.MET:
        assert one.meets(other)
    if compare_ratios(one, other) is RatioFinding.OPPOSITE:
        assert not one.meets(other)


def made(root: Path, own: tuple[str, str], ratio: tuple[str, str], place: BenchConditions = THERE) -> CellCheck:
    """Judge a printed 22.0 imgs/s, +10 % over 20.0."""
    found = comparison(root, "20.0", "22.0", "+10%")
    return judge(found, Timed(32, about(*own), about(*ratio)), place)


@pytest.mark.parametrize(
    ("own", "ratio", "verdict", "told"),
    [
        (("21.5", "22.5"), ("1.05", "1.15"), Verdict.REPRODUCED_UNDER, "faster as printed, and the interval meets"),
        (("30", "31"), ("1.05", "1.15"), Verdict.UNVERIFIABLE, "faster as printed, and the interval meets"),
        (("21.5", "22.5"), ("1.2", "1.3"), Verdict.UNVERIFIABLE, "faster as printed, but by more than"),
        (("21.5", "22.5"), ("1.01", "1.02"), Verdict.UNVERIFIABLE, "faster as printed, but by less than"),
        (("21.5", "22.5"), ("0.9", "1.2"), Verdict.UNVERIFIABLE, "neither faster nor slower is shown"),
        (("21.5", "22.5"), ("0.7", "0.8"), Verdict.DIFFERS, "slower, but printed as faster"),
        (("30", "31"), ("0.7", "0.8"), Verdict.DIFFERS, "slower, but printed as faster"),
    ],
)
def test_on_the_papers_hardware_the_ratio_decides_and_elsewhere_nothing_does(
    tmp_path: Path, own: tuple[str, str], ratio: tuple[str, str], verdict: Verdict, told: str
) -> None:
    check = made(tmp_path, own, ratio)
    assert check.verdict is verdict
    assert check.under == (("sampling",) if verdict is Verdict.REPRODUCED_UNDER else ())
    assert told in check.reason
    assert check.reason.startswith(
        "needs an abacus; measured on this machine, the paper's according to --same-hardware: "
    )
    elsewhere = made(tmp_path, own, ratio, HERE)
    assert (elsewhere.verdict, elsewhere.under) == (Verdict.UNVERIFIABLE, ())
    assert elsewhere.reason.startswith("needs an abacus; measured on this machine instead: ")
    assert told in elsewhere.reason


def test_a_reason_says_all_numbers(tmp_path: Path) -> None:
    check = made(tmp_path, ("21.5", "22.5"), ("1.05", "1.15"))
    assert check.reason.partition("same-hardware: ")[2] == (
        "22 (95 % [21.5, 22.5]) imgs/s at batch size 32, 1.1 (95 % [1.05, 1.15]) times a, "
        "printed 1.0948 to 1.1053 (+10%): faster as printed, and the interval meets the printed ratio"
    )
    assert (check.id, check.printed, check.unit, check.measured) == ("p/1/b/cpu", "22.0", "imgs/s", "22")
    assert check.source.file.endswith("table1.yaml")


def test_a_printed_change_is_of_the_rows_own_baseline(tmp_path: Path) -> None:
    rows = (row("a", SMALL, "20.0"), row("b", SMALL, "22.0", "a", ", delta: {cpu: +10%}"), row("c", SMALL, "11.0"))
    found = paper(tmp_path, *rows)
    timed = Timed(1, about("1", "2"), about("1.1", "1.2"))
    told = [
        judge(plan_comparisons(found, found.tables[0], "cpu", ["b"], one)[0], timed, HERE).reason for one in (None, "c")
    ]
    assert "printed 1.0948 to 1.1053 (+10%): " in told[0]
    assert "printed 1.9864 to 2.0137: " in told[1]


def test_the_words_for_a_printed_slowdown(tmp_path: Path) -> None:
    found = comparison(tmp_path, "20.0", "10.0")

    def told(low: str, high: str) -> str:
        return judge(found, Timed(1, about("1", "2"), about(low, high)), HERE).reason

    assert "slower as printed, but by less" in told("0.8", "0.9")
    assert "slower as printed, but by more" in told("0.1", "0.2")
    assert "faster, but printed as slower" in told("1.1", "1.2")


def test_equal_numbers_print_no_direction(tmp_path: Path) -> None:
    found = comparison(tmp_path, "20.0", "20.0")
    check = judge(found, Timed(1, about("19", "21"), about("1.1", "1.2")), THERE)
    assert check.verdict is Verdict.UNVERIFIABLE
    assert "faster, printed as neither faster nor slower" in check.reason


@pytest.mark.parametrize(
    ("own", "verdict"), [(("19.9", "21"), Verdict.REPRODUCED_UNDER), (("20.06", "21"), Verdict.UNVERIFIABLE)]
)
def test_a_number_without_a_ratio_is_never_refuted(tmp_path: Path, own: tuple[str, str], verdict: Verdict) -> None:
    variant = comparison(tmp_path, "20.0", "22.0")
    assert variant.base is not None
    cell = variant.base.cell("cpu")
    assert cell is not None
    assert judge(RowComparison(cell, None), Timed(32, about(*own)), THERE).verdict is verdict


@pytest.mark.parametrize(
    ("reading", "under"), [("plain", ("sampling",)), ("skip", ("sampling", "reading skip")), (None, ("sampling",))]
)
def test_a_reading_that_is_not_the_default_is_named(tmp_path: Path, reading: str, under: tuple[str, ...]) -> None:
    found = paper(tmp_path, row("a", BLOCK, "20.0"), row("b", SMALL, "20.0"))
    block, mixer = plan_comparisons(found, found.tables[0], "cpu")
    place, timed = BenchConditions("this machine", True, reading), Timed(32, about("19", "21"))
    check = judge(block, timed, place)
    assert (check.verdict, check.under, check.reading) == (Verdict.REPRODUCED_UNDER, under, reading)
    check = judge(mixer, timed, place)  # of which nothing is left open
    assert (check.under, check.reading) == (("sampling",), None)


def test_without_a_printed_ratio_only_the_direction_is_reported(tmp_path: Path) -> None:
    found = paper(tmp_path, row("a", SMALL), row("b", SMALL, "20.0"))
    one = plan_comparisons(found, found.tables[0], "cpu", against="a")[0]
    check = judge(one, Timed(32, about("19", "21"), about("0.7", "0.8")), THERE)
    assert check.verdict is Verdict.REPRODUCED_UNDER
    assert check.reason.endswith("0.75 (95 % [0.7, 0.8]) times a, slower; no ratio is printed")


STEP = Fraction(1, PLACES)


ratios = st.lists(st.floats(0.1, 10), min_size=FEWEST_PAIRS, max_size=15)


def quantile(position: int, pairs: int) -> float:
    """Probability that the median of an odd number of draws is at most the value at a position (from 1)."""
    return float(binom.sf((pairs - 1) // 2, pairs, position / pairs))


@pytest.mark.parametrize("pairs", [7, 9, 11, 21])
def test_ends_are_those_of_the_exact_bootstrap(pairs: int) -> None:
    values = [1.01**k for k in range(pairs)]
    low = next(k for k in range(1, pairs + 1) if quantile(k, pairs) >= 0.025)
    high = next(k for k in range(1, pairs + 1) if quantile(k, pairs) >= 0.975)
    assert min(abs(quantile(k, pairs) - q) for k in range(1, pairs) for q in (0.025, 0.975)) > 0.0045  # 3 deviations
    found = estimate_median(list(reversed(values)))
    assert float(found.interval.low) == pytest.approx(values[low - 1], abs=float(STEP))
    assert float(found.interval.high) == pytest.approx(values[high - 1], abs=float(STEP))
    assert float(found.value) == pytest.approx(values[pairs // 2], abs=float(STEP))


@pytest.mark.daily(1)
@pytest.mark.parametrize("pairs", [6, 10])
def test_the_interval_covers_the_true_ratio_of_noisy_timings(pairs: int) -> None:
    source, true, trials = np.random.default_rng(7), 1.1, 200
    covered = 0
    for _ in range(trials):
        found = estimate_median([true * math.exp(noise) for noise in source.normal(0, 0.05, pairs)])
        covered += found.interval.low <= Fraction(true) <= found.interval.high
    assert covered / trials >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / trials) - 0.02


@given(ratios)
def test_the_estimate_of_reciprocals_is_the_reciprocal(values: list[float]) -> None:
    one, other = estimate_median(values), estimate_median([1 / value for value in values])
    for here, there in (
        (one.interval.low, other.interval.high),
        (one.interval.high, other.interval.low),
        (one.value, other.value),
    ):
        assert float(here) == pytest.approx(1 / float(there), rel=0.003)  # both are rounded


@given(ratios)
def test_the_median_lies_in_its_interval_within_what_was_measured(values: list[float]) -> None:
    found = estimate_median(values)
    assert min(values) - 2 * STEP <= found.interval.low <= found.value + STEP
    assert found.value - STEP <= found.interval.high <= max(values) + 2 * STEP
    assert abs(math.log(found.value) - float(np.median(np.log(values)))) <= float(STEP) * 10
