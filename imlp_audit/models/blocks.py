"""The blocks of the library and their choices, as a spec writes them. Torch-free."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


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


class Gate(StrEnum):
    """What the spatial gating unit does with f(Z) (the rows of the coursework's Table 6)."""

    LINEAR = "linear"  # f(Z)
    SUM = "sum"  # Z + f(Z)
    PRODUCT = "product"  # Z * f(Z)
    SPLIT = "split"  # Z1 * f(Z2)

    def width(self, hidden: int) -> int:
        """Return the channels that go into f, and out of the unit, for a Z of `hidden` channels."""
        return hidden // 2 if self is Gate.SPLIT else hidden


class Norm(StrEnum):
    """What stands before each sublayer, and where the patches are pooled (Table 3, "normalization"; Appendix A)."""

    AFF = "aff"
    LAYER = "layer"
    BATCH = "batch"
    L2 = "l2"


class Pooling(StrEnum):
    """What makes one vector of the patches (Table 3, "pooling"; Table D.3)."""

    AVERAGE = "average"
    CLASS_MLP = "class_mlp"


class Communication(StrEnum):
    """What exchanges information between patches (Table 3, "patch communication")."""

    LINEAR = "linear"
    NONE = "none"
    MLP = "mlp"
    CONV = "conv"
    DEPTHWISE = "depthwise"
    SEPARABLE = "separable"


class Nonlinearity(StrEnum):
    """What stands between the two linear layers of an MLP (Appendix A)."""

    GELU = "gelu"
    SILU = "silu"
    HARD_SWISH = "hard_swish"
    RELU = "relu"


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
