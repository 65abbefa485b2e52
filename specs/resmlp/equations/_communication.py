"""The linear layer across patches alone, and its derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.strategies import Matrix, matrices, nonzero
from imlp_audit.models.resmlp import CrossPatch

from ._layer import PATCHES, WIDTHS, Values, batch_of, each_of, loaded


@dataclass(frozen=True)
class Communication:
    """A (N^2 x N^2), none of whose weights is zero, and X (d x N^2)."""

    a: Matrix
    x: Matrix

    def module(self, arithmetic: Arithmetic) -> CrossPatch:
        """Return the linear layer."""
        weights: dict[str, Values] = {"a.weight": self.a}
        return loaded(CrossPatch(len(self.a), bias=False), weights, arithmetic)

    def derivatives(self, arithmetic: Arithmetic) -> Tensor:
        """Return d output / d input at X, (patch, channel) by (patch, channel)."""
        return jacobian(self.module(arithmetic), batch_of(self.x, arithmetic))[0, :, :, 0]

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"A": self.a, "X": self.x}


def communications(widths: Sequence[int] = WIDTHS) -> Strategy[Communication]:
    """Linear layers on a grid of 1 x 1 or 2 x 2 patches."""

    def sized(d: int, patches: int) -> Strategy[Communication]:
        return st.builds(Communication, matrices(patches, patches, nonzero()), matrices(d, patches))

    return each_of(sized, widths, PATCHES)
