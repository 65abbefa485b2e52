"""Sentences about printed numbers, judged over all values that the printed digits allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import assert_never

from imlp_audit.numbers.interval import Interval, decimal_text
from imlp_audit.records.check import Verdict
from imlp_audit.spec.claim_entries import Relation


class Truth(StrEnum):
    """Whether a statement holds for all, for none, or for only some of the values that the digits allow."""

    YES = "holds"
    NO = "does not hold"
    OPEN = "is left open by the printed digits"


def judge_relation(value: Interval, relation: Relation, bound: Interval) -> Truth:
    """Judge `value relation bound`, e.g. `above` a point.

    `equals` asks whether the two can be the same number, as the bound is itself a printed, rounded one.
    """
    match relation:
        case Relation.EQUALS:
            return Truth.YES if value.meets(bound) else Truth.NO
        case Relation.ABOVE:
            return _decide(bound < value, value <= bound)
        case Relation.AT_LEAST:
            return _decide(bound <= value, value < bound)
        case Relation.BELOW:
            return _decide(value < bound, bound <= value)
        case Relation.AT_MOST:
            return _decide(value <= bound, bound < value)
        case _:
            assert_never(relation)


def _decide(always: bool, never: bool) -> Truth:
    return Truth.YES if always else Truth.NO if never else Truth.OPEN


def all_of(truths: Sequence[Truth]) -> Truth:
    """Return whether all statements hold."""
    if Truth.NO in truths:
        return Truth.NO
    return Truth.OPEN if Truth.OPEN in truths else Truth.YES


@dataclass(frozen=True)
class RowTruth:
    """The result of a claim's conditions in one row, why, and the values that it rests on.

    Of `conditions` in the row so many are `met`.
    """

    row: str
    truth: Truth
    because: str
    values: str
    met: int = 0
    conditions: int = 0


def judge_share(rows: Sequence[RowTruth], holds_for: str) -> tuple[Verdict, str]:
    """Judge a claim about several rows: `all` of them, or `at least N%`."""
    yes = sum(row.truth is Truth.YES for row in rows)
    maybe = yes + sum(row.truth is Truth.OPEN for row in rows)
    share = Fraction(1) if holds_for == "all" else Fraction(int(holds_for.removeprefix("at least ")[:-1]), 100)
    needed = share * len(rows)
    truth = _decide(yes >= needed, maybe < needed)
    against = [row for row in rows if row.truth is not Truth.YES]
    parts = [f"it holds in {yes} of {len(rows)} rows"] if len(rows) > 1 else []  # of one row, its own words are enough
    met, conditions = sum(row.met for row in rows), sum(row.conditions for row in rows)
    if parts and met and not yes and len(rows) < conditions:
        parts[0] = f"{met} of its {conditions} comparisons hold, in no row all of them"
    if parts and maybe > yes:
        parts[0] += f" and cannot be decided in {maybe - yes}"
    return _verdict(truth), "; ".join([*parts, *(f"{row.row}: {row.because}" for row in against or rows[:1])])


def judge_order(values: Sequence[tuple[str, Interval | None]], *, increasing: bool) -> tuple[Verdict, str]:
    """Judge whether the values go strictly one way along their rows; an undefined one (None) leaves it open."""
    listed = ", ".join(f"{row}: {middle(value) if value else 'undefined'}" for row, value in values)
    known = [value for _, value in values if value is not None]
    if len(known) < len(values):
        return _verdict(Truth.OPEN), listed
    pairs = list(pairwise(known if increasing else known[::-1]))
    truth = all_of([_decide(earlier < later, later <= earlier) for earlier, later in pairs])
    return _verdict(truth), listed


def middle(value: Interval) -> str:
    """Write a possible range by its middle and its half-width."""
    half = (value.high - value.low) / 2
    centre = decimal_text((value.high + value.low) / 2, 3)
    return centre if half == 0 else f"{centre} ± {decimal_text(half, 3)}"


def _verdict(truth: Truth) -> Verdict:
    """Return a claim's verdict where its words have one meaning; a claim read in a stated meaning is not so certain."""
    match truth:
        case Truth.YES:
            return Verdict.REPRODUCED
        case Truth.NO:
            return Verdict.INCONSISTENT
        case Truth.OPEN:
            return Verdict.UNVERIFIABLE
