"""How a row's model is built, as a spec writes it. Torch-free."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

# A bare architecture name: timm would take "hf-hub:..." as an order to download.
ARCHITECTURE = r"^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)?$"


class Activation(StrEnum):
    """A base activation, which AGeLU's form (Eq. 3) extends."""

    GELU = "gelu"
    RELU = "relu"
    PRELU = "prelu"
    SOFTPLUS = "softplus"


class Part(StrEnum):
    """Which enhancement of the IMLP block is used (Table 2)."""

    CHANNEL_AND_SPATIAL = "channel_and_spatial"
    CHANNEL = "channel"
    SPATIAL = "spatial"


class Imlp(BaseModel):
    """The IMLP block in place of a host's MLPs.

    `ratio` is the expansion of the first FC layer (r in Sec. 5.1), `kernel` the side of the depthwise
    convolution (n there).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 2
    kernel: Annotated[int, Field(gt=0)] = 3
    part: Part = Part.CHANNEL_AND_SPATIAL

    @model_validator(mode="after")
    def _kernel_is_odd(self) -> Self:
        if self.kernel % 2 == 0:
            raise ValueError(f"an even kernel ({self.kernel}) cannot keep the size of the grid; use an odd one")
        return self


class Replacement(BaseModel):
    """What replaces every MLP of the host."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    imlp: Imlp


class Recipe(BaseModel):
    """A timm host, the activation of its MLPs where it is not the host's own, and what replaces them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    timm: Annotated[str, Field(pattern=ARCHITECTURE)]
    activation: Activation | None = None
    mlp: Replacement | None = None
