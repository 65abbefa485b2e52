"""gMLP for images and for text by its sizes (arXiv 2105.08050)."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from imlp_audit.models.hosts.host import Count, Host, Layers
from imlp_audit.models.reading import SpatialMatrix


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


def _check_halves(gate: Gate, hidden: int | None) -> None:
    if gate is Gate.SPLIT and hidden is not None and hidden % 2:
        raise ValueError(f"hidden: {hidden} channels have no halves to split a gate into")


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


class GmlpText(Host):
    """gMLP on token ids. What is left out here is for the paper's reading to say.

    `hidden` is D_C, `spatial_matrix` full or Toeplitz (tMLP), `attention` the width of a tiny attention (aMLP).
    """

    layers: Layers
    width: Count
    hidden: Count | None = None
    gate: Gate = Gate.SPLIT
    spatial_matrix: SpatialMatrix | None = None
    attention: Count | None = None

    @model_validator(mode="after")
    def _gate_has_halves(self) -> Self:
        _check_halves(self.gate, self.hidden)
        return self
