"""A reading: one consistent answer to everything the paper's text leaves open about the IMLP block.

Torch-free, so that specs can name readings without loading a framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Presence(StrEnum):
    """Whether a part is there."""

    YES = "yes"
    NO = "no"

    def __bool__(self) -> bool:
        return self is Presence.YES


class AGeLUParameters(StrEnum):
    """How many coefficients one AGeLU has: one of each per hidden channel, or one of each for the layer."""

    PER_CHANNEL = "per_channel"
    PER_LAYER = "per_layer"


class ConcatNorm(StrEnum):
    """The normalisation between the concatenation and what follows it."""

    NONE = "none"
    LAYER = "layer"
    BATCH = "batch"


class OutputNorm(StrEnum):
    """The normalisation after the second FC layer."""

    NONE = "none"
    LAYER = "layer"


class DepthwiseNorm(StrEnum):
    """The normalisation after the depthwise convolution."""

    NONE = "none"
    BATCH = "batch"


class DepthwiseActivation(StrEnum):
    """The activation that ends the depthwise block."""

    NONE = "none"
    GELU = "gelu"
    AGELU = "agelu"


class ClassToken(StrEnum):
    """What becomes of a host's class token, which has no place on the grid of a convolution.

    KEPT: it passes by the depthwise block. REMOVED: the host has none and averages its patches instead.
    """

    KEPT = "kept"
    REMOVED = "removed"


@dataclass(frozen=True)
class Reading:
    """One value for each axis that Eq. 5, Fig. 4 and Sec. 4.3 of the IMLP paper leave open."""

    agelu_parameters: AGeLUParameters
    fc1_bias: Presence
    fc2_bias: Presence
    concat_norm: ConcatNorm
    output_norm: OutputNorm
    depthwise_bias: Presence
    depthwise_norm: DepthwiseNorm
    depthwise_activation: DepthwiseActivation
    depthwise_skip: Presence
    class_token: ClassToken


# Eq. 5 with the biases of Theorem 1, and the DW block of Sec. 4.3, "DW Conv with BN and GeLU": a batch norm takes the
# place of the convolution's bias. Specs declare readings of their own; this one is for the paper's equations.
PRINTED = Reading(
    agelu_parameters=AGeLUParameters.PER_CHANNEL,
    fc1_bias=Presence.YES,
    fc2_bias=Presence.YES,
    concat_norm=ConcatNorm.NONE,
    output_norm=OutputNorm.NONE,
    depthwise_bias=Presence.NO,
    depthwise_norm=DepthwiseNorm.BATCH,
    depthwise_activation=DepthwiseActivation.GELU,
    depthwise_skip=Presence.NO,
    class_token=ClassToken.KEPT,
)
