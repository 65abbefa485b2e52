"""Closed formulas for Swin features, written from the dimensions in arXiv 2103.14030, Sec. 3."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from tests.models import formulas

WINDOW = 7


@dataclass(frozen=True)
class Swin:
    """A variant of Sec. 3.3 by the width of its first stage; a stage has twice the width of the one before it."""

    width: int
    depths: tuple[int, int, int, int]
    heads: tuple[int, int, int, int]

    @property
    def widths(self) -> list[int]:
        return [self.width * 2**stage for stage in range(4)]

    def parameters(self) -> int:
        """Those of the classifier without its norm and its head, and a norm for each of the four maps."""
        last = self.widths[-1]
        classifier = formulas.swin(self.width, self.depths, self.heads, WINDOW)
        head = 2 * last + last * formulas.CLASSES + formulas.CLASSES
        return classifier - head + sum(2 * width for width in self.widths)

    def macs(self, height: int, width: int) -> int:
        """Patches of 4 x 4 x 3; then merging, windows padded to multiples of 7 a side, and MLPs of four times C."""
        total = (height // 4) * (width // 4) * 48 * self.width
        for stage, (c, depth) in enumerate(zip(self.widths, self.depths, strict=True)):
            h, w = grid(height, width, stage)
            merging = h * w * (2 * c) * c if stage else 0
            total += merging + depth * (padded(h) * padded(w) * (4 * c * c + 2 * WINDOW**2 * c) + h * w * 8 * c * c)
        return total


def grid(height: int, width: int, stage: int) -> tuple[int, int]:
    """The sides of a stage's map; an odd side is padded before it is halved."""
    h, w = height // 4, width // 4
    for _ in range(stage):
        h, w = ceil(h / 2), ceil(w / 2)
    return h, w


def padded(side: int) -> int:
    return ceil(side / WINDOW) * WINDOW


TINY = Swin(96, (2, 2, 6, 2), (3, 6, 12, 24))
SMALL = Swin(96, (2, 2, 18, 2), (3, 6, 12, 24))
BASE = Swin(128, (2, 2, 18, 2), (4, 8, 16, 32))
SWINS = {
    "swin_tiny_patch4_window7_224": TINY,
    "swin_small_patch4_window7_224": SMALL,
    "swin_base_patch4_window7_224": BASE,
}
