"""gMLP for images and for text by its sizes (arXiv 2105.08050)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Self, final

from pydantic import model_validator

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
    text_reading,
)
from imlp_audit.models.reading import Family, SpatialMatrix

if TYPE_CHECKING:
    from torch import nn


class Gate(StrEnum):
    """What the spatial gating unit does with f(Z) (the rows of the coursework's Table 6)."""

    LINEAR = "linear"  # f(Z)
    SUM = "sum"  # Z + f(Z)
    PRODUCT = "product"  # Z * f(Z)
    SPLIT = "split"  # Z1 * f(Z2)

    @property
    def formula(self) -> str:
        """What s(Z) is, as the table writes it."""
        return {"linear": "f(Z)", "sum": "Z + f(Z)", "product": "Z * f(Z)", "split": "Z1 * f(Z2)"}[self.value]

    def width(self, hidden: int) -> int:
        """Return the channels that go into f, and out of the unit, for a Z of `hidden` channels."""
        return hidden // 2 if self is Gate.SPLIT else hidden


GMLP_PARTS: PartNames = (
    (r"\bu\b", "FC1, from C to D_C"),
    (r"\bsgu\.norm\b", "gate: norm"),
    (r"\bsgu\b", "gate: mixing of the tokens"),
    (r"\bv\b", "FC2, back to C"),
)


def _check_halves(gate: Gate, hidden: int | None) -> None:
    if gate is Gate.SPLIT and hidden is not None and hidden % 2:
        raise ValueError(f"hidden: a split gate needs an even number of channels, not {hidden}")


@final
class Gmlp(Host):
    """gMLP on the patches of an image. `width` is C and `hidden` D_C."""

    layers: Layers
    patch: Count
    width: Count
    hidden: Count
    gate: Gate = Gate.SPLIT
    spatial_matrix: SpatialMatrix = SpatialMatrix.FULL

    @model_validator(mode="after")
    def _gate_has_halves(self) -> Self:
        _check_halves(self.gate, self.hidden)
        return self

    @model_validator(mode="after")
    def _patches_lie_on_a_grid(self) -> Self:
        if self.spatial_matrix is SpatialMatrix.TOEPLITZ:
            raise ValueError("spatial_matrix: a Toeplitz matrix shifts along a sequence; patches lie on a 2-D grid")
        return self

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="gmlp",
            reads=ImageInput(IMAGENET_SIZE),
            classes=ClassCount.IN_RECIPE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset({"stem"}),
            head=frozenset({"norm", "head"}),
            body=frozenset({"blocks"}),
            parts=GMLP_PARTS,
        )

    def family(self) -> None:
        """Return None: nothing is open about it."""

    def patch_side(self) -> int:
        """Return the side of a patch."""
        return self.patch

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"sgu"}), self.width)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build gMLP for images of one size."""
        from imlp_audit.models.nets.gmlp import build_gmlp

        return build_gmlp(self, request.size(), request.labels)


@final
class GmlpText(Stack):
    """gMLP on token ids. What is left out here is for the paper's reading to say.

    `hidden` is D_C, `spatial_matrix` full or Toeplitz (tMLP), `attention` the width of a tiny attention (aMLP).
    """

    width: Count
    hidden: Count | None = None
    gate: Gate = Gate.SPLIT
    spatial_matrix: SpatialMatrix | None = None
    attention: Count | None = None

    @model_validator(mode="after")
    def _gate_has_halves(self) -> Self:
        _check_halves(self.gate, self.hidden)
        return self

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="gmlp_text",
            reads=TokenInput(),
            classes=ClassCount.IN_RECIPE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset(),
            head=frozenset({"norm", "head"}),
            body=frozenset({"embedding", "blocks", "pooler", "output"}),
            parts=(
                *GMLP_PARTS,
                (r"^embedding\b", "token embedding"),
                (r"\bpooler\b", "pooler"),
                (r"^output\b", "output layer"),
            ),
        )

    def family(self) -> Family:
        """Return the axes of models of language."""
        return Family.TEXT

    def with_open_width(self) -> Self:
        """Return the host with its D_C left to the reading."""
        return self.model_copy(update={"hidden": None})

    def patch_side(self) -> None:
        """Return None: it reads no images."""

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"sgu"}), self.width)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build a language model, or a classifier of texts where the recipe gives classes."""
        from imlp_audit.models.nets.gmlp import build_gmlp_text

        return build_gmlp_text(self, text_reading(request, "gmlp_text"), request.classes)
