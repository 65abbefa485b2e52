"""What a sample of images decides: which difference it has to exclude, and how many images exclude it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.numbers.words import count_of
from imlp_audit.spec.references import CellRef, rows_of_table

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
    """Return the smallest difference that the table prints between a baseline and its variant in a cell's column.

    Those of the cell's own row come first. None where the column prints none.
    """
    stakes = list(_stakes(cell))
    own = [stake for stake in stakes if cell.id in (stake.base.id, stake.variant.id)]
    return min(own or stakes, key=lambda stake: stake.points, default=None)


def _stakes(cell: CellRef) -> Iterator[Stake]:
    for row in rows_of_table(cell.row.paper, cell.row.table):
        variant = row.cell(cell.column_id)
        base = row.baseline.cell(cell.column_id) if row.baseline is not None else None
        if variant is not None and base is not None and variant.printed.value != base.printed.value:
            yield Stake(abs(variant.printed.value - base.printed.value), base, variant)


def excludes(sampled: Interval, printed: Interval, points: Fraction) -> bool:
    """Return whether an interval leaves no room for a number that is so many points above or below the printed one."""
    return not any(sampled.meets(printed + Interval.point(way)) for way in (points, -points))


def images_to_decide(
    interval: Callable[[int], Interval], printed: Interval, points: Fraction, most: int = MOST_IMAGES
) -> int | None:
    """Return the smallest number of images whose interval excludes such a difference, or the printed number.

    `interval` gives the interval of so many images with a fixed share of right ones, so more of them narrow it. None
    if `most` images do not decide.
    """

    def decides(images: int) -> bool:
        found = interval(images)
        return not found.meets(printed) or excludes(found, printed, points)

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


@dataclass(frozen=True)
class Sample:
    """A run that does not decide, and the intervals of other numbers of images: as printed, and as it came out.

    `size` is how many images the data set has, if that is known; `whole` says that all of them were evaluated.
    """

    images: int
    as_printed: Callable[[int], Interval]
    as_measured: Callable[[int], Interval]
    size: int | None
    whole: bool


def describe_need(sample: Sample, printed: Interval, stake: Stake | None) -> str:
    """Say what would decide where a sample does not: how many images, or all of them."""
    if sample.whole:
        return "no more images decide it; the file behind the printed number would"
    size = sample.size
    all_ = f"all {readable(size)} images of the data set" if size is not None else "the whole data set"
    if stake is None:
        return (
            "the table prints no difference between a baseline and its variant in this column that a sample would have "
            f"to exclude; {all_} would decide"
        )
    most = size or MOST_IMAGES
    needed = images_to_decide(sample.as_printed, printed, stake.points, most)
    if needed is not None and needed <= sample.images:
        needed = images_to_decide(sample.as_measured, printed, stake.points, most)
    if needed is None or needed == size:
        return f"no sample excludes a difference of {stake.describe()}; {all_} would decide"
    return f"about {count_of(needed, 'image')} would decide: they exclude a difference of {stake.describe()}"
