"""Whose function of the weights is computed, where timm's code and the publisher's compute different ones."""

from __future__ import annotations

from enum import StrEnum


class Function(StrEnum):
    """The function of timm's code, or of the code that the model was published with."""

    TIMM = "timm"
    PUBLISHED = "published"
