"""A table's score against its FLOPs or parameters as printed, with arrows from baselines to their variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import Record
from imlp_audit.records.check import FAILS, Check
from imlp_audit.records.paper import ColumnHead, PaperHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.figures.canvas import COLOURS, clean, draw, parse_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_FEWEST = 4  # points that make a figure
_MOST = 100
_LABEL = 7  # the size of labels at points
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

    def draw(self) -> str:
        """Return the figure as SVG."""
        return draw(self, partial(_plot, self), height=4.6)


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


def _plot(data: Tradeoff, canvas: Canvas, axes: Axes) -> None:
    """Draw baselines as circles, variants as triangles, and rings around what fails."""
    for base, variant in data.arrows:
        arrow = {"arrowstyle": "->", "color": "0.35", "linewidth": 0.9, "shrinkA": 3, "shrinkB": 3}
        axes.annotate("", (variant.cost, variant.score), (base.cost, base.score), arrowprops=arrow)
    variants = {variant.row for _, variant in data.arrows}
    plain = [point for point in data.points if point.row not in variants]
    changed = [point for point in data.points if point.row in variants]
    _scatter(axes, plain, "baseline" if changed else "row", "o", COLOURS[0])
    _scatter(axes, changed, "variant", "^", COLOURS[1])
    failing = [point for point in data.points if point.fails]
    _scatter(axes, failing, "one of the two numbers fails its check", "s", COLOURS[3], ring=True)
    _scale(axes, data)
    axes.set(title=clean(f"{data.title}, as printed", 80), xlabel=clean(data.cost), ylabel=clean(data.score))
    canvas.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    _label(canvas, axes, data, [*plain, *_with_names_of_their_own(changed)])


def _with_names_of_their_own(points: Sequence[Point]) -> list[Point]:
    """Return the variants that no other has the label of: most tables call all of theirs alike."""
    counts = Counter(point.label for point in points)
    return [point for point in points if counts[point.label] == 1]


def _scatter(axes: Axes, points: Sequence[Point], label: str, marker: str, colour: str, *, ring: bool = False) -> None:
    if points:
        axes.scatter(
            [one.cost for one in points], [one.score for one in points], s=90 if ring else 22, marker=marker,
            facecolors="none" if ring else colour, edgecolors=colour, linewidths=1.2, label=label, zorder=3,
        )  # fmt: skip


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


def _label(canvas: Canvas, axes: Axes, data: Tradeoff, points: Sequence[Point]) -> None:
    """Name points where there is room beside them, away from other names, points and arrows."""
    from matplotlib.transforms import Bbox

    canvas.draw_without_rendering()  # places are known after the layout
    at = {one.row: axes.transData.transform((one.cost, one.score)) for one in data.points}
    taken = [Bbox.from_bounds(x - _MARK, y - _MARK, 2 * _MARK, 2 * _MARK) for x, y in at.values()]
    for base, variant in data.arrows:
        (x, y), (end_x, end_y) = at[base.row], at[variant.row]
        along = (part / _PARTS for part in range(1, _PARTS))
        taken += [Bbox.from_bounds(x + (end_x - x) * part, y + (end_y - y) * part, 1, 1) for part in along]
    for point in points:
        for offset, horizontal, vertical in _PLACES:
            name = axes.annotate(
                clean(point.label, 32), (point.cost, point.score), xytext=offset, textcoords="offset points",
                fontsize=_LABEL, ha=horizontal, va=vertical, color="0.2",
            )  # fmt: skip
            box = name.get_window_extent()
            if axes.bbox.containsx(box.x0) and axes.bbox.containsx(box.x1) and not box.count_overlaps(taken):
                taken.append(box)
                break
            name.remove()


_MARK = 8  # half the width of a point with its ring, in pixels
_PARTS = 20  # of an arrow, each of which keeps names away
_PLACES = (
    ((6, 0), "left", "center"),
    ((-6, 0), "right", "center"),
    ((0, -6), "center", "top"),
    ((0, 6), "center", "bottom"),
)
