"""Sec. 4.3, before Eq. 10: VanillaNet, whose series activation the equation quotes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim, equal
from imlp_audit.equations.functions import relu
from imlp_audit.equations.strategies import Matrix, matrices, nonzero
from imlp_audit.errors import BuildError
from imlp_audit.models.vanillanet import SeriesActivation

from ._dw_block import Norm, load_norms
from ._series import behind_another
from ._vanillanet import EPS, Block, Made, blocks, summed, tiny_norms

_REACH = 3


@claim(blocks(), share=0.5)
def eq10_vanillanet_block(case: Block, arithmetic: Arithmetic) -> Trial:
    """The package's VanillaNet block, with the convolutions that it is trained with merged, is Eq. 10 after a 1x1
    convolution to twice the channels and max pooling to half the grid, with ReLU, n = 3 by default and a batch norm.

    Read as: what stands around Eq. 10 is that of VanillaNet's paper (arXiv 2305.12972, Fig. 1) and its released code:
    no b_c, and a batch norm with 10^-6 added to the variance. In evaluation. A host whose kernel is larger than the
    pooled grid is refused.

    Place: Sec. 4.3, Eq. 10, and the sentence before it
    Corrected: VanillaNetBlock(x)_{h,w,c} = r_c sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} ReLU(z_{h+i,w+j,c}) + (s_c - m_c
        r_c), z = maxpool_{2 x 2}(W x + b), r_c = g_c / sqrt(v_c + 10^-6)
    Bound: that of the 1x1 convolution, of which the maximum and ReLU keep the largest, then that of Eq. 10 and of its
        batch norm
    """
    # Hold the block against its parts, and whether it is refused against the pooled grid.
    try:
        module = case.module()
    except BuildError:
        return Trial(case.made is not Made.DIRECTLY and not case.fits, {**case.shown(), "refused": True})
    if case.made is not Made.DIRECTLY and not case.fits:
        return Trial(False, {**case.shown(), "refused": False})
    shape = tuple(module.example_inputs(2)[0].shape)
    if shape != (2, len(case.x), *case.size):
        return Trial(False, {**case.shown(), "shape of its inputs": shape})
    return equal(case.computed(arithmetic), case.printed(arithmetic), **case.shown())


@dataclass(frozen=True)
class Activated:
    """A grid of one channel, its kernel of 7 x 7 and its norm."""

    x: Matrix
    a: Matrix
    norm: Norm

    def shown(self) -> Mapping[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"x": self.x, "a": self.a, "norm": self.norm}


def _activated() -> st.Strategy[Activated]:
    side, norm = st.integers(1, 4), tiny_norms(1).map(lambda norms: norms[0])
    grids = st.tuples(side, side).flatmap(lambda size: matrices(*size))
    return st.builds(Activated, grids, matrices(2 * _REACH + 1, 2 * _REACH + 1, nonzero()), norm)


@claim(_activated(), share=0.2)
def eq10_series_default(case: Activated, arithmetic: Arithmetic) -> Trial:
    """VanillaNet's series activation, made with nothing but its width, is Eq. 10 with n = 3 and phi = ReLU, and a batch
    norm that adds 10^-6 to the variance.

    Read as: n, phi and the norm are those of VanillaNet's paper (arXiv 2305.12972) and its released code. In
    evaluation.

    Place: Sec. 4.3, Eq. 10, and the sentence before it
    Corrected: SeriesActivation(x)_{h,w,c} = r_c sum_{i=-3}^{3} sum_{j=-3}^{3} a_{i,j,c} ReLU(x_{h+i,w+j,c}) + (s_c -
        m_c r_c), r_c = g_c / sqrt(v_c + 10^-6)
    Bound: that of Eq. 10, 4 u for the reciprocal root, and one rounding for each product and sum
    """
    # Hold the module against Eq. 10 and the norm.
    module = SeriesActivation(1)
    arithmetic.place(module)
    arithmetic.put(module, "conv.weight", [[case.a]])
    load_norms([case.norm], module.norm, arithmetic)
    grid = [arithmetic.vector(row) for row in case.x]
    printed = summed(grid, case.a, case.norm, _REACH, EPS, relu, arithmetic)
    return equal(behind_another(module, arithmetic.tensor([[case.x]])), [printed], **case.shown())


_CHANNELS = 64


@claim(st.integers(0, 999), share=0.05)
def eq10_series_start(seed: int, arithmetic: Arithmetic) -> Trial:
    """The weights a_{i,j,c} of VanillaNet's series activation start at random, normal with mean 0 and a standard
    deviation of 0.02; its batch norm starts as the identity.

    Read as: this is the start in VanillaNet's released code (models/vanillanet.py); the text has none.

    Place: Sec. 4.3, Eq. 10, and the sentence before it
    Corrected: a_{i,j,c} is normal with mean 0 and standard deviation 0.02; g_c = 1, s_c = m_c = 0, v_c = 1
    Bound: 5 standard errors of the mean and of the deviation of 64 x 7 x 7 numbers
    """
    # Hold the moments of many weights against those of the distribution.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = SeriesActivation(_CHANNELS)
    start = module.state_dict()
    weight = start["conv.weight"]
    mean, deviation = weight.mean().item(), weight.std().item()
    error = 0.02 / sqrt(weight.numel())
    normal = abs(mean) <= 5 * error and abs(deviation - 0.02) <= 5 * error / sqrt(2)
    shown: dict[str, object] = {"seed": seed, "mean": mean, "standard deviation": deviation}
    for name, expected in (("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)):
        shown[name] = sorted(set(start[f"norm.{name}"].tolist()))
        normal = normal and shown[name] == [expected]
    return Trial(normal, shown)
