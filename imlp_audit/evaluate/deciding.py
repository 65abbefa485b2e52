"""What a sample of images decides: which difference it has to exclude, and how many images exclude it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.numbers.words import count_of
from imlp_audit.spec.claims import Conditions, Order, Statement, parse_claims
from imlp_audit.spec.columns import AccuracyColumn
from imlp_audit.spec.paper import CellRef, Paper, rows_of
from imlp_audit.spec.quantities import Change, Difference, Quantity, Ratio, Step, Value, cells_of

MOST_IMAGES = 10**9  # looked for where the size of the data set is not known


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
        yield from pairwise(one.cell for one in quantities if isinstance(one, Value))
    for quantity in quantities:
        if isinstance(quantity, Step | Difference | Change | Ratio):
            own, other = cells_of(quantity)
            yield other, own


@dataclass(frozen=True)
class Sample:
    """A run on some of a data set's images, and the 95 % interval that it gives for a number.

    `interval_of` gives the interval of so many images on which the number comes out as some value; the number cannot
    lie outside of `possible`. `size` is how many images the data set has, if that is known.
    """

    images: int
    measured: Fraction
    interval: Interval
    interval_of: Callable[[Fraction, int], Interval]
    possible: Interval
    size: int | None

    def decides(self, printed: Interval, points: Fraction) -> bool:
        """Return whether a pass is evidence, because it excludes a difference of so many points, and could have failed.

        It could if as many images, on which another number is right, would miss the printed one.
        """
        return self._decides(self.interval, self.images, printed, points)

    def images_to_decide(self, value: Fraction, printed: Interval, points: Fraction, most: int) -> int | None:
        """Return the smallest number of images that decides if the number comes out as a value on them.

        Its interval then does not meet the printed number, or a pass is evidence. None if `most` images do not decide.
        """

        def decides(images: int) -> bool:
            found = self.interval_of(value, images)
            return not found.meets(printed) or self._decides(found, images, printed, points)

        if not decides(most):
            return None
        least, enough = 0, most
        while enough - least > 1:
            middle = (least + enough) // 2
            if decides(middle):
                enough = middle
            else:
                least = middle
        return enough

    def _decides(self, found: Interval, images: int, printed: Interval, points: Fraction) -> bool:
        others = find_others(printed, points, self.possible)
        return bool(others) and not any(
            found.meets(other) or self.interval_of((other.low + other.high) / 2, images).meets(printed)
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


def describe_need(sample: Sample, value: Fraction, printed: Interval, stake: Stake | None) -> str:
    """Say what would decide where a sample does not: how many images, or all of them; `value` is the printed number."""
    size = sample.size
    all_ = f"all {readable(size)} images of the data set" if size is not None else "the whole data set"
    if stake is None:
        return (
            "the paper makes nothing of a difference between two such scores, so a sample has none to exclude; "
            f"{all_} would decide"
        )
    most = size or MOST_IMAGES
    needed = sample.images_to_decide(value, printed, stake.points, most)
    if needed is not None and needed <= sample.images:
        needed = sample.images_to_decide(sample.measured, printed, stake.points, most)
    if needed is None or needed == size:
        return f"no sample excludes a difference of {stake.describe()}; {all_} would decide"
    return f"about {count_of(needed, 'image')} would decide: they exclude a difference of {stake.describe()}"
