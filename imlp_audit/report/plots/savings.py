"""Where a variant saves work: what the modules of each kind do in the baseline's model and in the variant's."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from imlp_audit.numbers.interval import readable
from imlp_audit.records.base import Record
from imlp_audit.records.evidence import Throughput
from imlp_audit.report.plots.canvas import clean, draw_panels
from imlp_audit.report.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MOST = 30  # kinds of modules


class Work(Record):
    """Multiply-accumulates of the modules of one kind, for one image."""

    modules: str
    baseline: int
    variant: int


class Savings(Record):
    """The work of two models by kind of module, the largest difference first."""

    title: str
    work: tuple[Work, ...]

    @property
    def summary(self) -> str:
        """The figure in words."""
        before, after = sum(one.baseline for one in self.work), sum(one.variant for one in self.work)
        first = self.work[0]
        return (
            f"{self.title}, million multiply-accumulates for one image by kind of module: {_millions(before)} in the "
            f"baseline and {_millions(after)} in the variant. The largest difference is that of {first.modules}: "
            f"{_millions(first.baseline)} and {_millions(first.variant)}."
        )


def _millions(macs: int) -> str:
    return readable(Fraction(macs, 10**6), 1)


def find_savings(title: str, timed: Throughput) -> Savings | None:
    """Return the work of two timed models, or None where none is known."""
    work = [
        Work(modules=one.modules, baseline=one.baseline_macs, variant=one.variant_macs)
        for one in timed.spent
        if one.baseline_macs or one.variant_macs
    ]
    work.sort(key=lambda one: -abs(one.baseline - one.variant))
    return Savings(title=title, work=tuple(work[:_MOST])) if work else None


def _pair(work: Work) -> tuple[int, int]:
    return work.baseline, work.variant


def draw_savings(data: Savings) -> str:
    """Draw two bars for each kind of module; those of the variant are hatched."""

    def plot(canvas: Canvas, panels: Sequence[Axes]) -> None:
        (axes,) = panels
        places = range(len(data.work))
        baseline, variant = ([macs / 10**6 for macs in one] for one in zip(*map(_pair, data.work), strict=True))
        axes.barh([at - 0.2 for at in places], baseline, 0.38, color=COLOURS[0], label="baseline")
        axes.barh(
            [at + 0.2 for at in places], variant, 0.38, facecolor="white", edgecolor=COLOURS[1], hatch="////",
            label="variant",
        )  # fmt: skip
        axes.set_yticks(places, [clean(one.modules, 36) for one in data.work], fontsize=8)
        axes.set_ylim(len(data.work) - 0.4, -0.6)
        axes.set(title=clean(data.title, 80), xlabel="million multiply-accumulates for one image")
        canvas.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)

    return draw_panels(data, plot, height=1.5 + 0.45 * len(data.work))
