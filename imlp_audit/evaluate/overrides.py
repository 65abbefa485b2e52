"""What a user sets in place of a model's own preprocessing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Interpolation(StrEnum):
    """How images are resized."""

    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"
    NEAREST = "nearest"


@dataclass(frozen=True)
class Overrides:
    """What the user sets in place of the model's own preprocessing; `size` is (height, width)."""

    size: tuple[int, int] | None = None
    crop_pct: float | None = None
    interpolation: Interpolation | None = None
    mean: tuple[float, float, float] | None = None
    std: tuple[float, float, float] | None = None
