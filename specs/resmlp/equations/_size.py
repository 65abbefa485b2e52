"""Sizes of layers, and counts of parameters at them."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.claim import Trial
from imlp_audit.equations.draw import Strategy


@dataclass(frozen=True)
class Size:
    """A width d and the side N of the grid."""

    d: int
    side: int

    @property
    def patches(self) -> int:
        """The number of patches, N^2."""
        return self.side**2

    def counts(self, module: nn.Module, printed: int) -> Trial:
        """Judge whether a module has so many parameters."""
        count = sum(parameter.numel() for parameter in module.parameters())
        return Trial(count == printed, {"d": self.d, "N": self.side, "parameters": count, "printed": printed})


def sizes() -> Strategy[Size]:
    """Small sizes."""
    return st.builds(Size, st.integers(1, 4), st.integers(1, 3))
