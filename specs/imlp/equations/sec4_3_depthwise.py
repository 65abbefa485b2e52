"""Sec. 4.3: what the depthwise block adds, and which tokens an output depends on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.functions import gelu
from imlp_audit.models.imlp import ChannelPart
from imlp_audit.models.reading import PRINTED

from ._dw_block import Normed, after_agelu, normed
from ._reach import with_ones
from ._window import Window, windows


@claim(st.tuples(st.integers(1, 3), st.integers(1, 4)))
def freedom_halved(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """In the AMLP, the C' hidden units share C'/2 columns of W^d, unit j the column f(j); in the MLP each has its own.

    Place: Sec. 4.3, first sentence
    Printed: the degree of freedom of {w^d_{i,f(j)}}_{j=1}^{C'} in Eq. 6 are halved compared to the original
        {w^a_{ij}}_{j=1}^{C'} in Eq. 2
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Hold which columns each hidden unit depends on against f.
    c, half = case
    part = with_ones(ChannelPart(half, PRINTED, nn.GELU, channels_first=False), arithmetic)
    amlp, mlp = _columns(part, c, half, arithmetic), _columns(nn.GELU(), c, 2 * half, arithmetic)
    hidden = range(1, 2 * half + 1)
    shown = {"C": c, "C'": 2 * half, "columns of units 1 to C' in the AMLP": amlp, "in the MLP": mlp}
    return Trial(amlp == [[j - half * (j > half)] for j in hidden] and mlp == [[j] for j in hidden], shown)


def _columns(act: Callable[[Tensor], Tensor], c: int, columns: int, arithmetic: Arithmetic) -> list[list[int]]:
    """Return, for each hidden unit act(x W), the columns of W that it depends on, counted from 1."""
    x, w = arithmetic.tensor([1.0] * c), arithmetic.tensor([[1.0] * columns] * c)
    by_column = depends(lambda weights: act(x @ weights), w).any(dim=1)
    return [[column + 1 for column in unit.nonzero().flatten().tolist()] for unit in by_column]


@claim(normed(), proof=Proof("all numbers and any phi", Normed.sizes))
def depthwise_block(case: Normed, arithmetic: Arithmetic) -> Trial:
    """The DW block is a depthwise convolution, then a batch norm, then GeLU.

    Read as: in the order in which they are named, in evaluation, without a skip; what comes in is AGeLU(x).

    Place: Sec. 4.3, after Eq. 10
    Printed: we modify our AMLP module by introducing a DW Block (DW Conv with BN and GeLU) after AGeLU
    Bound: that of Eq. 10 and its batch norm, times GeLU's largest slope, and GeLU's own error
    """
    # Hold the block against GeLU of the normed convolution.
    block = case.block(PRINTED, arithmetic)
    printed = [[[gelu(y) for y in row] for row in grid] for grid in case.normed(arithmetic)]
    return equal(after_agelu(block, case.series, arithmetic), printed, **case.shown())


@claim(windows(blocks=1))
def depthwise_global(case: Window, arithmetic: Arithmetic) -> Trial:
    """A DW block in an IMLP lets each output depend on every position of the grid.

    Read as: information is global where it comes from all positions. Kernels are those of Table 5 but n = 1.

    Place: Sec. 4.3, the sentence after Eq. 10, and Sec. 5.2 on Table 5
    Printed: DW Conv after the non-linear function utilizes the spatial information and enhances non-linearity by
        learning global information from its neighbors
    Nearest: depthwise_global_corrected
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Hold what an output depends on against the whole grid.
    return case.hold_against(lambda place: True, arithmetic)


@claim(windows(blocks=1))
def depthwise_global_corrected(case: Window, arithmetic: Arithmetic) -> Trial:
    """A DW block in an IMLP lets each output depend on the n x n window around it, and on nothing beyond.

    Place: Sec. 4.3, the sentence after Eq. 10
    Corrected: output (h, w) depends on input (i, j) exactly where |i - h| <= (n - 1) / 2 and |j - w| <= (n - 1) / 2
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Hold what an output depends on against the window.
    return case.hold_against(lambda place: case.distance(place) <= (case.n - 1) // 2, arithmetic)


@claim(st.tuples(st.sampled_from((1, 3, 5, 7)), st.integers(1, 4), st.integers(1, 4)))
def depthwise_global_on_small_grids(case: tuple[int, int, int], arithmetic: Arithmetic) -> Trial:
    """A DW block is global, every output depending on every position, where no side of the grid exceeds (n + 1) / 2.

    Only there: a grid as large as the kernel is not enough, since an output at its border sees half of the kernel. The
    14 x 14 grid of DeiT takes n = 27.

    Place: Sec. 4.3, the sentence after Eq. 10
    Corrected: every output depends on every input exactly where max(H, W) <= (n + 1) / 2
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Hold whether every output depends on every input against the sides.
    n, height, width = case
    grid = list(product(range(height), range(width)))
    seen = all(Window(n, 1, (height, width), at).seen(arithmetic) == set(grid) for at in grid)
    shown = {"n": n, "H": height, "W": width, "global": seen}
    return Trial(seen == (max(height, width) <= (n + 1) / 2), shown)


@claim(windows(blocks=3))
def depthwise_stacked(case: Window, arithmetic: Arithmetic) -> Trial:
    """L IMLPs one after the other let each output depend on a window of 1 + L (n - 1) rows and columns.

    Place: Sec. 4.3, the sentence after Eq. 10
    Corrected: output (h, w) depends on input (i, j) exactly where max(|i - h|, |j - w|) <= L (n - 1) / 2
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Hold what an output depends on against the window of the stack.
    return case.hold_against(lambda place: case.distance(place) <= case.blocks * (case.n - 1) // 2, arithmetic)
