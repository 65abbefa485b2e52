"""The median of a few measurements, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

RESAMPLES = 10_000
SEED = 0
PLACES = 10**4  # an estimate is kept to four decimal places, its interval rounded outward
METHOD = f"median of logarithms; 95 % percentile-bootstrap interval, {RESAMPLES} resamples, seed {SEED}"


@dataclass(frozen=True)
class MedianEstimate:
    """A median and its 95 % interval."""

    value: Fraction
    low: Fraction
    high: Fraction


def estimate_median(values: Sequence[float]) -> MedianEstimate:
    """Return the median of positive measurements, taken over logarithms, with its percentile bootstrap interval.

    Logarithms treat a ratio and its reciprocal alike. Whole measurements (the ratio of a pair) are resampled with
    replacement; the ends are quantiles of the resampled medians, without interpolation.
    """
    logs = np.log(np.asarray(values, dtype=np.float64))
    draws = np.random.default_rng(SEED).integers(0, len(logs), (RESAMPLES, len(logs)))
    medians = np.median(logs[draws], axis=1)
    low = np.quantile(medians, 0.025, method="lower")
    high = np.quantile(medians, 0.975, method="higher")
    return MedianEstimate(
        Fraction(round(_scale(np.median(logs))), PLACES),
        Fraction(math.floor(_scale(low)), PLACES),
        Fraction(math.ceil(_scale(high)), PLACES),
    )


def _scale(log: np.floating) -> Fraction:
    return Fraction(math.exp(log)) * PLACES
