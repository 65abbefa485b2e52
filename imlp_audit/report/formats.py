"""The names of the formats, and what a text is shown on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class Surface:
    """The width in characters, and whether colours are shown."""

    width: int = 120
    colour: bool = False


class Format(StrEnum):
    """The formats by name."""

    RICH = "rich"
    JSON = "json"
    MARKDOWN = "markdown"
