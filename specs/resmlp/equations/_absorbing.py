"""An Aff beside a linear layer that could absorb it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, vectors
from imlp_audit.models.resmlp import CrossPatch

from ._layer import PATCHES, AffCase, Values, affs, each_of, loaded


@dataclass(frozen=True)
class PerPatch:
    """A matrix W on one patch's features x, with an Aff beside it."""

    x: Vector
    w: Matrix
    aff: AffCase

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"d": len(self.aff.alpha)}

    def shown(self, name: str) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"x": self.x, name: self.w, "alpha": self.aff.alpha, "beta": self.aff.beta}


@dataclass(frozen=True)
class AcrossPatches:
    """A on X (d x N^2), with an Aff beside it."""

    x: Matrix
    a: Matrix
    aff: AffCase

    def linear(self, arithmetic: Arithmetic) -> CrossPatch:
        """Return the linear layer of Eq. 2."""
        weights: dict[str, Values] = {"a.weight": self.a}
        return loaded(CrossPatch(len(self.a), bias=False), weights, arithmetic)

    def probes(self, arithmetic: Arithmetic) -> Tensor:
        """Return what tells an affine map shared by all channels: zero, and each patch set to 1 in every channel."""
        patches, channels = len(self.a), len(self.aff.alpha)
        basis = torch.cat((torch.zeros(1, patches), torch.eye(patches)))
        return arithmetic.tensor(basis.tolist())[:, :, None].expand(-1, -1, channels)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"X": self.x, "A": self.a, "alpha": self.aff.alpha, "beta": self.aff.beta}


def across_two_channels() -> Strategy[AcrossPatches]:
    """Two channels on a grid of 1 x 1 or 2 x 2 patches, nothing zero but the shifts of Aff, which all are."""
    aff = affs(2, st.just(0.0))

    def sized(patches: int) -> Strategy[AcrossPatches]:
        return st.builds(AcrossPatches, matrices(2, patches, nonzero()), matrices(patches, patches, nonzero()), aff)

    return each_of(sized, PATCHES)


def often_absorbed() -> Strategy[AcrossPatches]:
    """Two channels of one or two patches, with few different numbers, so that channels agree now and then."""
    few = st.sampled_from((0.0, 1.0, -1.0))
    aff = st.builds(AffCase, vectors(2, st.sampled_from((1.0, 2.0))), vectors(2, st.sampled_from((0.0, 1.0))))

    def sized(patches: int) -> Strategy[AcrossPatches]:
        return st.builds(AcrossPatches, matrices(2, patches), matrices(patches, patches, few), aff)

    return each_of(sized, (1, 2))


def same_in_all_channels(y: Tensor) -> bool:
    """Whether (batch, patches, channels) has the same numbers in every channel."""
    return torch.equal(y, y[..., :1].expand_as(y))
