"""Draws what was measured layer by layer, and the images of layers that papers ask for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import ceil

import matplotlib as mpl
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure  # no pyplot: no windows, no state
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

from imlp_audit.inspect.papers import LayerImages
from imlp_audit.inspect.sentences import Matrix
from imlp_audit.records.checkpoint import Statement

_PANELS = 12  # a page
_COLOURS = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3")  # distinct for the colour-blind
_MARKERS = ("o", "s", "^", "D")


@dataclass(frozen=True)
class Drawing:
    """A picture: the name of its file (.svg or .png), what it shows, and the file's bytes."""

    file: str
    caption: str
    content: bytes


@dataclass(frozen=True)
class _Sheet:
    """The layout of a page: the size of its panels, the gaps between them and the margins around all, in inches."""

    panel: tuple[float, float]
    gaps: tuple[float, float]
    left: float
    right: float
    bottom: float
    top: float

    def page(self, count: int, columns: int) -> tuple[Figure, list[Axes]]:
        """Return a page with so many panels, row by row. The layout is fixed: matplotlib takes seconds to find one."""
        columns = min(columns, count)
        down = ceil(count / columns)
        width = self.left + self.right + columns * self.panel[0] + (columns - 1) * self.gaps[0]
        height = self.bottom + self.top + down * self.panel[1] + (down - 1) * self.gaps[1]
        figure = Figure(figsize=(width, height))
        places = GridSpec(
            down, columns, figure, left=self.left / width, right=1 - self.right / width, bottom=self.bottom / height,
            top=1 - self.top / height, wspace=self.gaps[0] / self.panel[0], hspace=self.gaps[1] / self.panel[1],
        )  # fmt: skip
        return figure, [figure.add_subplot(places[at // columns, at % columns]) for at in range(count)]


_CURVES = _Sheet(panel=(3.6, 2.0), gaps=(0.6, 0.85), left=0.65, right=0.15, bottom=0.5, top=0.5)
_IMAGES = _Sheet(panel=(2.8, 2.8), gaps=(0.15, 0.5), left=0.15, right=1.3, bottom=0.2, top=0.5)


def draw(statements: Sequence[Statement], images: Sequence[LayerImages], label: str) -> Iterator[Drawing]:
    """Draw everything that there is to draw, with the checkpoint's name; the same weights give the same bytes."""
    with _drawing_style():
        for paper in dict.fromkeys(one.paper for one in statements if one.values):
            own = [one for one in statements if one.paper == paper and one.values]
            caption = f"What the sentences of {paper} are judged by, layer by layer."
            yield Drawing(f"{paper}_by_layer.svg", caption, _save(_sign(_draw_curves(own), label), "svg"))
        for one in images:
            panels = list(one.images.items())
            for first in range(0, len(panels), _PANELS):
                page = f"_{first // _PANELS + 1}" if first else ""
                figure = _sign(_draw_images(first, panels[first : first + _PANELS]), label)
                yield Drawing(f"{one.name}{page}.png", one.caption, _save(figure, "png"))


@contextmanager
def _drawing_style() -> Iterator[None]:
    """Draw in matplotlib's own style, whatever the user's settings are."""
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # whoever shows the SVG has the fonts, or not
        mpl.rcdefaults()
        mpl.rc("svg", hashsalt="imlp-audit", fonttype="none")
        mpl.rc("font", size=9)
        mpl.rc("text", parse_math=False)  # names come from files
        mpl.rc("axes", titlesize=9)
        yield


def _save(figure: Figure, kind: str) -> bytes:
    """Return a figure as SVG without a date, or as PNG without the name of the program that wrote it."""
    out = BytesIO()
    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    figure.savefig(out, format=kind, dpi=110, metadata=metadata)
    return out.getvalue()


def _sign(figure: Figure, label: str) -> Figure:
    figure.text(0.995, 0.004, label, ha="right", va="bottom", fontsize=6, color="0.35")
    return figure


def _draw_curves(statements: Sequence[Statement]) -> Figure:
    """Draw a panel for each sentence: what was measured, with a gap for a layer that has no number."""
    figure, places = _CURVES.page(len(statements), 2)
    for axes, one in zip(places, statements, strict=True):
        for at, (name, values) in enumerate(one.values.items()):
            heights = [float("nan") if value is None else value for value in values]
            colour, marker = _COLOURS[at % len(_COLOURS)], _MARKERS[at % len(_MARKERS)]
            at_layer = range(1, len(heights) + 1)
            axes.plot(at_layer, heights, color=colour, marker=marker, markersize=3.5, linewidth=1.2, label=name)
        axes.set(title=one.id, xlabel="layer")
        axes.grid(alpha=0.25)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.legend(fontsize=7)
    return figure


def _draw_images(first: int, panels: Sequence[tuple[str, Matrix]]) -> Figure:
    """Draw a page of images, each on its own scale and all with one bar of colours."""
    figure, places = _IMAGES.page(len(panels), 4)
    colours = colormaps["RdBu_r"].with_extremes(over="black", under="#00a000")
    for at, (axes, (name, image)) in enumerate(zip(places, panels, strict=True), start=first + 1):
        scale = _find_scale(image)
        drawn = axes.imshow(image / scale, cmap=colours, vmin=-1, vmax=1, interpolation="nearest")
        axes.set(title=f"layer {at}: {shorten(name)}\nscale ±{scale:.2g}", xticks=[], yticks=[])
        axes.set_facecolor("0.55")
    width, height = figure.get_size_inches()
    tall = min(_IMAGES.panel[1], 0.8 * height)  # the bar is as high as a panel
    place = (1 - (_IMAGES.right - 0.25) / width, (1 - tall / height) / 2, 0.12 / width, tall / height)
    bar = figure.colorbar(drawn, cax=figure.add_axes(place), extend="both")
    bar.set_label("weight / scale of its layer\n(beyond: black is +, green is −)")
    return figure


def _find_scale(image: Matrix) -> float:
    """Return 1.5 times the 99th percentile of the absolute values: a spike stands out, and does not hide the rest."""
    size = np.abs(image[np.isfinite(image)])
    return 1.5 * float(np.quantile(size, 0.99)) or float(size.max()) or 1.0


def shorten(name: str) -> str:
    """Return a name short enough for a title, with its end, which differs from other names."""
    return name if len(name) <= 26 else f"...{name[-23:]}"
