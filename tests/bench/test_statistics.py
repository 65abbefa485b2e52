"""Medians and their bootstrap intervals, against the exact distribution of the bootstrap and against coverage."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from imlp_audit.bench.setup import FEWEST_PAIRS
from imlp_audit.bench.statistics import PLACES, estimate_median

STEP = Fraction(1, PLACES)
ratios = st.lists(st.floats(0.1, 10), min_size=FEWEST_PAIRS, max_size=15)


@given(st.floats(0.01, 1000), st.integers(FEWEST_PAIRS, 20))
def test_the_estimate_of_equal_ratios_is_that_ratio(ratio: float, pairs: int) -> None:
    found = estimate_median([ratio] * pairs)
    assert abs(found.value - Fraction(ratio)) <= STEP
    assert found.low <= Fraction(ratio) * (1 + Fraction(1, 10**12))
    assert found.high >= Fraction(ratio) * (1 - Fraction(1, 10**12))
    assert found.high - found.low <= 2 * STEP


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
    assert float(found.low) == pytest.approx(values[low - 1], abs=float(STEP))
    assert float(found.high) == pytest.approx(values[high - 1], abs=float(STEP))
    assert float(found.value) == pytest.approx(values[pairs // 2], abs=float(STEP))


@pytest.mark.daily(1)
@pytest.mark.parametrize("pairs", [6, 10])
def test_the_interval_covers_the_true_ratio_of_noisy_timings(pairs: int) -> None:
    source, true, trials = np.random.default_rng(7), 1.1, 200
    covered = 0
    for _ in range(trials):
        found = estimate_median([true * math.exp(noise) for noise in source.normal(0, 0.05, pairs)])
        covered += found.low <= Fraction(true) <= found.high
    assert covered / trials >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / trials) - 0.02


@given(ratios)
def test_the_estimate_of_reciprocals_is_the_reciprocal(values: list[float]) -> None:
    one, other = estimate_median(values), estimate_median([1 / value for value in values])
    for here, there in ((one.low, other.high), (one.high, other.low), (one.value, other.value)):
        assert float(here) == pytest.approx(1 / float(there), rel=0.003)  # both are rounded


@given(ratios)
def test_the_median_lies_in_its_interval_within_what_was_measured(values: list[float]) -> None:
    found = estimate_median(values)
    assert min(values) - 2 * STEP <= found.low <= found.value + STEP
    assert found.value - STEP <= found.high <= max(values) + 2 * STEP
    assert abs(math.log(found.value) - float(np.median(np.log(values)))) <= float(STEP) * 10


def test_it_is_the_same_every_time() -> None:
    values = [1.0, 1.1, 0.9, 1.3, 1.2, 0.8, 1.05]
    assert estimate_median(values) == estimate_median(values)


def test_fewest_pairs_is_the_first_number_whose_extremes_hold_the_median_at_95_percent() -> None:
    covers = {n: 1 - 2 * 0.5**n for n in range(1, 10)}
    assert min(n for n, share in covers.items() if share >= 0.95) == FEWEST_PAIRS
