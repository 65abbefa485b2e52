"""What the hosts of recipes have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(gt=0, le=1_000_000)]
"""A number of layers, channels, tokens, ...: positive, and no larger than any model's."""


class Host(BaseModel):
    """Base of the records of hosts: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def divides(part: int, whole: int, told: str) -> None:
    """Raise ValueError where `part` does not divide `whole`; `told` says which two these are."""
    if whole % part:
        raise ValueError(f"{told}: {part} does not divide {whole}")
