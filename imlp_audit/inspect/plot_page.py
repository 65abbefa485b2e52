"""Pages of panels, on which the weights of a checkpoint are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure  # no pyplot: no windows, no state
from matplotlib.gridspec import GridSpec

from imlp_audit.report.figures.canvas import to_png, to_svg

Item = TypeVar("Item")


@dataclass(frozen=True)
class Drawing:
    """A picture: the name of its file (.svg or .png), what it shows, and the file's bytes."""

    file: str
    caption: str
    content: bytes


@dataclass(frozen=True)
class Plate:
    """A picture that is not written yet: the name of its file (.svg or .png), what it shows, and the figure."""

    file: str
    caption: str
    figure: Figure

    def draw(self, label: str) -> Drawing:
        """Return the picture with the name of what is drawn below it, at the right."""
        self.figure.text(0.995, 0.004, label, ha="right", va="bottom", fontsize=6, color="0.35")
        to_bytes = to_svg if self.file.endswith(".svg") else to_png
        return Drawing(self.file, self.caption, to_bytes(self.figure))


@dataclass(frozen=True)
class Sheet:
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


def pages(items: Sequence[Item], size: int) -> Iterator[tuple[int, Sequence[Item]]]:
    """Yield parts of at most `size` items, each with the number of its first item, from 1."""
    for start in range(0, len(items), size):
        yield start + 1, items[start : start + size]


def page_file(name: str, first: int, size: int, ending: str) -> str:
    """Return the name of a page's file; the first page has no number."""
    page = (first - 1) // size + 1
    return f"{name}.{ending}" if page == 1 else f"{name}_{page}.{ending}"


def shorten(name: str) -> str:
    """Return a name short enough for a title, with its end, which differs from other names."""
    return name if len(name) <= 26 else f"...{name[-23:]}"
