"""Curves over the same places: the shapes of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from imlp_audit.records.check import Figure
from imlp_audit.report.plots.canvas import clean, draw_panels
from imlp_audit.report.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_LINES = ("-", "--", "-.", ":")  # curves are told apart without colours too


def draw_curves(figure: Figure) -> str:
    """Draw the curves of a figure, and its levels across the whole width."""

    def plot(canvas: Canvas, panels: Sequence[Axes]) -> None:
        (axes,) = panels
        for at, curve in enumerate(figure.curves):
            colour, line = COLOURS[at % len(COLOURS)], _LINES[(at + at // len(COLOURS)) % len(_LINES)]
            axes.plot(figure.x, curve.y, label=_label(curve.label), linewidth=1.4, color=colour, linestyle=line)
        for label, height in figure.levels:
            axes.axhline(height, color="0.45", linewidth=0.8, linestyle=(0, (1, 3)))
            axes.annotate(
                clean(label, 24), (1, height), xycoords=("axes fraction", "data"),
                xytext=(4, 0), textcoords="offset points", va="center", color="0.3",
            )  # fmt: skip
        axes.set(title=clean(figure.title, 90), xlabel=clean(figure.x_label), ylabel=clean(figure.y_label))
        if figure.curves:
            canvas.legend(loc="outside lower center", ncols=2, frameon=False)

    return draw_panels(figure, plot)


def _label(text: str) -> str:
    """Return text for a legend, which would leave out labels that begin with an underscore or are empty."""
    cleaned = clean(text)
    return cleaned if cleaned and not cleaned.startswith("_") else f" {cleaned}"
