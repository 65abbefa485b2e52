"""Sec. 4.3: what the depthwise block adds, and which positions an output depends on."""

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.claims import Sides, choice, claim_about, depends, modules, size, tensors
from imlp_audit.models.imlp import ChannelPart, DepthwiseBlock, Imlp
from imlp_audit.models.new_modules import of_ones
from imlp_audit.models.readings import PRINTED

from ._imlp import SMALL, window_sum
from .sec4_3_eq10 import after_agelu, scale_and_shift, shift

SIDE = st.integers(1, 6)
n = choice("n", 3, 5, 7)  # kernels of Table 5 but 1


def seen(n: int, L: int, H: int, W: int) -> Tensor:
    """Return which positions (i, j) each output (h, w) of L IMLPs depends on, of shape (H, W, H, W)."""
    stack = of_ones(nn.Sequential(*(Imlp(1, 1, reading=PRINTED, kernel=n, grid=(H, W)) for _ in range(L))))
    return depends(lambda x: stack(x.reshape(1, H * W, 1)).reshape(H, W), torch.ones(H, W))


def distance(H: int, W: int) -> Tensor:
    """Return max(|i - h|, |j - w|), of shape (H, W, H, W)."""
    h, w, i, j = torch.meshgrid(*map(torch.arange, (H, W, H, W)), indexing="ij")
    return torch.maximum((i - h).abs(), (j - w).abs())


claim = claim_about(n=n, H=SIDE, W=SIDE)


@claim(
    C=size("C"),
    half=size("C'/2", 1, 2, 3, 4),
    place="Sec. 4.3, first sentence",
    printed="the degree of freedom of {w^d_{i,f(j)}}_{j=1}^{C'} in Eq. 6 are halved compared to the original "
    "{w^a_{ij}}_{j=1}^{C'} in Eq. 2",
)
def freedom_halved(C: int, half: int) -> Sides:
    """In the AMLP, the C' hidden units share C'/2 columns of W^d, unit j the column f(j); in the MLP each has its
    own.
    """
    part = of_ones(ChannelPart(half, PRINTED, nn.GELU, channels_first=False))
    of_amlp = depends(lambda Wd: part(torch.ones(C) @ Wd), torch.ones(C, half)).any(1)
    of_mlp = depends(lambda Wa: F.gelu(torch.ones(C) @ Wa), torch.ones(C, 2 * half)).any(1)
    j, column = torch.arange(2 * half)[:, None], torch.arange(half)
    f = j - half * (j >= half)
    return [(of_amlp, f == column), (of_mlp, j == torch.arange(2 * half))]


C, H, W = size("channels", 1, 2), size("H", 1, 2), size("W", 1, 2)


@claim(
    x=tensors(2, C, H, W),
    b=tensors(C),
    block=modules(DepthwiseBlock, C, 3, PRINTED, nn.GELU, values=SMALL),
    place="Sec. 4.3, after Eq. 10",
    printed="we modify our AMLP module by introducing a DW Block (DW Conv with BN and GeLU) after AGeLU",
)
def depthwise_block(x: Tensor, b: Tensor, block: DepthwiseBlock) -> Sides:
    """The DW block is a depthwise convolution, then a batch norm, then GeLU.

    Read as: in the order in which they are named, in evaluation, without a skip; what comes in is AGeLU(x).
    """
    r, shift_c = scale_and_shift(block.norm, 1e-5)
    return after_agelu(block, x, b), F.gelu(r * window_sum(block.conv.weight[:, 0], F.gelu(shift(x, b))) + shift_c)


@claim(
    place="Sec. 4.3, the sentence after Eq. 10, and Sec. 5.2 on Table 5",
    printed="DW Conv after the non-linear function utilizes the spatial information and enhances non-linearity by "
    "learning global information from its neighbors",
    nearest="depthwise_global_corrected",
    examples=[{"n": 3, "H": 1, "W": 3}],
)
def depthwise_global(n: int, H: int, W: int) -> Sides:
    """A DW block in an IMLP lets each output depend on every position of the grid.

    Read as: information is global where it comes from all positions. Kernels are those of Table 5 but n = 1.
    """
    return seen(n, 1, H, W), torch.ones(H, W, H, W).bool()


@claim(
    place="Sec. 4.3, the sentence after Eq. 10",
    corrected="output (h, w) depends on input (i, j) exactly where |i - h| <= (n - 1) / 2 and |j - w| <= (n - 1) / 2",
)
def depthwise_global_corrected(n: int, H: int, W: int) -> Sides:
    """A DW block in an IMLP lets each output depend on the n x n window around it, and on nothing beyond."""
    return seen(n, 1, H, W), distance(H, W) <= (n - 1) / 2


@claim(
    n=choice("n", 1, 3, 5, 7),
    H=st.integers(1, 4),
    W=st.integers(1, 4),
    place="Sec. 4.3, the sentence after Eq. 10",
    corrected="every output depends on every input exactly where max(H, W) <= (n + 1) / 2",
)
def depthwise_global_on_small_grids(n: int, H: int, W: int) -> Sides:
    """A DW block is global, every output depending on every position, where no side of the grid exceeds (n + 1) / 2.

    Only there: a grid as large as the kernel is not enough, since an output at its border sees half of the kernel. The
    14 x 14 grid of DeiT takes n = 27.
    """
    return bool(seen(n, 1, H, W).all()) == (max(H, W) <= (n + 1) / 2)


@claim(
    L=choice("L", 1, 2, 3),
    examples=[  # the smallest grids that the layers do not span
        {"n": n, "L": L, "H": 1, "W": L * (n - 1) // 2 + 2} for n in (3, 5, 7) for L in (1, 2, 3)
    ],
    place="Sec. 4.3, the sentence after Eq. 10",
    corrected="output (h, w) depends on input (i, j) exactly where max(|i - h|, |j - w|) <= L (n - 1) / 2",
)
def depthwise_stacked(n: int, L: int, H: int, W: int) -> Sides:
    """L IMLPs one after the other let each output depend on a window of 1 + L (n - 1) rows and columns."""
    return seen(n, L, H, W), distance(H, W) <= L * (n - 1) / 2
