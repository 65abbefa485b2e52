"""What takes the place of a host's MLPs, or of their activation, as a spec writes it. Torch-free."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from imlp_audit.models.own_block import OwnBlock


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


class ImlpRecipe(BaseModel):
    """The IMLP block in place of a host's MLPs.

    `ratio` is the expansion of the first FC layer (r in Sec. 5.1; C'/2 channels in Eq. 5 if the replaced MLP has C' =
    2r C, as all hosts have but LVT's second stage, with 8C), `kernel` the side of the depthwise
    convolution (n there). `plain` leaves out the coefficients of its channel part's AGeLUs (Table 3, "GeLU+concat").
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 2
    kernel: Annotated[int, Field(gt=0)] = 3
    part: Part = Part.CHANNEL_AND_SPATIAL
    plain: bool = False

    @model_validator(mode="after")
    def _kernel_is_odd(self) -> Self:
        if self.kernel % 2 == 0:
            raise ValueError(f"an even kernel ({self.kernel}) cannot keep the size of the grid; use an odd one")
        return self

    @model_validator(mode="after")
    def _plain_has_a_channel_part(self) -> Self:
        if self.plain and self.part is Part.SPATIAL:
            raise ValueError("plain: a block of only the spatial part has no AGeLUs to leave coefficients out of")
        return self


class Sums(BaseModel):
    """`ratio` times C nonlinear functions added up in place of an MLP of C channels (imlp Sec. 5.2, Table 4).

    With `agelu` each has AGeLU's coefficients, for every channel; else all are the activation itself.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ratio: Annotated[int, Field(gt=0, le=1000)] = 4
    agelu: bool = False


class Replacement(BaseModel):
    """What replaces the MLPs of the host: every one, or those whose module paths match one of `sites` (globs)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    imlp: ImlpRecipe | None = None
    sums: Sums | None = None
    python: OwnBlock | None = None
    sites: Annotated[tuple[str, ...], Field(min_length=1)] = ("*",)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if sum(block is not None for block in (self.imlp, self.sums, self.python)) != 1:
            raise ValueError("give exactly one of imlp, sums, python")
        return self

    @property
    def block(self) -> ImlpRecipe | Sums | OwnBlock:
        """What stands in the place of an MLP."""
        return next(block for block in (self.imlp, self.sums, self.python) if block is not None)
