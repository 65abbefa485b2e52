"""Weights as fractions of the largest one."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.strategies import positive


@dataclass(frozen=True)
class Weights:
    """The largest weight, and others in 256ths of it."""

    largest: float
    others: tuple[int, ...]

    def tensor(self, arithmetic: Arithmetic) -> Tensor:
        """Return the weights, the largest first."""
        return arithmetic.tensor([self.largest, *(self.largest * other / 256 for other in self.others)])


def weights() -> Strategy[Weights]:
    """Weights with two others; many of them near 5 % (12.8 / 256) and 6.25 % (16 / 256) of the largest."""
    near = st.integers(-18, 18)
    return st.builds(Weights, positive(), st.tuples(near, st.one_of(near, st.integers(-256, 256))))
