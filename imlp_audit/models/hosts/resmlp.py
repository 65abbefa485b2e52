"""ResMLP by its sizes and the rows of its ablations (arXiv 2105.03404)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Self, final

from pydantic import Field, model_validator

from imlp_audit.errors import BuildError
from imlp_audit.models.hosts.host import (
    IMAGENET_SIZE,
    BuildRequest,
    ClassCount,
    Count,
    Host,
    ImageInput,
    Layers,
    NamedParts,
    PartNames,
    Stack,
    TokenInput,
    Traits,
    divides,
)
from imlp_audit.models.reading import AnyReading, Family, ResMlpForm, ResMlpReading, axes_of

if TYPE_CHECKING:
    from torch import nn

RESMLP_PARTS: PartNames = (
    (r"\bacross_(patches|tokens)\b", "mixing of the tokens"),
    (r"\bacross_channels\b", "mixing of the channels"),
    (r"\bpost\d?\b", "scales after the sublayers"),
)


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


@final
class ResMlp(Stack):
    """ResMLP for images. `form` left out is for the paper's reading to say.

    `expansion` is that of the communication MLP over the patches, where there is one.
    """

    width: Count
    patch: Count = 16
    form: ResMlpForm | None = None
    norm: Norm = Norm.AFF
    pooling: Pooling = Pooling.AVERAGE
    communication: Communication = Communication.LINEAR
    expansion: Annotated[float, Field(gt=0, le=64, allow_inf_nan=False)] | None = None
    nonlinearity: Nonlinearity = Nonlinearity.GELU

    @model_validator(mode="after")
    def _expansion_has_an_mlp(self) -> Self:
        if self.expansion is not None and self.communication is not Communication.MLP:
            raise ValueError(f"expansion: it needs a communication MLP, and communication is {self.communication}")
        return self

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="resmlp",
            reads=ImageInput(IMAGENET_SIZE),
            classes=ClassCount.IN_RECIPE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset({"stem"}),
            head=frozenset({"head"}),
            body=frozenset({"blocks", "pool"}),
            parts=RESMLP_PARTS,
        )

    def family(self) -> Family | None:
        """Return the axis of its form, None where the recipe gives the form."""
        return Family.RESMLP if self.form is None else None

    def patch_side(self) -> int:
        """Return the side of a patch."""
        return self.patch

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"across_channels", "mlp_channels", "gamma_1"}), self.width)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build ResMLP for images of one size, in its own form or the reading's."""
        from imlp_audit.models.nets.resmlp import build_resmlp

        return build_resmlp(self, self._reading_under(request.reading), request.size(), request.labels)

    def _reading_under(self, reading: AnyReading | None) -> ResMlpReading:
        """Return the paper's reading, or for a recipe that gives the form one with defaults on the other axes."""
        if isinstance(reading, ResMlpReading):
            return reading
        if self.form is None:
            raise BuildError("resmlp: its model needs a reading of its form, and the paper has none")
        defaults: dict[str, Any] = {name: axis.default for name, axis in axes_of(Family.RESMLP).items()}
        return ResMlpReading(**{**defaults, "resmlp_form": self.form})


class CaitStage(StrEnum):
    """How far Appendix A's chain from CaiT to ResMLP has gone; each stage keeps what was changed before it."""

    ATTENTION = "attention"  # CaiT itself
    PATCH_MLP = "patch_mlp"  # self-attention replaced by an MLP over the patches
    CLASS_MLP = "class_mlp"  # class-attention replaced by class-MLP
    LINEAR = "linear"  # the MLP over the patches replaced by one linear layer


@final
class CaitChain(Host):
    """A stage of Appendix A's chain; CaiT-S24 has 24 layers of width 384 with 8 heads.

    `expansion` (of the MLP over the patches, 4 where it is left out), `norm` and `nonlinearity` are those of the
    ablations made on the chain. `pooling` is that of the stage where it is left out; the ablation of expansions has
    the average.
    """

    stage: CaitStage
    layers: Layers = 24
    width: Count = 384
    heads: Count = 8
    patch: Count = 16
    expansion: Annotated[float, Field(gt=0, le=64, allow_inf_nan=False)] | None = None
    norm: Norm = Norm.LAYER
    nonlinearity: Nonlinearity = Nonlinearity.GELU
    pooling: Pooling | None = None

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> Self:
        divides(self.heads, self.width, "heads and width")
        return self

    @model_validator(mode="after")
    def _expansion_has_an_mlp(self) -> Self:
        if self.expansion is not None and self.stage not in (CaitStage.PATCH_MLP, CaitStage.CLASS_MLP):
            raise ValueError(f"expansion: the stage {self.stage} has no MLP over the patches to expand")
        return self

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="cait_chain",
            reads=ImageInput(IMAGENET_SIZE),
            classes=ClassCount.IN_RECIPE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset({"stem"}),
            head=frozenset({"head"}),
            body=frozenset({"blocks", "pool"}),
            parts=RESMLP_PARTS,
        )

    def family(self) -> None:
        """Return None: nothing is open about it."""

    def patch_side(self) -> int:
        """Return the side of a patch."""
        return self.patch

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"across_channels"}), self.width)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build a stage of the chain for images of one size."""
        from imlp_audit.models.nets.cait_chain import build_cait_chain

        return build_cait_chain(self, request.size(), request.labels)


@final
class ResMlpTranslation(Host):
    """The sequence-to-sequence ResMLP (Sec. 2; Sec. 3.6): `layers` in the encoder and as many in the decoder.

    `hidden` is the width of its MLPs, `heads` are those of cross-attention, `tokens` is the longest sequence, the side
    of the matrices A, and `vocabulary` is shared by both languages.
    """

    layers: Layers
    width: Count = 512
    hidden: Count = 2048
    heads: Count = 8
    tokens: Count = 1024
    vocabulary: Annotated[Count, Field(ge=4)] = 32768  # four ids are no words

    @model_validator(mode="after")
    def _parts_divide(self) -> Self:
        divides(self.heads, self.width, "heads and width")
        divides(self.width, self.hidden, "width and hidden")
        return self

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="resmlp_translation",
            reads=TokenInput(),
            classes=ClassCount.NONE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset(),
            head=frozenset(),
            body=frozenset({"embedding", "encoder", "encoder_aff", "decoder", "decoder_aff", "output"}),
            parts=(
                *RESMLP_PARTS,
                (r"^embedding\b", "token embedding"),
                (r"\battention\b", "attention"),
                (r"^output\b", "output layer"),
            ),
        )

    def family(self) -> None:
        """Return None: nothing is open about it."""

    def patch_side(self) -> None:
        """Return None: it reads no images."""

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"across_tokens"}), self.width)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build the encoder and the decoder."""
        from imlp_audit.models.nets.translation import build_translation

        return build_translation(self)
