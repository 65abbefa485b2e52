"""The median of a few measurements, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

RESAMPLES = 10_000
SEED = 0
PLACES = 10**4  # an estimate is kept to four decimal places, its interval rounded outward
METHOD = f"median of logarithms; 95 % percentile bootstrap, {RESAMPLES} resamples, seed {SEED}"


@dataclass(frozen=True)
class MedianEstimate:
    """A median and its 95 % interval."""

    value: Fraction
    low: Fraction
    high: Fraction


def estimate_median(values: Sequence[float]) -> MedianEstimate:
    """Return the median of positive measurements, by their logarithms, with its percentile bootstrap interval.

    By logarithms, a ratio and its reciprocal are estimated alike. Whole measurements (of a pair: its ratio) are drawn
    again with replacement; the ends are quantiles of the medians of the draws, no interpolation between them.
    """
    logs = np.log(np.asarray(values, dtype=np.float64))
    draws = np.random.default_rng(SEED).integers(0, len(logs), (RESAMPLES, len(logs)))
    medians = np.median(logs[draws], axis=1)
    low = np.quantile(medians, 0.025, method="lower")
    high = np.quantile(medians, 0.975, method="higher")
    return MedianEstimate(
        Fraction(round(_scaled(np.median(logs))), PLACES),
        Fraction(math.floor(_scaled(low)), PLACES),
        Fraction(math.ceil(_scaled(high)), PLACES),
    )


def _scaled(log: np.floating) -> Fraction:
    return Fraction(math.exp(log)) * PLACES
