"""The verdict on a printed throughput and its ratio to a baseline's, from timings. Pure, without a framework."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

import numpy as np

from imlp_audit.bench.planning import RowComparison
from imlp_audit.checks.judged_under import missing_for, record_cell
from imlp_audit.numbers.interval import EXACT, Interval, decimal_text, readable
from imlp_audit.records.check import CellCheck, Throughput, Verdict
from imlp_audit.spec.paper import RowRef

RESAMPLES = 10_000
SEED = 0
PLACES = 10**4  # an estimate is kept to four decimal places, its interval rounded outward
METHOD = f"median of logarithms; 95 % percentile-bootstrap interval, {RESAMPLES} resamples, seed {SEED}"
_OPEN = "neither faster nor slower"


@dataclass(frozen=True)
class MedianEstimate:
    """A median and its 95 % interval."""

    value: Fraction
    interval: Interval

    def __str__(self) -> str:
        return f"{readable(self.value)} (95 % {self.interval})"


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
        Interval(Fraction(math.floor(_scale(low)), PLACES), Fraction(math.ceil(_scale(high)), PLACES)),
    )


def _scale(log: np.floating) -> Fraction:
    return Fraction(math.exp(log)) * PLACES


class RatioFinding(StrEnum):
    """How a measured ratio compares with a printed one."""

    MET = "met"  # the same direction, and the intervals meet
    OFF = "off"  # the same direction, and they do not
    OPPOSITE = "opposite"
    OPEN = "open"  # one of the intervals holds 1: no direction is shown, or none is printed


@dataclass(frozen=True)
class Timed:
    """The throughput of one row's model in images a second, its ratio to the baseline's, and the record of both."""

    batch: int
    own: MedianEstimate
    ratio: MedianEstimate | None = None
    evidence: Throughput | None = None


@dataclass(frozen=True)
class BenchConditions:
    """The hardware, whether it is the paper's own (as the user states), and the reading."""

    hardware: str
    same: bool
    reading: str | None = None


def _direction(interval: Interval) -> str:
    """Return the side of 1 that all of an interval lies on, in words."""
    one = Interval.point(1)
    return "faster" if one < interval else "slower" if interval < one else _OPEN


def compare_ratios(printed: Interval, measured: Interval) -> RatioFinding:
    """Compare a measured interval of a ratio with the printed one; an interval that holds 1 decides nothing."""
    expected, found = _direction(printed), _direction(measured)
    if _OPEN in (expected, found):
        return RatioFinding.OPEN
    if expected != found:
        return RatioFinding.OPPOSITE
    return RatioFinding.MET if printed.meets(measured) else RatioFinding.OFF


def printed_ratio(comparison: RowComparison) -> Interval | None:
    """Return the ratios that the two printed numbers allow; None if one is missing."""
    base = comparison.base.cell(comparison.cell.column_id) if comparison.base else None
    if base is None:
        return None
    rounding = comparison.cell.row.paper.about.value.rounding[0]
    return comparison.cell.printed.interval(rounding).ratio_to(base.printed.interval(rounding))


def judge(comparison: RowComparison, timed: Timed, conditions: BenchConditions) -> CellCheck:
    """Return the check of a cell from its timing.

    On hardware other than the paper's, a printed number can be neither confirmed nor refuted. On the paper's own, as
    the user states, the verdict is `reproduced_under` sampling if number and ratio both meet the measurements, and
    `differs` if the ratio is on the other side of 1. A number that is merely off stays unverifiable: between two runs,
    clocks and memory layouts move throughput by more than the spread within one.
    """
    verdict = _verdict(comparison, timed) if conditions.same else Verdict.UNVERIFIABLE
    row = comparison.cell.row
    reading = conditions.reading if row.row.model is not None and row.row.model.family else None
    departs = reading != next(iter(row.paper.about.value.readings), reading) and reading is not None
    under = ("sampling", *((f"reading {reading}",) if departs else ()))
    return record_cell(comparison.cell, verdict, _reason(comparison, timed, conditions)).model_copy(
        update={
            "measured": decimal_text(timed.own.value, EXACT),
            "reading": reading,
            "under": under if verdict is Verdict.REPRODUCED_UNDER else (),
            "evidence": (timed.evidence,) if timed.evidence is not None else (),
        }
    )


def _verdict(comparison: RowComparison, timed: Timed) -> Verdict:
    """Judge by timings from the paper's hardware."""
    rounding = comparison.cell.row.paper.about.value.rounding[0]
    near = comparison.cell.printed.interval(rounding).meets(timed.own.interval)
    alone = Verdict.REPRODUCED_UNDER if near else Verdict.UNVERIFIABLE
    printed = printed_ratio(comparison)
    if timed.ratio is None or printed is None:
        return alone
    decided = {RatioFinding.MET: alone, RatioFinding.OPPOSITE: Verdict.DIFFERS}
    return decided.get(compare_ratios(printed, timed.ratio.interval), Verdict.UNVERIFIABLE)


def _reason(comparison: RowComparison, timed: Timed, conditions: BenchConditions) -> str:
    where = (
        f"measured on {conditions.hardware}, the paper's according to --same-hardware"
        if conditions.same
        else f"measured on {conditions.hardware} instead"
    )
    own = f"{timed.own} {comparison.cell.column.unit or 'a second'} at batch size {timed.batch}"
    ratio = f", {_describe_ratio(comparison, comparison.base, timed.ratio)}" if comparison.base and timed.ratio else ""
    return f"{missing_for(comparison.cell)}; {where}: {own}{ratio}"


def _describe_ratio(comparison: RowComparison, base: RowRef, ratio: MedianEstimate) -> str:
    """Say how the measured ratio compares with the printed one."""
    measured = f"{ratio} times {base.row.id}"
    printed, found = printed_ratio(comparison), _direction(ratio.interval)
    shown = f"{found} is shown" if found == _OPEN else found
    if printed is None:
        return f"{measured}, {shown}; no ratio is printed"
    delta = comparison.cell.delta if base.row.id == comparison.cell.row.row.baseline else None
    change = f" ({delta.text})" if delta is not None else ""
    start = f"{measured}, printed {readable(printed.low)} to {readable(printed.high)}{change}"
    match compare_ratios(printed, ratio.interval):
        case RatioFinding.MET:
            return f"{start}: {found} as printed, and the interval meets the printed ratio"
        case RatioFinding.OFF:
            side = "less" if (ratio.interval.high <= printed.low) == (found == "faster") else "more"
            return f"{start}: {found} as printed, but by {side} than the interval allows"
        case RatioFinding.OPPOSITE:
            return f"{start}: {found}, but printed as {_direction(printed)}"
        case RatioFinding.OPEN:
            return f"{start}: {shown}, printed as {_direction(printed)}"
        case never:
            assert_never(never)
