"""How many readings explain how many sizes, and where the named ones are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from imlp_audit.numbers.words import count_of
from imlp_audit.records.solution import SolvedSizes
from imlp_audit.report.plots.canvas import clean, draw_panels
from imlp_audit.report.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def describe_sizes(sizes: SolvedSizes) -> str:
    """Say what the figure shows."""
    most = max((score for score, count in enumerate(sizes.readings) if count), default=0)
    best = sizes.readings[most] if sizes.readings else 0
    named = "".join(f"; {name} explains {score}" for name, score in sizes.named.items())
    return f"{_title(sizes)}: the best {best} explain {most}{named}."


def _title(sizes: SolvedSizes) -> str:
    printed = count_of(len(sizes.readings) - 1, "printed size")
    return f"How many of {printed} each of {count_of(sum(sizes.readings), 'reading')} explains"


def draw_sizes(sizes: SolvedSizes) -> str:
    """Draw a bar for each number of sizes, and the named readings above the bars, each with a line to its place."""
    most = len(sizes.readings) - 1
    names = sorted(sizes.named.items(), key=lambda one: (-one[1], one[0]))
    tallest = max((*sizes.readings, 1))
    step = 0.1 * tallest

    def plot(_: Canvas, panels: Sequence[Axes]) -> None:
        (axes,) = panels
        bars = axes.bar(range(len(sizes.readings)), sizes.readings, color="0.75")
        axes.bar_label(bars, labels=[str(n) if n else "" for n in sizes.readings], fontsize=7, color="0.25", padding=1)
        for at, (name, score) in enumerate(names):
            height = tallest + step * (at + 1.4)
            left = score > most / 2
            start = sizes.readings[score] + 0.6 * step if score <= most else 0
            axes.plot((score, score), (start, height), linewidth=1, linestyle="--", color=COLOURS[0])
            axes.plot((score,), (height,), marker="v", markersize=5, color=COLOURS[0])
            axes.annotate(
                clean(f"{name} explains {score}"), (score, height), xytext=(-6 if left else 6, 0),
                textcoords="offset points", ha="right" if left else "left", va="center", color=COLOURS[0],
            )  # fmt: skip
        axes.locator_params(axis="y", integer=True)
        axes.set_ylim(0, tallest + step * (len(names) + 1.2))
        axes.set(
            title=_title(sizes), xlabel="printed sizes explained", ylabel="readings",
        )  # fmt: skip

    return draw_panels(sizes, plot)
