"""A table whose rows vary one number: what each of its columns does as that number grows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from imlp_audit.numbers.words import count_of
from imlp_audit.records.base import Record
from imlp_audit.records.check import FAILS
from imlp_audit.records.paper import PaperHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.plots.canvas import clean, draw_panels, parse_number
from imlp_audit.report.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_FEWEST = 3  # rows that make a figure
_MOST = 4  # columns that are drawn
_NUMBER = re.compile(r"(?<![\w.])(?:×|x)?(\d{1,9}(?:\.\d{1,9})?)(?![\w.])")


class Series(Record):
    """A column: its heading, and at each value of the factor its printed number, and whether that fails its check."""

    name: str
    at: tuple[float, ...]
    printed: tuple[str, ...]
    failing: tuple[bool, ...]

    @property
    def values(self) -> list[float]:
        """The printed numbers."""
        return [float(text) for text in self.printed]


class Factor(Record):
    """The columns of a table whose rows vary one number, its name, and its values."""

    title: str
    name: str
    series: tuple[Series, ...]

    @property
    def summary(self) -> str:
        """The figure in words."""
        parts = [f"{one.name} from {one.printed[0]} to {one.printed[-1]}" for one in self.series]
        span = f"from {self.series[0].at[0]:g} to {self.series[0].at[-1]:g}"
        rows = count_of(max(len(one.at) for one in self.series), "row")
        return f"{self.title}, as printed: for {self.name} {span}, in {rows}: {'; '.join(parts)}."


def find_factor(result: AuditResult, paper: PaperHead, table: TableHead) -> Factor | None:
    """Return what a table's columns do as the one number in its rows' labels grows; None for other tables."""
    found = _vary_one_number([row.label for row in table.rows])
    if found is None:
        return None
    name, values = found
    checks = {check.id: check for check in result.checks}
    series = []
    for column in table.columns:
        cells = [checks.get(f"{paper.id}/{table.id}/{row.id}/{column.id}") for row in table.rows]
        points = sorted(
            (at, cell.printed, cell.verdict in FAILS)
            for at, cell in zip(values, cells, strict=True)
            if cell is not None and cell.printed is not None and parse_number(cell.printed) is not None
        )
        if len(points) >= _FEWEST:
            at, printed, failing = zip(*points, strict=True)
            series.append(Series(name=column.heading, at=at, printed=printed, failing=failing))
    return Factor(title=table.called, name=name, series=tuple(series[:_MOST])) if series else None


def _vary_one_number(labels: Sequence[str]) -> tuple[str, list[float]] | None:
    """Return the name and the values of the only number in which labels differ."""
    numbers = [_NUMBER.findall(label) for label in labels]
    frames = {_NUMBER.sub("\0", label) for label in labels}
    if len(labels) < _FEWEST or len(frames) != 1:
        return None
    varying = [at for at, column in enumerate(zip(*numbers, strict=True)) if len(set(column)) > 1]
    if len(varying) != 1:
        return None
    values = [float(row[varying[0]]) for row in numbers]
    return (_name(labels[0], varying[0]), values) if len(set(values)) == len(values) else None


def _name(label: str, number: int) -> str:
    """Return a label without the number that varies: "n = 3" is about "n"."""
    found = list(_NUMBER.finditer(label))[number]
    rest = f"{label[: found.start(1)]}...{label[found.end(1) :]}"
    return re.sub(r"\s*=?\s*\.\.\.$", "", rest).strip() or "the number"


def draw_factor(data: Factor) -> str:
    """Draw a panel for each column."""

    def plot(_: Canvas, panels: Sequence[Axes]) -> None:
        for axes, one in zip(panels, data.series, strict=True):
            axes.plot(one.at, one.values, marker="o", markersize=5, linewidth=1.2, color=COLOURS[0])
            failing = [
                point for point, fails in zip(zip(one.at, one.values, strict=True), one.failing, strict=True) if fails
            ]
            if failing:
                axes.plot(
                    *zip(*failing, strict=True), linestyle="", marker="x", markersize=11, color=COLOURS[1],
                    markeredgewidth=1.6, label="fails its check",
                )  # fmt: skip
                axes.legend(frameon=False, fontsize=8)
            axes.margins(x=0.06, y=0.2)
            axes.set_ylabel(clean(one.name, 24), fontsize=8)
            axes.ticklabel_format(style="plain", useOffset=False)
        panels[0].set_title(clean(f"{data.title}, as printed", 80))
        panels[-1].set_xlabel(clean(data.name))
        panels[-1].set_xticks(sorted({at for one in data.series for at in one.at}))

    return draw_panels(data, plot, len(data.series), 0.9 + 1.45 * len(data.series))
