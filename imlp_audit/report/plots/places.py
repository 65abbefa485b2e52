"""Where the labels of points go, so that none runs through another or through a point."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import NamedTuple

_CHARACTER, _LINE = 0.62, 1.15  # of the font's size: the width of a character and the height of a line


class Box(NamedTuple):
    """A rectangle in points of an inch."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Box) -> bool:
        """Say whether two rectangles overlap."""
        return (
            self.left < other.right and other.left < self.right and self.bottom < other.top and other.bottom < self.top
        )


class LabelPlace(NamedTuple):
    """Where a label stands: its offset from its point, and how it is aligned there."""

    offset: tuple[float, float]
    horizontal: str
    vertical: str


_PLACES = (
    LabelPlace((6, 0), "left", "center"),
    LabelPlace((-6, 0), "right", "center"),
    LabelPlace((0, -6), "center", "top"),
    LabelPlace((0, 6), "center", "bottom"),
    LabelPlace((8, 0), "left", "center"),
    LabelPlace((-8, 0), "right", "center"),
    LabelPlace((5, -5), "left", "top"),
    LabelPlace((-5, 5), "right", "bottom"),
    LabelPlace((5, 5), "left", "bottom"),
    LabelPlace((-5, -5), "right", "top"),
)


def boxes_along(start: tuple[float, float], end: tuple[float, float], apart: float = 4) -> list[Box]:
    """Return small rectangles along a line, which keep labels away from it."""
    steps = max(1, int(hypot(end[0] - start[0], end[1] - start[1]) / apart))
    points = [tuple(a + (b - a) * step / steps for a, b in zip(start, end, strict=True)) for step in range(steps + 1)]
    return [Box(x - 1, y - 1, x + 1, y + 1) for x, y in points]


def place_labels(
    labels: Sequence[tuple[str, tuple[float, float]]], taken: Sequence[Box], within: Box, size: float
) -> list[LabelPlace | None]:
    """Return a place for each label at its point; None where every place is taken.

    Points are in points of an inch, as are the boxes: `taken` is what no label may cover.
    """
    boxes = list(taken)
    found: list[LabelPlace | None] = []
    for text, point in labels:
        free = ((place, _box(text, point, place, size)) for place in _PLACES)
        fitting = next((one for one in free if _fits(one[1], boxes, within)), None)
        found.append(fitting[0] if fitting else None)
        boxes += [fitting[1]] if fitting else []
    return found


def _fits(box: Box, taken: Sequence[Box], within: Box) -> bool:
    inside = within.left <= box.left and box.right <= within.right
    inside = inside and within.bottom <= box.bottom and box.top <= within.top
    return inside and not any(box.meets(other) for other in taken)


def _box(text: str, point: tuple[float, float], place: LabelPlace, size: float) -> Box:
    width, height = len(text) * _CHARACTER * size, _LINE * size
    x, y = point[0] + place.offset[0], point[1] + place.offset[1]
    left = {"left": x, "right": x - width, "center": x - width / 2}[place.horizontal]
    bottom = {"bottom": y, "top": y - height, "center": y - height / 2}[place.vertical]
    return Box(left, bottom, left + width, bottom + height)
