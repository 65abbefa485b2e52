"""What the hosts of recipes have in common."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _whole(value: object) -> object:
    """Refuse what Python would read as a number and a paper would not print as one, such as 1_92 or 4.0."""
    if isinstance(value, str) and not re.fullmatch("[0-9]+", value):
        raise ValueError(f"write a whole number in digits, not {value!r}")
    return value


Count = Annotated[int, BeforeValidator(_whole), Field(gt=0, le=1_000_000)]
"""A number of channels, tokens, words, ...: positive, and no larger than any model's."""

Layers = Annotated[int, BeforeValidator(_whole), Field(gt=0, le=1000)]
"""A number of layers: each is built, so a slip of the pen must not fill the memory."""


class Setting(StrEnum):
    """A hyper-parameter that tables print, of a model of equal blocks."""

    LAYERS = "layers"
    IMAGE = "image"
    PATCH = "patch"
    WIDTH = "width"
    TOKENS = "tokens"
    TOKENS_HIDDEN = "tokens_hidden"
    CHANNELS_HIDDEN = "channels_hidden"


class Host(BaseModel):
    """Base of the records of hosts: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def divides(part: int, whole: int, told: str) -> None:
    """Raise ValueError where `part` does not divide `whole`; `told` says which two these are."""
    if whole % part:
        raise ValueError(f"{told}: {part} does not divide {whole}")
