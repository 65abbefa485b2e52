"""A reading: one consistent answer to everything that a paper's text leaves open about its models.

An axis is declared once, as a field of its family with an `Axis`: its values, its default, and what of a model it
changes, from which `solve` adds models up. Specs, reports and the solver take it from there. Torch-free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints

MOST_COMBINATIONS = 64
"""The most combinations of values that a block may declare: `solve` builds the model of each row so many times."""


@dataclass(frozen=True)
class BlockReading:
    """One answer for each axis of a block of one's own; values are words, as a spec writes them."""

    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class OwnFamily:
    """The axes of the class `name` in the Python `file`, each with its values as words, the default first.

    An axis is called `GatedMlp.gate_norm` wherever it stands among those of other families.
    """

    name: str
    file: str
    axes: tuple[tuple[str, tuple[str, ...]], ...]

    def reading(self, stated: Mapping[str, str]) -> BlockReading:
        """Return the reading with the stated answers, and the default on every other axis."""
        return BlockReading(tuple((axis, stated.get(axis, values[0])) for axis, values in self.axes))

    def __str__(self) -> str:
        return self.name


def word_of(value: bool | int | str) -> str:
    """Write a value as a spec does."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def axis_of(block: str, name: str) -> str:
    """Return what the axis of a block is called among those of all families."""
    return f"{block}.{name}"


class Reach(StrEnum):
    """What of a model an axis changes."""

    UNIT = "unit"  # a part, by an amount that no axis elsewhere alters
    EVERYWHERE = "everywhere"  # what every other axis changes, as the number of tokens does


Value: TypeAlias = str | int


@dataclass(frozen=True)
class Axis:
    """A question that a text may leave open.

    `default` is the answer where a paper states none. `reach` and `meets`, an axis whose effect depends on this one's
    value, let `solve` add up models from parts. If it is a number, `tried` are the values that `solve` searches.
    """

    default: StrEnum | int
    reach: Reach
    meets: str | None = None
    tried: tuple[int, ...] = ()

    @property
    def values(self) -> tuple[Value, ...]:
        """The values that `solve` searches."""
        return self.tried if isinstance(self.default, int) else tuple(type(self.default))


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

    agelu_parameters: Annotated[AGeLUParameters, Axis(AGeLUParameters.PER_CHANNEL, Reach.UNIT)]
    fc1_bias: Annotated[Presence, Axis(Presence.YES, Reach.UNIT)]
    fc2_bias: Annotated[Presence, Axis(Presence.YES, Reach.UNIT)]
    concat_norm: Annotated[ConcatNorm, Axis(ConcatNorm.NONE, Reach.UNIT)]
    output_norm: Annotated[OutputNorm, Axis(OutputNorm.NONE, Reach.UNIT)]
    depthwise_bias: Annotated[Presence, Axis(Presence.NO, Reach.UNIT)]
    depthwise_norm: Annotated[DepthwiseNorm, Axis(DepthwiseNorm.BATCH, Reach.UNIT)]
    # An AGeLU that ends the depthwise block has as many coefficients as the channel part's AGeLUs have.
    depthwise_activation: Annotated[
        DepthwiseActivation, Axis(DepthwiseActivation.GELU, Reach.UNIT, meets="agelu_parameters")
    ]
    depthwise_skip: Annotated[Presence, Axis(Presence.NO, Reach.UNIT)]
    class_token: Annotated[ClassToken, Axis(ClassToken.KEPT, Reach.EVERYWHERE)]


class ResMlpForm(StrEnum):
    """Which of its two descriptions a ResMLP follows: Eq. 2 and 3, or Algorithm 1 (facts of the arXiv version)."""

    EQUATIONS = "equations"
    ALGORITHM = "algorithm"


@dataclass(frozen=True)
class ResMlpReading:
    """What ResMLP's text leaves open: its equations and its Algorithm 1 are two models."""

    resmlp_form: Annotated[ResMlpForm, Axis(ResMlpForm.EQUATIONS, Reach.UNIT)]
    # Table 3, "linear -> none": whether what stands before and after the linear layer stays when the layer is removed.
    # The form decides what that is.
    scales_stay: Annotated[Presence, Axis(Presence.NO, Reach.UNIT, meets="resmlp_form")]


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

    # Vocabularies of BERT, SentencePiece and T5, lengths of pre-training, and the widths of the feed-forward layers of
    # both families: arXiv 2105.08050 and 1810.04805, and what is built after them.
    vocabulary: Annotated[int, Axis(30522, Reach.UNIT, tried=(30000, 30522, 32000, 32128))]
    # The length of the texts multiplies the work of every part.
    sequence_length: Annotated[int, Axis(512, Reach.EVERYWHERE, tried=(128, 512))]
    ffn_width: Annotated[int, Axis(3072, Reach.UNIT, tried=(2048, 3072))]
    spatial_matrix: Annotated[SpatialMatrix, Axis(SpatialMatrix.FULL, Reach.UNIT)]
    # The norm of a gate is as wide as D_C.
    gate_norm: Annotated[Presence, Axis(Presence.YES, Reach.UNIT, meets="ffn_width")]
    output_layer: Annotated[OutputLayer, Axis(OutputLayer.MASKED_LM, Reach.UNIT, meets="vocabulary")]
    pooler: Annotated[Presence, Axis(Presence.YES, Reach.UNIT)]


