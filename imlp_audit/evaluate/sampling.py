"""What a sample of images decides: intervals and tests, and which difference to exclude. Pure.

A score interval holds the values that a test does not reject. The test is decided in rational numbers, and each end is
rounded outward to the next decimal, so no rounding error ever narrows an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.spec.claim_entries import QuantityKind
from imlp_audit.spec.claims import Conditions, Order, Statement, parse_claims
from imlp_audit.spec.columns import AccuracyColumn
from imlp_audit.spec.paper import CellRef, Paper, rows_of
from imlp_audit.spec.quantities import Quantity

# The 97.5 % quantile of the standard normal distribution, rounded up: 1.95996398454005423552...
Z = Fraction("1.95996398454005423553")
DIGITS = 4  # decimal places of the ends, in percent
_GRID = 100 * 10**DIGITS  # steps from 0 to 100 percent


@dataclass(frozen=True)
class Stake:
    """A difference, in points, that the paper makes something of: between which two cells it is printed."""

    points: Fraction
    base: CellRef
    variant: CellRef

    def describe(self) -> str:
        """Say what the difference is and where it is printed."""
        texts = f"{self.base.printed.text} to {self.variant.printed.text}"
        return f"{readable(self.points)} points, as from {self.base.row.row.id} to {self.variant.row.row.id} ({texts})"


def find_stake(cell: CellRef) -> Stake | None:
    """Return the smallest difference between two scores like the cell's that the paper makes something of.

    Scores are alike if they have the same metric and data, in whichever table. The paper makes something of the
    difference between a row and its baseline, and of those that a claim is about. None where there is none.
    """
    paper = cell.row.paper
    pairs = [*_from_baselines(paper), *_from_claims(paper)]
    stakes = [
        Stake(abs(variant.printed.value - base.printed.value), base, variant)
        for base, variant in pairs
        if _kind(base) == _kind(variant) == _kind(cell)
    ]
    return min((stake for stake in stakes if stake.points), key=lambda stake: stake.points, default=None)


def _kind(cell: CellRef) -> tuple[str, str] | str:
    """Return what the scores have in common that a cell is compared with."""
    column = cell.column
    return (column.metric, column.data) if isinstance(column, AccuracyColumn) else cell.column_id


def _from_baselines(paper: Paper) -> Iterator[tuple[CellRef, CellRef]]:
    for row in rows_of(paper):
        for name in row.row.printed:
            base = row.baseline.cell(name) if row.baseline is not None else None
            if base is not None:
                yield base, CellRef(row, name)


def _from_claims(paper: Paper) -> Iterator[tuple[CellRef, CellRef]]:
    for claim in parse_claims(paper, (paper,)):
        for statement in claim.meanings.all if claim.meanings is not None else ():
            yield from _compared(statement)


def _compared(statement: Statement) -> Iterator[tuple[CellRef, CellRef]]:
    """Yield the pairs of printed numbers that a claim compares, the one that it starts from first."""
    quantities: list[Quantity] = []
    if isinstance(statement, Conditions):
        quantities = [one for condition in statement.conditions for one in condition.by_row.values()]
    elif isinstance(statement, Order):
        quantities = [one for _, one in statement.along]
        yield from pairwise(one.cell for one in quantities if one.kind is QuantityKind.VALUE)
    for quantity in quantities:
        if len(quantity.cells) == 2:  # not a position between two others
            own, other = quantity.cells
            yield other, own


@dataclass(frozen=True)
class Sample:
    """A run on some of a data set's images, and the 95 % interval that it gives for a number.

    `interval_of` gives the interval of so many images on which the number comes out as some value; the number cannot
    lie outside of `possible`.
    """

    images: int
    measured: Fraction
    interval: Interval
    interval_of: Callable[[Fraction, int], Interval]
    possible: Interval

    def decides(self, printed: Interval, points: Fraction) -> bool:
        """Return whether a pass is evidence, because it excludes a difference of so many points, and could have failed.

        It could if as many images, on which another number is right, would miss the printed one.
        """
        others = find_others(printed, points, self.possible)
        return bool(others) and not any(
            self.interval.meets(other) or self.interval_of((other.low + other.high) / 2, self.images).meets(printed)
            for other in others
        )


def find_others(printed: Interval, points: Fraction, possible: Interval) -> list[Interval]:
    """Return the numbers so many points below and above the printed one.

    Where they are not possible, the last number that is possible takes their place, unless it prints alike.
    """
    others = []
    for way, end in ((-points, possible.low), (points, possible.high)):
        moved = printed + Interval.point(way)
        if moved.meets(possible):
            others.append(
                Interval(max(moved.low, possible.low), min(moved.high, possible.high), *_closed(moved, possible))
            )
        elif end not in printed:
            others.append(Interval.point(end))
    return others


def _closed(one: Interval, other: Interval) -> tuple[bool, bool]:
    """Return whether the lower and the upper end of what lies in both intervals belong to it."""
    low = other.low_closed if other.low > one.low else one.low_closed
    high = other.high_closed if other.high < one.high else one.high_closed
    return low, high


def describe_need(size: int | None, stake: Stake | None) -> str:
    """Say what would decide where a sample does not; `size` is the number of images of the data set."""
    all_ = f"all {readable(size)} images of the data set" if size is not None else "the whole data set"
    if stake is None:
        return (
            "the paper makes nothing of a difference between two such scores, so a sample has none to exclude; "
            f"{all_} would decide"
        )
    return f"it does not exclude a difference of {stake.describe()}; {all_} would decide"


def wilson(correct: int | Fraction, images: int) -> Interval:
    """Return Wilson's 95 % score interval in percent for `correct` of `images`; [0, 100] if there are no images.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927), 209-212.
    """

    def accepts(p: Fraction) -> bool:
        return (correct - images * p) ** 2 <= Z**2 * images * p * (1 - p)

    estimate = correct * _GRID // images if images else 0
    return Interval(_outwards(accepts, estimate, 0), _outwards(accepts, estimate, _GRID))


def paired_difference(first_only: int | Fraction, second_only: int | Fraction, images: int) -> Interval:
    """Return Tango's 95 % score interval in points of percent: the second's share of right images minus the first's.

    Both are over the same `images`, of which the first two numbers are right in one run only. At 0 it is
    McNemar's test.
    T. Tango, Equivalence test and confidence interval for the difference in proportions for the paired-sample
    design, Statistics in Medicine 17 (1998), 891-908.
    """

    def accepts(delta: Fraction) -> bool:
        b = (2 * images - second_only + first_only) * delta - second_only - first_only
        root = b**2 + 8 * images * first_only * delta * (1 - delta)
        least = 2 * (second_only - first_only - images * delta) ** 2 / Z**2 + b - 2 * images * delta * (1 - delta)
        return (
            least <= 0 or least**2 <= root
        )  # the score is at most Z; rearranged to avoid the square root in its variance

    estimate = (second_only - first_only) * _GRID // images if images else 0
    return Interval(_outwards(accepts, estimate, -_GRID), _outwards(accepts, estimate, _GRID))


def _outwards(accepts: Callable[[Fraction], bool], inside: int, end: int) -> Fraction:
    """Return, in percent, the first rejected step from `inside` towards `end`, or `end`."""
    if accepts(Fraction(end, _GRID)):
        return Fraction(end * 100, _GRID)
    rejected = end
    while abs(rejected - inside) > 1:
        middle = (rejected + inside) // 2
        if accepts(Fraction(middle, _GRID)):
            inside = middle
        else:
            rejected = middle
    return Fraction(rejected * 100, _GRID)


def mcnemar(first_only: int, second_only: int) -> Fraction:
    """Return the two-sided p of McNemar's exact test: a fair coin for each image that one run alone has right.

    Q. McNemar, Note on the sampling error of the difference between correlated proportions, Psychometrika 12 (1947).
    """
    tossed, least = first_only + second_only, min(first_only, second_only)
    term = ways = 1
    for heads in range(least):
        term = term * (tossed - heads) // (heads + 1)
        ways += term
    return min(Fraction(1), Fraction(2 * ways, 2**tossed))


def probability_text(p: Fraction) -> str:
    """Return a probability with three digits, rounded up: 0.0312, 1.24E-31."""
    with localcontext(prec=3, rounding=ROUND_CEILING):
        return str(Decimal(p.numerator) / Decimal(p.denominator))
