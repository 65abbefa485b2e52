"""Sec. 4.3, Eq. 10: the depthwise block, its window and its padding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.models.reading import PRINTED, DepthwiseActivation, DepthwiseNorm, Presence

from ._dw_block import Normed, after_agelu, block_of, everywhere, load_norms, normed
from ._padding import Padded, padded
from ._reach import judge_kernel
from ._series import GELU, RELU, SOFTPLUS, Series, behind_another, interior, series


@claim(
    series(lambda n: 2, phis=(RELU, GELU, SOFTPLUS)),
    proof=Proof("all numbers and any phi", Series.sizes, cases=series(lambda n: 2, phis=(GELU,))),
)
def eq10_borders(case: Series, arithmetic: Arithmetic) -> Trial:
    """With the terms left out whose position is beyond the grid, Eq. 10 is phi followed by a zero-padded convolution.

    This holds at every position, the borders included, and for every phi and b_c: what is padded with zeros is the
    output of phi, as in VanillaNet. Eq. 10 itself does not say what x_{h,w,c} is beyond the grid.

    Place: Sec. 4.3, Eq. 10, at the borders of the grid
    Corrected: phi_s(x_{h,w,c}) = sum over i, j from -n to n with (h + i, w + j) on the grid of a_{i,j,c}
        phi(x_{h+i,w+j,c} + b_c)
    Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
    """
    # Hold the convolution against the sum over what is on the grid, everywhere.
    height, width = case.size
    printed = case.printed(arithmetic, range(-case.n, case.n + 1), range(height), range(width))
    return equal(case.convolved(arithmetic), printed, **case.shown())


_CONVOLUTION = replace(PRINTED, depthwise_norm=DepthwiseNorm.NONE, depthwise_activation=DepthwiseActivation.NONE)


@claim(series(lambda n: 1, phis=(GELU,)), proof=Proof("all numbers and any phi", Series.sizes))
def eq10_dw_block(case: Series, arithmetic: Arithmetic) -> Trial:
    """The DW block after AGeLU is Eq. 10 apart from its batch norm and GeLU: without them, and with alpha = beta = 1
    and theta = 0 in AGeLU, it is.

    AGeLU's gamma is the bias b, phi is GeLU, the convolution has no bias, no skip leads around it, and terms beyond the
    grid are left out.

    Place: Sec. 4.3, the sentences after Eq. 10
    Corrected: DWConv(AGeLU(x))_{h,w,c} = sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c)
    Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
    """
    # Hold what is left of the block against Eq. 10, everywhere.
    block = block_of(case, _CONVOLUTION, arithmetic)
    return equal(after_agelu(block, case, arithmetic), everywhere(case, arithmetic), **case.shown())


_WITHOUT_GELU = replace(PRINTED, depthwise_activation=DepthwiseActivation.NONE)


@claim(normed(), proof=Proof("all numbers and any phi", Normed.sizes))
def eq10_dw_block_batch_norm(case: Normed, arithmetic: Arithmetic) -> Trial:
    """A DW block with its batch norm, without its GeLU, is Eq. 10 with other weights, plus a constant for each channel.

    In evaluation, with mean m, variance v, scale g and shift s of the batch norm: the weights are a g / sqrt(v + eps).
    The constant is all that the batch norm adds to what Eq. 10 can be; it is the GeLU at the end that leads out of it.

    Place: Sec. 4.3, the sentences after Eq. 10
    Corrected: BN(DWConv(AGeLU(x)))_{h,w,c} = r_c sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c) +
        (s_c - m_c r_c), r_c = g_c / sqrt(v_c + eps)
    Bound: that of Eq. 10, 4 u for the reciprocal root, and one rounding for each product and sum
    """
    # Hold the block without its GeLU against Eq. 10 with other weights, and a constant.
    block = case.block(_WITHOUT_GELU, arithmetic)
    return equal(after_agelu(block, case.series, arithmetic), case.normed(arithmetic), **case.shown())


@claim(normed(), proof=Proof("all numbers and any phi", Normed.sizes))
def eq10_series_activation(case: Normed, arithmetic: Arithmetic) -> Trial:
    """VanillaNet's series activation, whose convolution is followed by a batch norm, is Eq. 10 with other weights, plus
    a constant for each channel.

    In evaluation, with mean m, variance v, scale g and shift s of the batch norm, and x + b_c as its input; terms
    beyond the grid are left out.

    Place: Sec. 4.3, Eq. 10, and the sentence before it
    Corrected: SeriesActivation(x + b)_{h,w,c} = r_c sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c) +
        (s_c - m_c r_c), r_c = g_c / sqrt(v_c + 10^-6)
    Bound: that of Eq. 10, 4 u for the reciprocal root, and one rounding for each product and sum
    """
    # Hold the package's module against Eq. 10 with other weights, and a constant.
    module = case.series.module(arithmetic)
    module.norm.eps = 1e-6
    load_norms(case.norms, module.norm, arithmetic)
    printed = case.normed(arithmetic, 1e-6)
    return equal(behind_another(module, case.series.shifted(arithmetic)), printed, **case.shown())


_PARTS = tuple(
    product((DepthwiseNorm.NONE, DepthwiseNorm.BATCH), (DepthwiseActivation.NONE, DepthwiseActivation.GELU), Presence)
)


@dataclass(frozen=True)
class OnePosition:
    """A norm, an activation and a skip, or none of these; and the numbers x, a, b."""

    norm: DepthwiseNorm
    activation: DepthwiseActivation
    skip: Presence
    x: float
    a: float
    b: float


def _cases() -> st.Strategy[OnePosition]:
    x, a, b = st.sampled_from((1.0, 2.0)), st.sampled_from((1.0, -1.0, 0.5)), st.sampled_from((0.0, 1.0))
    return st.sampled_from(_PARTS).flatmap(lambda parts: st.builds(OnePosition, *map(st.just, parts), x, a, b))


@claim(_cases())
def eq10_dw_block_parts(case: OnePosition, arithmetic: Arithmetic) -> Trial:
    """Batch norm, GeLU and skip of a DW block each change what it computes: without all of them it is Eq. 10, and with
    any of them left in it is not, for the numbers tried.

    On a grid of one position, with x of 1 or 2, a weight of 1, -1 or 1/2 and a bias of 0 or 1. (Other numbers can let a
    skip and a GeLU cancel at one position.) The batch norm is as it starts: it still divides by the root of 1 + 10^-5.

    Place: Sec. 4.3, the sentences after Eq. 10
    Corrected: DWBlock(AGeLU(x)) = a phi(x + b) exactly where the block has no norm, no activation and no skip
    Bound: gamma_1 times the product, and that of phi; in every case drawn a part changes more than that
    """
    # Hold whether the block is Eq. 10 against whether it has none of the parts.
    reading = replace(PRINTED, depthwise_norm=case.norm, depthwise_activation=case.activation, depthwise_skip=case.skip)
    one = Series(0, GELU, (case.b,), (((case.x,),),), (((case.a,),),))
    block = block_of(one, reading, arithmetic)
    is_eq10 = equal(after_agelu(block, one, arithmetic), everywhere(one, arithmetic)).holds
    bare = (case.norm, case.activation, case.skip) == (DepthwiseNorm.NONE, DepthwiseActivation.NONE, Presence.NO)
    return Trial(is_eq10 == bare, {**vars(case), "is Eq. 10": is_eq10})


@claim(series(lambda n: 2 * n + 1, largest=1))
def eq10_index_set(case: Series, arithmetic: Arithmetic) -> Trial:
    """Eq. 10, its i and j taken from the set {-n, n} as printed, is phi followed by a depthwise convolution with
    weights a.

    Compared away from the borders, where no index leaves the grid. The set {-n, n} has two elements, so that the sum
    has four terms, the corners of the window, and x_{h,w,c} itself is not among them.

    Place: Sec. 4.3, Eq. 10 and the sentence after it
    Printed: phi_s(x_{h,w,c}) = sum_{i,j in {-n, n}} a_{i,j,c} phi(x_{i+h,j+w,c} + b_c) is equal to going through the
        non-linear function followed by a depthwise convolution
    Nearest: eq10_index_set_corrected
    Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
    """
    # Hold the convolution against the four printed terms.
    rows, columns = interior(case)
    convolved = case.convolved(arithmetic)[:, rows.start : rows.stop, columns.start : columns.stop]
    printed = case.printed(arithmetic, (-case.n, case.n), rows, columns)
    return equal(convolved, printed, **case.shown())


@claim(
    series(lambda n: 2 * n + 1),
    proof=Proof("all numbers and any phi", Series.sizes, cases=series(lambda n: 2 * n + 1, phis=(GELU,))),
)
def eq10_index_set_corrected(case: Series, arithmetic: Arithmetic) -> Trial:
    """Eq. 10, its i and j running from -n to n, is phi followed by a depthwise convolution of (2n+1) x (2n+1) weights.

    Compared away from the borders, where no index leaves the grid. The weight at row i + n and column j + n of the
    kernel is a_{i,j,c}, not flipped, and the bias b_c comes before phi, not with the convolution.

    Place: Sec. 4.3, Eq. 10 and the sentence after it
    Corrected: phi_s(x_{h,w,c}) = sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c)
    Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
    """
    # Hold the convolution against the sum over the whole window.
    rows, columns = interior(case)
    convolved = case.convolved(arithmetic)[:, rows.start : rows.stop, columns.start : columns.stop]
    printed = case.printed(arithmetic, range(-case.n, case.n + 1), rows, columns)
    return equal(convolved, printed, **case.shown())


@claim(st.integers(1, 5))
def eq10_kernel_size(n: int, arithmetic: Arithmetic) -> Trial:
    """Eq. 10 reads as many rows and columns as phi followed by an n x n depthwise convolution.

    The n of the equation and of the sentence after it are one symbol. Whether i and j take the two printed values or
    all between them, the outermost positions are n away to each side.

    Place: Sec. 4.3, the sentence after Eq. 10
    Printed: this is equal to going through the non-linear function followed by a n x n depthwise convolution
    Nearest: eq10_kernel_size_corrected
    Bound: none: rows and columns are counted
    """
    # Hold Eq. 10 as printed against an n x n convolution.
    return judge_kernel(n, (-n, n), n, arithmetic)


@claim(st.integers(1, 5))
def eq10_kernel_size_corrected(n: int, arithmetic: Arithmetic) -> Trial:
    """Eq. 10 with i and j from -n to n reads as many rows and columns as a (2n+1) x (2n+1) depthwise convolution.

    The 3 x 3 convolution that the paper uses as default is Eq. 10 with n = 1.

    Place: Sec. 4.3, the sentence after Eq. 10
    Corrected: this is equal to going through the non-linear function followed by a (2n+1) x (2n+1) depthwise
        convolution
    Bound: none: rows and columns are counted
    """
    # Hold Eq. 10 over the whole range against a (2n+1) x (2n+1) convolution.
    return judge_kernel(n, range(-n, n + 1), 2 * n + 1, arithmetic)


_ONE_PHI = padded(series(lambda n: n + 1, phis=(GELU,), largest=1))


@claim(
    padded(series(lambda n: n + 1, phis=(RELU, GELU, SOFTPLUS))),
    proof=Proof("all numbers and any phi", Padded.sizes, cases=_ONE_PHI),
)
def eq10_padding(case: Padded, arithmetic: Arithmetic) -> Trial:
    """Eq. 10 is phi and a convolution whose padding copies; with x = 0 beyond, it has phi(b_c) times weights in excess.

    Padding that replicates, reflects or wraps around copies values that phi has seen, so the two are equal for every
    b_c. Padding with zeros makes a difference of phi(b_c) times the sum of the weights that stand beyond the grid: none
    for every choice of weights only where phi(b_c) = 0. ReLU and GeLU have phi(0) = 0, SoftPlus has not.

    Place: Sec. 4.3, the sentence after Eq. 10, at the borders of the grid
    Corrected: sum over i, j of a_{i,j,c} phi(x_{i+h,j+w,c} + b_c) = (phi followed by the convolution)_{h,w,c} +
        phi(b_c) sum over (i, j) with (i + h, j + w) beyond the grid of a_{i,j,c}, the last term for padding with zeros
    Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
    """
    # Hold the convolution against the sum less its excess, everywhere.
    less = [
        [[value - _excess(case, arithmetic, h, w, c) for w, value in enumerate(row)] for h, row in enumerate(grid)]
        for c, grid in enumerate(case.printed(arithmetic))
    ]
    return equal(case.convolved(arithmetic), less, **case.shown())


def _excess(case: Padded, arithmetic: Arithmetic, h: int, w: int, c: int) -> Rounded:
    series, zero = case.series, arithmetic.number(0)
    if case.padding != "zeros":
        return zero
    (height, width), n = series.size, series.n
    window = [(i, j) for i in range(-n, n + 1) for j in range(-n, n + 1)]
    beyond = [(i, j) for i, j in window if not (0 <= i + h < height and 0 <= j + w < width)]
    weights = total([zero, *(arithmetic.number(series.a[c][i + n][j + n]) for i, j in beyond)])
    return series.phi.rounded(arithmetic.number(series.b[c])) * weights
