"""The ways to resize an image. A command line names them before it needs to read a spec, so they import nothing."""

from __future__ import annotations

from enum import StrEnum


class Interpolation(StrEnum):
    """How images are resized."""

    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"
    NEAREST = "nearest"
