"""The paper's DW block after an AGeLU, with the symbols of Eq. 10 in it."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import nonzero, numbers, positive
from imlp_audit.models.agelu import AGeLU
from imlp_audit.models.imlp import DepthwiseBlock
from imlp_audit.models.reading import Reading

from ._agelu import Coefficients
from ._series import GELU, Series, series

_EPS = 1e-5  # of torch's batch norm


def block_of(case: Series, reading: Reading, arithmetic: Arithmetic) -> DepthwiseBlock:
    """Return the DW block whose convolution has the weights a; its norm, if any, is as it starts."""
    block = DepthwiseBlock(len(case.b), 2 * case.n + 1, reading, nn.GELU)
    block.conv.weight.data = case.weight(arithmetic)
    arithmetic.place(block)
    return block


def after_agelu(block: DepthwiseBlock, case: Series, arithmetic: Arithmetic) -> Tensor:
    """Return DWBlock(AGeLU(x)) with alpha = beta = 1, gamma = b, theta = 0, of shape (channels, H, W)."""
    channels = len(case.b)
    ones, zeros = (1.0,) * channels, (0.0,) * channels
    agelu = Coefficients(ones, ones, case.b, zeros).load_into(AGeLU(channels, channels_first=True), arithmetic)
    y: Tensor = block(agelu(arithmetic.tensor(case.x)[None]))[0]
    return y


def everywhere(case: Series, arithmetic: Arithmetic) -> list[list[list[Rounded]]]:
    """Return Eq. 10, i and j from -n to n, at every position of the grid."""
    height, width = case.size
    return case.printed(arithmetic, range(-case.n, case.n + 1), range(height), range(width))


@dataclass(frozen=True)
class Normed:
    """The symbols of Eq. 10, and a batch norm's mean m, variance v, scale g and shift s, alike for all channels."""

    g: float
    s: float
    m: float
    v: float
    series: Series

    def block(self, reading: Reading, arithmetic: Arithmetic) -> DepthwiseBlock:
        """Return the DW block with these numbers."""
        block = block_of(self.series, reading, arithmetic)
        for name, value in (("weight", self.g), ("bias", self.s), ("running_mean", self.m), ("running_var", self.v)):
            getattr(block.norm, name).data.fill_(value)
        return block

    def normed(self, arithmetic: Arithmetic) -> list[list[list[Rounded]]]:
        """Return r times Eq. 10, plus s - m r, at every position; r = g / sqrt(v + eps)."""
        r = self.g * _reciprocal_root(self.v + _once_rounded(_EPS, arithmetic))
        constant = self.s - self.m * r
        return [[[r * y + constant for y in row] for row in grid] for grid in everywhere(self.series, arithmetic)]

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {**self.series.shown(), "g": self.g, "s": self.s, "m": self.m, "v": self.v}


def normed() -> st.SearchStrategy[Normed]:
    """Return examples with n = 1 and phi = GeLU."""
    examples = series(lambda n: 1, phis=(GELU,), largest=1)
    return st.builds(Normed, nonzero(), numbers(), numbers(), positive(), examples)


def _once_rounded(value: float, arithmetic: Arithmetic) -> Rounded:
    """Return a number that no arithmetic holds, such as 10^-5."""
    return Rounded(value, abs(value), 1, 0.0, arithmetic.unit)


def _reciprocal_root(x: Rounded) -> Rounded:
    """1 / sqrt(x), whose slope is at most 1 / (2 sqrt(x)^3) at the least x that rounding allows.

    A root and a division err by little more than 1.5 u relatively, and CUDA's reciprocal root by 2 units in the last
    place: 4 u.
    """
    least = x.value - x.error
    return x.through(lambda value: 1 / sqrt(value), 0.5 / sqrt(least) ** 3, 4 * x.unit / sqrt(least))