BundledReading: TypeAlias = Reading | ResMlpReading | TextReading
AnyReading: TypeAlias = BundledReading | BlockReading


class Family(StrEnum):
    """A set of axes that are answered together, by its name in results."""

    IMLP = "imlp"
    RESMLP = "resmlp"
    TEXT = "text"

    @property
    def kind(self) -> type[BundledReading]:
        """The record of its axes."""
        return _FAMILIES[self][0]

    @property
    def models(self) -> str:
        """What needs such a reading, in words."""
        return _FAMILIES[self][1]


_FAMILIES: Mapping[Family, tuple[type[BundledReading], str]] = {
    Family.IMLP: (Reading, "an IMLP block"),
    Family.RESMLP: (ResMlpReading, "a ResMLP without a form"),
    Family.TEXT: (TextReading, "a model of language"),
}


AnyFamily: TypeAlias = Family | OwnFamily


def make_reading(family: AnyFamily, answers: Mapping[str, Any]) -> AnyReading:
    """Return the reading with these answers, one for each axis of the family."""
    return family.reading(answers) if isinstance(family, OwnFamily) else family.kind(**answers)


def answer_of(reading: AnyReading, axis: str) -> Value:
    """Return what a reading answers on an axis of its family."""
    answer: Value = dict(reading.answers)[axis] if isinstance(reading, BlockReading) else getattr(reading, axis)
    return answer


@dataclass(frozen=True)
class PaperReading:
    """One reading of a paper: an answer for each family of its models about which the text leaves something open.

    `blocks` are the answers that it states about blocks of the paper's own; on their other axes it has the default.
    """

    imlp: Reading | None = None
    resmlp: ResMlpReading | None = None
    text: TextReading | None = None
    blocks: tuple[tuple[str, str], ...] = ()

    def of(self, family: AnyFamily) -> AnyReading | None:
        """Return the answer for a family."""
        if isinstance(family, OwnFamily):
            return family.reading(dict(self.blocks))
        answer: BundledReading | None = getattr(self, family)
        return answer


@cache
def axes_of(family: Family) -> Mapping[str, Axis]:
    """Return the axes of a family by their names, in order."""
    hints = get_type_hints(family.kind, include_extras=True)
    return {field.name: get_args(hints[field.name])[1] for field in fields(family.kind)}


PRINTED = Reading(**{name: axis.default for name, axis in axes_of(Family.IMLP).items()})  # type: ignore[arg-type]
"""Eq. 5 with the biases of Theorem 1, and the DW block of Sec. 4.3, "DW Conv with BN and GeLU": a batch norm takes the
place of the convolution's bias. Specs declare readings of their own; this one is for the paper's equations."""
