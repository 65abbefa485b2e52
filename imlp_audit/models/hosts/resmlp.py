"""ResMLP by its sizes and the rows of its ablations (arXiv 2105.03404)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from imlp_audit.models.hosts.host import Count, Host, Layers, divides
from imlp_audit.models.reading import ResMlpForm


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


class ResMlp(Host):
    """ResMLP for images. `form` left out is for the paper's reading to say.

    `expansion` is that of the communication MLP over the patches, where there is one.
    """

    layers: Layers
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
            raise ValueError(f"expansion: there is no communication MLP to expand where it is {self.communication}")
        return self


class CaitStage(StrEnum):
    """How far Appendix A's chain from CaiT to ResMLP has gone; each stage keeps what was changed before it."""

    ATTENTION = "attention"  # CaiT itself
    PATCH_MLP = "patch_mlp"  # self-attention replaced by an MLP over the patches
    CLASS_MLP = "class_mlp"  # class-attention replaced by class-MLP
    LINEAR = "linear"  # the MLP over the patches replaced by one linear layer


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
            raise ValueError(f"expansion: there is no MLP over the patches to expand at the stage {self.stage}")
        return self


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
