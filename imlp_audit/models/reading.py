"""A reading: one consistent answer to everything that a paper's text leaves open about its models.

Torch-free, so that specs can name readings without loading a framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


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


class ResMlpForm(StrEnum):
    """Which of its two descriptions a ResMLP follows: Eq. 2 and 3, or Algorithm 1 (facts of the arXiv version)."""

    EQUATIONS = "equations"
    ALGORITHM = "algorithm"


@dataclass(frozen=True)
class ResMlpReading:
    """What ResMLP's text leaves open: its equations and its Algorithm 1 are two models."""

    resmlp_form: ResMlpForm


class SpatialMatrix(StrEnum):
    """The matrix over the tokens in a spatial gating unit: n x n weights, or one for each of its 2 n - 1 diagonals."""

    FULL = "full"
    TOEPLITZ = "toeplitz"


class OutputLayer(StrEnum):
    """What maps the last hidden states to the vocabulary.

    TIED: the embedding's own matrix; TIED_BIAS: with a bias of its own beside it; MASKED_LM: BERT's head, a linear
    layer, an activation and a norm before the tied matrix and its bias; UNTIED: a linear layer of its own.
    """

    NONE = "none"
    TIED = "tied"
    TIED_BIAS = "tied_bias"
    MASKED_LM = "masked_lm"
    UNTIED = "untied"


@dataclass(frozen=True)
class TextReading:
    """What the text leaves open about its models of language."""

    vocabulary: int
    sequence_length: int
    ffn_width: int
    spatial_matrix: SpatialMatrix
    gate_norm: Presence
    output_layer: OutputLayer
    pooler: Presence


AnyReading: TypeAlias = Reading | ResMlpReading | TextReading


@dataclass(frozen=True)
class PaperReading:
    """One reading of a paper: an answer for each family of its models about which the text leaves something open."""

    imlp: Reading | None = None
    resmlp: ResMlpReading | None = None
    text: TextReading | None = None


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
