"""A DW block with its batch norm, without its GeLU, is Eq. 10 with weights a g / sqrt(v + eps), plus a constant.

In evaluation, with mean m, variance v, scale g and shift s of the batch norm: beta - m g / sqrt(v + eps), one for each
channel, is added everywhere. The batch norm therefore leaves no more than a constant that Eq. 10 does not have; it is
the GeLU at the end that no choice of weights makes up for.

Place: Sec. 4.3, the sentences after Eq. 10
Corrected: BN(DWConv(AGeLU(x)))_{h,w,c} = r_c sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c)
    + (s_c - m_c r_c), r_c = g_c / sqrt(v_c + eps)
Bound: that of Eq. 10, 4 u for the reciprocal root, and one rounding for each product and sum
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._blocks import PRINTED
from imlp_audit.equations.imlp._dw_block import after_agelu, block_of, everywhere
from imlp_audit.equations.imlp._series import GELU, Series, series
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import nonzero, numbers, positive
from imlp_audit.models.reading import DepthwiseActivation

_LINEAR = replace(PRINTED, depthwise_activation=DepthwiseActivation.NONE)


@dataclass(frozen=True)
class Normed:
    """The symbols of Eq. 10, and the batch norm's four numbers for every channel alike."""

    g: float
    s: float
    m: float
    v: float
    series: Series

    def load_into(self, norm: nn.BatchNorm2d) -> None:
        """Give a batch norm these numbers."""
        assert norm.running_mean is not None
        assert norm.running_var is not None
        for tensor, value in ((norm.weight, self.g), (norm.bias, self.s)):
            tensor.data.fill_(value)
        norm.running_mean.fill_(self.m)
        norm.running_var.fill_(self.v)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {**self.series.shown(), "g": self.g, "s": self.s, "m": self.m, "v": self.v}


def judge(case: Normed, arithmetic: Arithmetic) -> Trial:
    """Hold the block without its GeLU against Eq. 10 with other weights, and a constant."""
    block = block_of(case.series, _LINEAR, arithmetic)
    assert isinstance(block.norm, nn.BatchNorm2d)
    case.load_into(block.norm)
    r = case.g * _reciprocal_root(case.v + _epsilon(block.norm.eps, arithmetic))
    constant = case.s - case.m * r
    corrected = [
        [[r * value + constant for value in row] for row in grid] for grid in everywhere(case.series, arithmetic)
    ]
    return equal(after_agelu(block, case.series, arithmetic), corrected, **case.shown())


def _epsilon(eps: float, arithmetic: Arithmetic) -> Rounded:
    """No arithmetic holds 10^-5: it comes rounded once."""
    return Rounded(eps, eps, 1, 0.0, arithmetic.unit)


def _reciprocal_root(x: Rounded) -> Rounded:
    """1 / sqrt(x), whose slope is at most 1 / (2 sqrt(x)^3) at the least x that rounding allows.

    A root and a division err by 1.5 u relatively, and CUDA's reciprocal root by 2 units in the last place: 4 u.
    """
    least = x.value - x.error
    return x.through(lambda value: 1 / sqrt(value), 0.5 / sqrt(least) ** 3, 4 * x.unit / sqrt(least))


def _cases() -> st.SearchStrategy[Normed]:
    examples = series(lambda n: 1, phis=(GELU,), largest=1)
    return st.builds(Normed, nonzero(), numbers(), numbers(), positive(), examples)


CLAIM = Claim(_cases(), judge)
