"""What drawings share: pages of panels, and files that have the same bytes each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import ceil
from typing import TypeVar

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure  # no pyplot: no windows, no state
from matplotlib.gridspec import GridSpec

Item = TypeVar("Item")

COLOURS = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3")  # told apart by the colour-blind


@dataclass(frozen=True)
class Drawing:
    """A picture: the name of its file (.svg or .png), what it shows, and the file's bytes."""

    file: str
    caption: str
    content: bytes


@dataclass(frozen=True)
class Sheet:
    """How panels stand on a page: their size, the gaps between them and the margins around all, in inches."""

    panel: tuple[float, float]
    gaps: tuple[float, float]
    left: float
    right: float
    bottom: float
    top: float

    def page(self, count: int, columns: int) -> tuple[Figure, list[Axes]]:
        """Return a page with so many panels, row by row. Its layout is fixed: matplotlib takes seconds to find one."""
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


@contextmanager
def style() -> Iterator[None]:
    """Draw in matplotlib's own style, whatever the user's settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rc("svg", hashsalt="imlp-audit", fonttype="none")
        mpl.rc("font", size=9)
        mpl.rc("text", parse_math=False)  # names come from files
        mpl.rc("axes", titlesize=9)
        yield


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG, without a date."""
    return _written(figure, "svg", {"Date": None, "Creator": None})


def png(figure: Figure) -> bytes:
    """Return a figure as PNG, without the name of what wrote it."""
    return _written(figure, "png", {"Software": None})


def _written(figure: Figure, kind: str, metadata: dict[str, None]) -> bytes:
    out = BytesIO()
    figure.savefig(out, format=kind, dpi=110, metadata=metadata)
    return out.getvalue()


def pages(items: Sequence[Item], size: int) -> Iterator[tuple[int, Sequence[Item]]]:
    """Yield parts of at most `size`, each with the number that its first item has, from 1."""
    for start in range(0, len(items), size):
        yield start + 1, items[start : start + size]


def page_file(name: str, first: int, size: int, ending: str) -> str:
    """Return the name of a page's file; the first page is not numbered."""
    page = (first - 1) // size + 1
    return f"{name}.{ending}" if page == 1 else f"{name}_{page}.{ending}"


def short(name: str) -> str:
    """Return a name that a title has room for: its end tells it from the others."""
    return name if len(name) <= 26 else f"...{name[-23:]}"
