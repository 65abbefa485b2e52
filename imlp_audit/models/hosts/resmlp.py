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
    ImageInput,
    NamedParts,
    PartNames,
    Stack,
    Traits,
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

    def with_open_width(self) -> None:
        """Return None: no reading gives one of its widths."""

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
