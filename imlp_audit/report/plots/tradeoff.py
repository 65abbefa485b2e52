"""A table's score against its FLOPs or parameters as printed, with arrows from baselines to their variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import Record
from imlp_audit.records.check import FAILS, Check
from imlp_audit.records.paper import ColumnHead, PaperHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.plots.canvas import clean, draw_panels, parse_number
from imlp_audit.report.plots.places import Box, boxes_along, place_labels
from imlp_audit.report.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_FEWEST = 4  # points that make a figure
_MOST = 100
_LABEL = 7  # the size of labels at points
_MARK, _RING = 3, 5.5  # half the width of a point and of what surrounds one that fails, in points of an inch
_WIDE = 5  # of a range that is this many times its start the logarithm is drawn


class Point(Record):
    """A row of a table: what it costs and what it scores, and whether one of the two numbers fails its check."""

    row: str
    label: str
    cost: float
    score: float
    baseline: str | None = None
    fails: bool = False


class Tradeoff(Record):
    """Rows of a table with a printed cost and a printed score."""

    title: str
    cost: str
    score: str
    points: tuple[Point, ...]

    @property
    def arrows(self) -> list[tuple[Point, Point]]:
        """Each baseline with a variant of it."""
        rows = {point.row: point for point in self.points}
        return [(rows[one.baseline], one) for one in self.points if one.baseline in rows]

    @property
    def summary(self) -> str:
        """The figure in words."""
        what = f"{self.title}, as printed: {self.score} against {self.cost}, {count_of(len(self.points), 'row')}."
        if not self.arrows:
            return what
        what = f"{what} Arrows lead from a baseline to its variant:"
        cheaper = [(base, variant) for base, variant in self.arrows if variant.cost < base.cost]
        signs = [(variant.score > base.score) - (variant.score < base.score) for base, variant in cheaper]
        higher, same, lower = signs.count(1), signs.count(0), signs.count(-1)
        of = count_of(len(self.arrows), "variant")
        scores = f"; of these {higher} score higher, {same} the same and {lower} lower" if cheaper else ""
        return f"{what} {len(cheaper)} of {of} cost less than the baseline{scores}."


def find_tradeoff(result: AuditResult, paper: PaperHead, table: TableHead) -> Tradeoff | None:
    """Return a table's scores against its costs, or None where it prints too few of them."""
    cost = next((c for name in ("flops", "parameters") for c in table.columns if c.measure == name), None)
    score = next((column for column in table.columns if column.measure == "score"), None)
    if cost is None or score is None:
        return None
    checks = {check.id: check for check in result.checks}
    points = []
    for row in table.rows:
        cells = [checks.get(f"{paper.id}/{table.id}/{row.id}/{column.id}") for column in (cost, score)]
        x, y = (parse_number(cell.printed if cell else None) for cell in cells)
        if x is not None and y is not None and x > 0:
            points.append(
                Point(
                    row=row.id, label=row.label, cost=x, score=y, baseline=row.baseline, fails=any(map(_fails, cells))
                )
            )
    if not _FEWEST <= len(points) <= _MOST or len({point.cost for point in points}) < _FEWEST - 1:
        return None
    return Tradeoff(title=table.called, cost=_name(cost), score=_name(score), points=tuple(points))


def _fails(check: Check | None) -> bool:
    return check is not None and check.verdict in FAILS


def _name(column: ColumnHead) -> str:
    """Return a column's heading with its unit, which most headings hold in parentheses."""
    unit = f" ({column.unit})" if column.unit and "(" not in column.heading else ""
    return f"{column.heading}{unit}"


def draw_tradeoff(data: Tradeoff) -> str:
    """Draw baselines as circles, variants as triangles, and rings around what fails."""

    def plot(canvas: Canvas, panels: Sequence[Axes]) -> None:
        (axes,) = panels
        for base, variant in data.arrows:
            axes.annotate(
                "", (variant.cost, variant.score), (base.cost, base.score),
                arrowprops={"arrowstyle": "->", "color": "0.35", "linewidth": 0.9, "shrinkA": 3, "shrinkB": 3},
            )  # fmt: skip
        variants = {variant.row for _, variant in data.arrows}
        plain = [point for point in data.points if point.row not in variants]
        changed = [point for point in data.points if point.row in variants]
        _scatter(axes, plain, "o", COLOURS[0], "baseline" if changed else "row")
        _scatter(axes, changed, "^", COLOURS[1], "variant")
        failing = [point for point in data.points if point.fails]
        if failing:
            axes.scatter(
                [one.cost for one in failing], [one.score for one in failing], s=90, marker="s", facecolors="none",
                edgecolors=COLOURS[3], linewidths=1.2, label="one of the two numbers fails its check",
            )  # fmt: skip
        _scale(axes, data)
        axes.set(title=clean(f"{data.title}, as printed", 80), xlabel=clean(data.cost), ylabel=clean(data.score))
        canvas.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
        _label(canvas, axes, data, [*plain, *_with_names_of_their_own(changed)])

    return draw_panels(data, plot, height=4.6)


def _with_names_of_their_own(points: Sequence[Point]) -> list[Point]:
    """Return the variants that no other has the label of: most tables call all of theirs alike."""
    counts = Counter(point.label for point in points)
    return [point for point in points if counts[point.label] == 1]


def _scatter(axes: Axes, points: Sequence[Point], marker: str, colour: str, label: str) -> None:
    if points:
        costs, scores = [one.cost for one in points], [one.score for one in points]
        axes.scatter(costs, scores, s=22, marker=marker, color=colour, label=label, zorder=3)


def _scale(axes: Axes, data: Tradeoff) -> None:
    """Leave room for labels; draw the logarithm of costs that spread wide, with plain numbers at it."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    costs = [point.cost for point in data.points]
    low, high = min(costs), max(costs)
    axes.margins(x=0.12, y=0.12)
    if high < _WIDE * low:
        return
    axes.set_xscale("log")
    axes.set_xlim(low / 1.35, high * 1.6)
    ticks = [base * 10.0**power for power in range(-6, 16) for base in (1, 2, 5)]
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if low / 1.35 <= tick <= high * 1.6]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def _around(point: tuple[float, float], half: float) -> Box:
    return Box(point[0] - half, point[1] - half, point[0] + half, point[1] + half)


def _label(canvas: Canvas, axes: Axes, data: Tradeoff, points: Sequence[Point]) -> None:
    """Name points where there is room beside them, away from other points and from arrows."""
    canvas.draw_without_rendering()  # places are known after the layout
    scale = 72 / canvas.dpi

    def at(point: Point) -> tuple[float, float]:
        x, y = axes.transData.transform((point.cost, point.score))
        return float(x) * scale, float(y) * scale

    edges = axes.get_window_extent()
    within = Box(edges.x0 * scale, edges.y0 * scale, edges.x1 * scale, edges.y1 * scale)
    taken = [_around(at(point), _RING if point.fails else _MARK) for point in data.points]
    taken += [box for base, variant in data.arrows for box in boxes_along(at(base), at(variant))]
    labels = [(clean(point.label, 32), at(point)) for point in points]
    for point, (text, _), place in zip(points, labels, place_labels(labels, taken, within, _LABEL), strict=True):
        if place is not None:
            axes.annotate(
                text, (point.cost, point.score), xytext=place.offset, textcoords="offset points", fontsize=_LABEL,
                ha=place.horizontal, va=place.vertical, color="0.2",
            )  # fmt: skip
