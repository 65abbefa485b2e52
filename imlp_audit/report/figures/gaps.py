"""Printed against measured: how far each counted number is from the interval that prints as it does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import Record
from imlp_audit.records.check import FAILS, PASSES, CellCheck
from imlp_audit.records.paper import PaperHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.figures.canvas import COLOURS, clean, draw, parse_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_LINEAR = 2  # gaps up to so many last digits are drawn to scale, larger ones by their logarithm
_FEWEST = 4  # numbers that make a figure
_MOST = 40  # columns
_FEW = 3  # powers of ten, of which each side of the axis names all
_COUNTED = ("parameters", "flops", "memory")  # settings are whole numbers that hold exactly or not at all


class Column(Record):
    """The counted numbers of a column: for each its gap in units of the last printed digit, and whether it passes.

    A gap is measured from the middle of the interval of all values that print as the paper prints them, which is one
    unit wide: up to half a unit is right.
    """

    name: str
    passing: tuple[float, ...]
    others: tuple[float, ...]


class Gaps(Record):
    """The gaps of a paper, by column."""

    columns: tuple[Column, ...]

    @property
    def summary(self) -> str:
        """The figure in words."""
        passing = sum(len(column.passing) for column in self.columns)
        others = [abs(gap) for column in self.columns for gap in column.others]
        known = f"{passing} of {count_of(passing + len(others), 'counted number')} pass"
        text = f"Printed against measured, by column, in units of the last printed digit: {known}"
        return f"{text}; the farthest of the others is {max(others):.1f} units away." if others else f"{text}."

    def draw(self) -> str:
        """Return the figure as SVG."""
        return draw(self, partial(_plot, self), height=1.7 + 0.34 * len(self.columns))


def find_gaps(result: AuditResult, paper: PaperHead) -> Gaps | None:
    """Return the gaps of a paper's counted numbers, or None where it has none."""
    checks = {check.id: check for check in result.of_kind(CellCheck)}
    columns = []
    for table in paper.tables:
        for column in table.columns:
            cells = [checks.get(f"{paper.id}/{table.id}/{row.id}/{column.id}") for row in table.rows]
            gaps = [(one.verdict in PASSES, gap) for one in cells if one and (gap := _gap(one)) is not None]
            if gaps and column.measure in _COUNTED:
                passing, others = (tuple(gap for passes, gap in gaps if passes is want) for want in (True, False))
                name = f"{table.called}, {column.heading}"
                columns.append(Column(name=name, passing=passing, others=others))
    numbers = sum(len(column.passing) + len(column.others) for column in columns)
    return Gaps(columns=tuple(columns[:_MOST])) if numbers >= _FEWEST else None


def _gap(check: CellCheck) -> float | None:
    """Return how far a measured value is from the middle of the printed interval, in widths of the interval."""
    if check.evidence or check.interval is None or check.verdict not in (*PASSES, *FAILS):
        return None
    low, high, measured = (parse_number(text) for text in (*check.interval, check.measured))
    if low is None or high is None or measured is None or high <= low:
        return None
    return (measured - low) / (high - low) - 0.5


def _plot(data: Gaps, canvas: Canvas, axes: Axes) -> None:
    """Draw a line of marks for each column; the band is what prints as printed."""
    axes.axvspan(-0.5, 0.5, color="0.85", label="values that print as printed", zorder=0)
    for at, column in enumerate(data.columns):
        _marks(axes, at, column.passing, ".", COLOURS[2], "passes" if _first(data, at, "passing") else None)
        _marks(axes, at, column.others, "x", COLOURS[1], "does not pass" if _first(data, at, "others") else None)
    farthest = max((abs(gap) for column in data.columns for gap in (*column.passing, *column.others)), default=1)
    _scale(axes, max(farthest, 1))
    axes.set_yticks(range(len(data.columns)), [clean(column.name, 44) for column in data.columns], fontsize=8)
    axes.set_ylim(len(data.columns) - 0.4, -0.6)
    axes.set(title="Printed against measured", xlabel="measured minus printed, in units of the last printed digit")
    canvas.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)


def _first(data: Gaps, at: int, name: str) -> bool:
    """Say whether a column is the first that has marks of a kind: one entry of the legend is enough."""
    return not any(getattr(column, name) for column in data.columns[:at])


def _marks(axes: Axes, at: int, gaps: Sequence[float], marker: str, colour: str, label: str | None) -> None:
    """Draw marks in a band, those of neighbours at different heights."""
    heights = [at + (-0.2, 0.0, 0.2)[number % 3] for number in range(len(gaps))]
    if gaps:
        axes.scatter(sorted(gaps), heights, s=26, marker=marker, color=colour, label=label, linewidths=1, zorder=3)


def _scale(axes: Axes, farthest: float) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ticks = [0.0, 0.5, 1.0]
    if farthest > _LINEAR:
        axes.set_xscale("symlog", linthresh=_LINEAR, linscale=1.2)
        powers = [10.0**power for power in range(1, 16) if 10**power <= farthest * 1.2]
        ticks = [0.0, 0.5, 2.0, *powers] if len(powers) < _FEW else [0.0, *powers[1::2]]
    axes.set_xlim(-farthest * 1.25, farthest * 1.25)
    axes.xaxis.set_major_locator(FixedLocator(sorted({sign * tick for tick in ticks for sign in (-1, 1)})))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value + 0.0:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
