"""Figures as SVG, drawn by matplotlib."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import BaseModel

from imlp_audit.records.figure import Figure
from imlp_audit.records.result import AuditResult
from imlp_audit.records.solution import SolvedSizes
from imlp_audit.report.style import COLOURS, drawing_style, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_EMBEDDED = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]*)")


def figures(result: AuditResult) -> dict[str, str]:
    """Return the figures of a result as SVG, by the names of their files."""
    drawn = {figure_file(check.id): _draw_curves(check.figure) for check in result.checks if check.figure is not None}
    sizes = {paper: solved.sizes for paper, solved in result.solved.items()}
    return drawn | {figure_file(f"{paper}/solved"): _draw_sizes(one) for paper, one in sizes.items() if one is not None}


def draw_plot(data: Figure | SolvedSizes) -> str:
    """Draw a plot of a document as SVG."""
    return _draw_curves(data) if isinstance(data, Figure) else _draw_sizes(data)


def figure_file(check_id: str) -> str:
    """Return the name of the file for the figure of a check."""
    return f"{check_id.replace('/', '-')}.svg"


def same_figure(one: str, other: str) -> bool:
    """Say whether two drawings show the same data: their bytes differ between releases of matplotlib."""
    return _DIGEST.findall(one) == _DIGEST.findall(other)


def same_page(one: str, other: str) -> bool:
    """Say whether two pages are equal apart from how their drawings are drawn."""
    return _EMBEDDED.sub(_digest, one) == _EMBEDDED.sub(_digest, other)


def _digest(embedded: re.Match[str]) -> str:
    """Return the digest of an embedded drawing's data; the drawing itself where it names none."""
    try:
        return " ".join(_DIGEST.findall(b64decode(embedded[1], validate=True).decode())) or embedded[0]
    except ValueError:  # a page that somebody edited
        return embedded[0]


def _draw(data: BaseModel, plot: Callable[[Canvas, Axes], None]) -> str:
    """Draw one panel and return it as SVG, with a digest of the data that it shows."""
    from matplotlib.figure import Figure as Canvas  # no pyplot: no windows, no state

    with drawing_style():
        canvas = Canvas(figsize=(6.4, 4.0), layout="constrained")
        axes = canvas.subplots()
        axes.grid(alpha=0.25)
        plot(canvas, axes)
        digest = hashlib.sha256(data.model_dump_json().encode()).hexdigest()
        return to_svg(canvas, f"sha256:{digest}").decode()


def _draw_sizes(sizes: SolvedSizes) -> str:
    """Draw how many readings explain how many sizes, and where the named ones are."""

    def plot(_: Canvas, axes: Axes) -> None:
        bars = axes.bar(range(len(sizes.readings)), sizes.readings, color="0.7")
        axes.bar_label(bars, labels=[str(n) if n else "" for n in sizes.readings], fontsize=7, color="0.3")
        for name, score in sizes.named.items():
            axes.axvline(score, linewidth=1.2, linestyle="--", color=COLOURS[0])
            axes.annotate(
                f" {name}: {score}", (score, 1), xycoords=("data", "axes fraction"), xytext=(0, -4),
                textcoords="offset points", rotation=90, ha="left", va="top", color=COLOURS[0],
            )  # fmt: skip
        most = len(sizes.readings) - 1
        axes.set(
            title=f"How many of {most} printed sizes each of {sum(sizes.readings)} readings explains",
            xlabel="sizes explained", ylabel="readings",
        )  # fmt: skip

    return _draw(sizes, plot)


def _draw_curves(figure: Figure) -> str:
    def plot(canvas: Canvas, axes: Axes) -> None:
        for curve in figure.curves:
            axes.plot(figure.x, curve.y, label=curve.label, linewidth=1.4)
        for label, height in figure.levels:
            axes.axhline(height, color="0.45", linewidth=0.8, linestyle="--")
            axes.annotate(
                label, (1, height), xycoords=("axes fraction", "data"),
                xytext=(4, 0), textcoords="offset points", va="center", color="0.3",
            )  # fmt: skip
        axes.set(title=figure.title, xlabel=figure.x_label, ylabel=figure.y_label)
        canvas.legend(loc="outside lower center", ncols=2, frameon=False)

    return _draw(figure, plot)
