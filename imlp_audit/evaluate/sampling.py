"""What a sample of images decides: its interval, and which difference it has to exclude. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.spec.claim_entries import QuantityKind
from imlp_audit.spec.claim_quantities import Quantity
from imlp_audit.spec.claims import Conditions, Order, Statement, parse_claims
from imlp_audit.spec.columns import AccuracyColumn
from imlp_audit.spec.paper import CellRef, Paper, rows_of

# The 97.5 % quantile of the standard normal distribution, rounded up: 1.95996398454005423552...
Z = Fraction("1.95996398454005423553")
DIGITS = 4  # decimal places of the ends, in percent
_GRID = 100 * 10**DIGITS  # steps from 0 to 100 percent
_PERCENT = Interval(Fraction(0), Fraction(100))


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
    """A run on some of a data set's images, of which so many are right and so many cannot be read."""

    correct: int
    unreadable: int
    images: int

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the share of right images, in percent."""
        return self._interval(Fraction(self.correct))

    def interval_if(self, share: Fraction) -> Interval:
        """Return the interval of as many images if this share of the readable ones, in percent, were right."""
        return self._interval(share / 100 * (self.images - self.unreadable))

    def _interval(self, correct: Fraction) -> Interval:
        return Interval(wilson(correct, self.images).low, wilson(correct + self.unreadable, self.images).high)

    def decides(self, printed: Interval, points: Fraction) -> bool:
        """Return whether a pass is evidence, because it excludes a difference of so many points, and could have failed.

        It could if as many images, on which another number is right, would miss the printed one.
        """
        others = find_others(printed, points)
        return bool(others) and not any(
            self.interval.meets(other) or self.interval_if((other.low + other.high) / 2).meets(printed)
            for other in others
        )


def find_others(printed: Interval, points: Fraction) -> list[Interval]:
    """Return the shares so many points below and above the printed one.

    Where they are not possible, the last share that is possible takes their place, unless it prints alike.
    """
    others = []
    for way, end in ((-points, _PERCENT.low), (points, _PERCENT.high)):
        moved = printed + Interval.point(way)
        if moved.meets(_PERCENT):
            low, low_closed = max((moved.low, not moved.low_closed), (_PERCENT.low, False))
            high, high_closed = min((moved.high, moved.high_closed), (_PERCENT.high, True))
            others.append(Interval(low, high, not low_closed, high_closed))
        elif end not in printed:
            others.append(Interval.point(end))
    return others


def describe_need(size: int | None, stake: Stake | None) -> str:
    """Say what would decide where a sample does not; `size` is the number of images of the data set."""
    whole = f"all {readable(size)} images of the data set" if size is not None else "the whole data set"
    if stake is None:
        nothing = "the paper makes nothing of a difference between two such scores, so a sample has none to exclude"
        return f"{nothing}; {whole} would decide"
    return f"it does not exclude a difference of {stake.describe()}; {whole} would decide"


def wilson(correct: int | Fraction, images: int) -> Interval:
    """Return Wilson's 95 % score interval in percent for `correct` of `images`; [0, 100] if there are no images.

    The ends are rounded outwards. E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    JASA 22 (1927), 209-212.
    """
    if not images:
        return _PERCENT
    square = Z**2 + 4 * correct * (images - Fraction(correct)) / images
    with localcontext(prec=60):
        half = Z * Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())
    low, high = ((2 * correct + Z**2 + end) * _GRID / (2 * (images + Z**2)) for end in (-half, half))
    step = Fraction(100, _GRID)
    return Interval(max(floor(low), 0) * step, min(ceil(high), _GRID) * step)
