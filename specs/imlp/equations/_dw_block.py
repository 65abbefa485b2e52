"""The paper's DW block after an AGeLU, with the symbols of Eq. 10 in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.exact import Exact
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import nonzero, numbers, positive
from imlp_audit.models.agelu import AGeLU
from imlp_audit.models.imlp import DepthwiseBlock
from imlp_audit.models.reading import Reading

from ._agelu import Coefficients
from ._series import GELU, Series, behind_another, series

EPS = 1e-5  # of torch's batch norm


def block_of(case: Series, reading: Reading, arithmetic: Arithmetic) -> DepthwiseBlock:
    """Return the DW block whose convolution has the weights a; its norm, if any, is as it starts."""
    block = DepthwiseBlock(len(case.b), 2 * case.n + 1, reading, nn.GELU)
    arithmetic.place(block)
    arithmetic.put(block, "conv.weight", [[kernel] for kernel in case.a])
    return block


def after_agelu(block: DepthwiseBlock, case: Series, arithmetic: Arithmetic) -> Tensor:
    """Return DWBlock(AGeLU(x)) with alpha = beta = 1, gamma = b, theta = 0, of shape (channels, H, W)."""
    channels = len(case.b)
    ones, zeros = (1.0,) * channels, (0.0,) * channels
    agelu = Coefficients(ones, ones, case.b, zeros).load_into(AGeLU(channels, channels_first=True), arithmetic)
    return behind_another(block, agelu(arithmetic.tensor(case.x)[None]))


def everywhere(case: Series, arithmetic: Arithmetic) -> list[list[list[Rounded]]]:
    """Return Eq. 10, i and j from -n to n, at every position of the grid."""
    height, width = case.size
    return case.printed(arithmetic, range(-case.n, case.n + 1), range(height), range(width))


@dataclass(frozen=True)
class Norm:
    """A batch norm's scale g, shift s, mean m and variance v of one channel."""

    g: float
    s: float
    m: float
    v: float

    def of(self, y: Rounded, eps: float, arithmetic: Arithmetic) -> Rounded:
        """Return r y + s - m r, r = g / sqrt(v + eps)."""
        r = self.g * _reciprocal_root(self.v + _once_rounded(eps, arithmetic))
        return r * y + (self.s - self.m * r)


def load_norms(norms: Sequence[Norm], norm: nn.Module, arithmetic: Arithmetic) -> None:
    """Give a batch norm its numbers, channel by channel."""
    for name, values in (
        ("weight", [each.g for each in norms]), ("bias", [each.s for each in norms]),
        ("running_mean", [each.m for each in norms]), ("running_var", [each.v for each in norms]),
    ):  # fmt: skip
        arithmetic.put(norm, name, values)


@dataclass(frozen=True)
class Normed:
    """The symbols of Eq. 10, and a batch norm for each channel."""

    series: Series
    norms: tuple[Norm, ...]

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return self.series.sizes()

    def block(self, reading: Reading, arithmetic: Arithmetic) -> DepthwiseBlock:
        """Return the DW block with these numbers."""
        block = block_of(self.series, reading, arithmetic)
        load_norms(self.norms, block.norm, arithmetic)
        return block

    def normed(self, arithmetic: Arithmetic, eps: float = EPS) -> list[list[list[Rounded]]]:
        """Return r_c times Eq. 10, plus s_c - m_c r_c, at every position; r_c = g_c / sqrt(v_c + eps)."""
        grids = zip(everywhere(self.series, arithmetic), self.norms, strict=True)
        return [[[norm.of(y, eps, arithmetic) for y in row] for row in grid] for grid, norm in grids]

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        names = ("g", "s", "m", "v")
        return {**self.series.shown(), **{name: [getattr(norm, name) for norm in self.norms] for name in names}}


def norms(channels: int) -> st.Strategy[tuple[Norm, ...]]:
    """Return a batch norm for each channel."""
    return st.tuples(*[st.builds(Norm, nonzero(), numbers(), numbers(), positive())] * channels)


def normed() -> st.Strategy[Normed]:
    """Return examples with n = 1 and phi = GeLU."""
    examples = series(lambda n: 1, phis=(GELU,), largest=1)
    return examples.flatmap(lambda case: st.builds(Normed, st.just(case), norms(len(case.b))))


def _once_rounded(value: float, arithmetic: Arithmetic) -> Rounded:
    """Return a number that no arithmetic holds, such as 10^-5."""
    number = arithmetic.number(value)
    return number if isinstance(number, Exact) else replace(number, steps=1)


def _reciprocal_root(x: Rounded) -> Rounded:
    """1 / sqrt(x), whose slope is at most 1 / (2 sqrt(x)^3) at the least x that rounding allows.

    A root and a division err by little more than 1.5 u relatively, and CUDA's reciprocal root by 2 units in the last
    place: 4 u.
    """
    if isinstance(x, Exact):
        return x.reciprocal_root()
    least = x.value - x.error
    return x.through(lambda value: 1 / sqrt(value), 0.5 / sqrt(least) ** 3, 4 * x.unit / sqrt(least))
