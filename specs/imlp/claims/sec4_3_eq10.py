"""Sec. 4.3, Eq. 10: the depthwise block, its window and its padding."""

from dataclasses import replace
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import functional_call

from imlp_audit.claims import NONZERO, Sides, choice, claim_about, depends, modules, size, tensors
from imlp_audit.models.imlp import AGeLU, DepthwiseBlock
from imlp_audit.models.readings import PRINTED, DepthwiseActivation, DepthwiseNorm, Presence

from ..vanillanet import SeriesActivation
from ._imlp import SMALL, window_sum

Padding = Literal["zeros", "replicate", "reflect", "circular"]
PADDINGS: tuple[Padding, ...] = get_args(Padding)
n, channels = size("n", 1, 2), size("channels", 2, 1)
side = n.map(lambda n: 2 * n + 1)
a, b = tensors(channels, side, side, values=NONZERO), tensors(channels)
phi, any_phi = choice("phi", nn.ReLU, nn.GELU), choice("phi", nn.ReLU, nn.GELU, nn.Softplus)
CONVOLUTION = replace(PRINTED, depthwise_norm=DepthwiseNorm.NONE, depthwise_activation=DepthwiseActivation.NONE)
WITHOUT_GELU = replace(PRINTED, depthwise_activation=DepthwiseActivation.NONE)


def grids(smallest: st.SearchStrategy[int]) -> st.SearchStrategy[Tensor]:
    """Two inputs on a grid, each of whose sides is the smallest that is asked for, or one more."""
    height, width = (st.tuples(smallest, st.integers(0, 1)).map(sum) for _ in range(2))
    return tensors(2, channels, height, width)


def series(phi: type[nn.Module], a: Tensor, x: Tensor) -> Tensor:
    """Return VanillaNet's series activation of x, with the weights a and without its batch norm."""
    module = SeriesActivation(len(a), a.shape[-1] // 2, phi).eval()
    module.norm = nn.Identity()  # type: ignore[assignment]
    y: Tensor = functional_call(module, {"conv.weight": a[:, None]}, x)
    return y


def shift(x: Tensor, b: Tensor) -> Tensor:
    """Return x_{h,w,c} + b_c."""
    return x + b[:, None, None]


def after_agelu(block: DepthwiseBlock, x: Tensor, b: Tensor) -> Tensor:
    """Return DWBlock(AGeLU(x)) with alpha = beta = 1, gamma = b and theta = 0."""
    y: Tensor = block(functional_call(AGeLU(len(b), channels_first=True), {"gamma": b}, x))
    return y


claim = claim_about(x=grids(st.just(1)), a=a, b=b, phi=any_phi, n=size("n", 1, 2, 3, 4, 5))


@claim(
    x=grids(st.just(2)),
    place="Sec. 4.3, Eq. 10, at the borders of the grid",
    corrected="phi_s(x_{h,w,c}) = sum over i, j from -n to n with (h + i, w + j) on the grid of a_{i,j,c} "
    "phi(x_{h+i,w+j,c} + b_c)",
)
def eq10_borders(x: Tensor, a: Tensor, b: Tensor, phi: type[nn.Module]) -> Sides:
    """With the terms left out whose position is beyond the grid, Eq. 10 is phi followed by a zero-padded convolution.

    This holds at every position, the borders included, and for every phi and b_c: what is padded with zeros is the
    output of phi, as in VanillaNet. Eq. 10 itself does not say what x_{h,w,c} is beyond the grid.
    """
    return series(phi, a, shift(x, b)), window_sum(a, phi()(shift(x, b)))


@claim(
    block=modules(DepthwiseBlock, channels, side, CONVOLUTION, nn.GELU, values=SMALL),
    place="Sec. 4.3, the sentences after Eq. 10",
    corrected="DWConv(AGeLU(x))_{h,w,c} = sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c)",
)
def eq10_dw_block(x: Tensor, b: Tensor, block: DepthwiseBlock) -> Sides:
    """The DW block after AGeLU is Eq. 10 apart from its batch norm and GeLU: without them, and with alpha = beta = 1
    and theta = 0 in AGeLU, it is.

    AGeLU's gamma is the bias b, phi is GeLU, the convolution has no bias, no skip leads around it, and terms beyond the
    grid are left out.
    """
    return after_agelu(block, x, b), window_sum(block.conv.weight[:, 0], F.gelu(shift(x, b)))


@claim(
    block=modules(DepthwiseBlock, channels, 3, WITHOUT_GELU, nn.GELU, values=SMALL),
    place="Sec. 4.3, the sentences after Eq. 10",
    corrected="BN(DWConv(AGeLU(x)))_{h,w,c} = r_c sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c) + "
    "(s_c - m_c r_c), r_c = g_c / sqrt(v_c + eps)",
)
def eq10_dw_block_batch_norm(x: Tensor, b: Tensor, block: DepthwiseBlock) -> Sides:
    """A DW block with its batch norm, without its GeLU, is Eq. 10 with other weights, plus a constant for each channel.

    In evaluation, with mean m, variance v, scale g and shift s of the batch norm: the weights are a g / sqrt(v + eps).
    The constant is all that the batch norm adds to what Eq. 10 can be; it is the GeLU at the end that leads out of it.
    """
    r, shift_c = scale_and_shift(block.norm, 1e-5)
    return after_agelu(block, x, b), window_sum(r * block.conv.weight[:, 0], F.gelu(shift(x, b))) + shift_c


def scale_and_shift(norm: nn.Module, eps: float) -> tuple[Tensor, Tensor]:
    """Return r_c = g_c / sqrt(v_c + eps) and s_c - m_c r_c of a batch norm in evaluation, one of each a channel."""
    own = {**dict(norm.named_parameters()), **dict(norm.named_buffers())}
    r = own["weight"] / (own["running_var"] + eps).sqrt()
    return r[:, None, None], (own["bias"] - own["running_mean"] * r)[:, None, None]


@claim(
    module=modules(SeriesActivation, channels, 1, nn.GELU, values=SMALL),
    place="Sec. 4.3, Eq. 10, and the sentence before it",
    corrected="SeriesActivation(x + b)_{h,w,c} = r_c sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c) "
    "+ (s_c - m_c r_c), r_c = g_c / sqrt(v_c + 10^-6)",
)
def eq10_series_activation(x: Tensor, b: Tensor, module: SeriesActivation) -> Sides:
    """VanillaNet's series activation, whose convolution is followed by a batch norm, is Eq. 10 with other weights, plus
    a constant for each channel.

    In evaluation, with mean m, variance v, scale g and shift s of the batch norm, and x + b_c as its input; terms
    beyond the grid are left out.
    """
    r, shift_c = scale_and_shift(module.norm, 1e-6)
    return module(shift(x, b)), r * window_sum(module.conv.weight[:, 0], F.gelu(shift(x, b))) + shift_c


@claim(
    norm=choice("norm", *DepthwiseNorm),
    activation=choice("activation", DepthwiseActivation.NONE, DepthwiseActivation.GELU),
    skip=choice("skip", *Presence),
    x=st.sampled_from((1.0, 2.0)),
    a=st.sampled_from((1.0, -1.0, 0.5)),
    b=st.sampled_from((0.0, 1.0)),
    place="Sec. 4.3, the sentences after Eq. 10",
    corrected="DWBlock(AGeLU(x)) = a phi(x + b) exactly where the block has no norm, no activation and no skip",
)
def eq10_dw_block_parts(
    norm: DepthwiseNorm, activation: DepthwiseActivation, skip: Presence, x: float, a: float, b: float
) -> Sides:
    """Batch norm, GeLU and skip of a DW block each change what it computes: without all of them it is Eq. 10, and with
    any of them left in it is not, for the numbers tried.

    On a grid of one position, with x of 1 or 2, a weight of 1, -1 or 1/2 and a bias of 0 or 1. (Other numbers can let a
    skip and a GeLU cancel at one position.) The batch norm is as it starts: it still divides by the root of 1 + 10^-5.
    """
    reading = replace(PRINTED, depthwise_norm=norm, depthwise_activation=activation, depthwise_skip=skip)
    block = DepthwiseBlock(1, 1, reading, nn.GELU).eval()
    nn.init.constant_(block.conv.weight, a)
    y = after_agelu(block, torch.tensor([[[[x]]]]), torch.tensor([b]))
    is_eq10 = torch.allclose(y, a * F.gelu(torch.tensor(x + b)), rtol=1e-12, atol=1e-12)
    return is_eq10 == ((norm, activation, skip) == (DepthwiseNorm.NONE, DepthwiseActivation.NONE, Presence.NO))


@claim(
    x=grids(side),
    phi=phi,
    place="Sec. 4.3, Eq. 10 and the sentence after it",
    printed="phi_s(x_{h,w,c}) = sum_{i,j in {-n, n}} a_{i,j,c} phi(x_{i+h,j+w,c} + b_c) is equal to going through the "
    "non-linear function followed by a depthwise convolution",
    nearest="eq10_index_set_corrected",
    examples=[{"x": torch.ones(2, 1, 3, 3), "a": torch.ones(1, 3, 3), "b": torch.zeros(1), "phi": nn.ReLU}],
)
def eq10_index_set(x: Tensor, a: Tensor, b: Tensor, phi: type[nn.Module]) -> Sides:
    """Eq. 10, its i and j taken from the set {-n, n} as printed, is phi followed by a depthwise convolution with
    weights a.

    Compared away from the borders, where no index leaves the grid. The set {-n, n} has two elements, so that the sum
    has four terms, the corners of the window, and x_{h,w,c} itself is not among them.
    """
    n = a.shape[-1] // 2
    inside = (..., slice(n, -n), slice(n, -n))
    return series(phi, a, shift(x, b))[inside], window_sum(a, phi()(shift(x, b)), (-n, n))[inside]


@claim(
    x=grids(side),
    phi=phi,
    place="Sec. 4.3, Eq. 10 and the sentence after it",
    corrected="phi_s(x_{h,w,c}) = sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c)",
)
def eq10_index_set_corrected(x: Tensor, a: Tensor, b: Tensor, phi: type[nn.Module]) -> Sides:
    """Eq. 10, its i and j running from -n to n, is phi followed by a depthwise convolution of (2n+1) x (2n+1) weights.

    Compared away from the borders, where no index leaves the grid. The weight at row i + n and column j + n of the
    kernel is a_{i,j,c}, not flipped, and the bias b_c comes before phi, not with the convolution.
    """
    n = a.shape[-1] // 2
    inside = (..., slice(n, -n), slice(n, -n))
    return series(phi, a, shift(x, b))[inside], window_sum(a, phi()(shift(x, b)), range(-n, n + 1))[inside]


def extent(places: Tensor) -> tuple[int, int]:
    """Return how many rows and columns lie between the outermost positions, these included."""
    rows, columns = places.nonzero().T
    return int(rows.max() - rows.min()) + 1, int(columns.max() - columns.min()) + 1


def read_by_convolution(n: int, kernel: int) -> tuple[int, int]:
    """Return how many rows and columns an output of phi and a kernel x kernel convolution reads, far from borders."""
    weight, middle, size = torch.ones(1, 1, kernel, kernel), 2 * n, 4 * n + 1

    def output(x: Tensor) -> Tensor:
        return F.conv2d(F.relu(x)[None, None], weight, padding=kernel // 2)[0, 0, middle, middle]

    return extent(depends(output, torch.ones(size, size)))


def read_by_eq10(n: int, *indices: int) -> tuple[int, int]:
    """Return how many rows and columns Eq. 10 reads with i and j of these."""
    middle, size = 2 * n, 4 * n + 1
    rows, columns = zip(*((middle + i, middle + j) for i in indices for j in indices), strict=True)
    return extent(depends(lambda x: F.relu(x[rows, columns]).sum(), torch.ones(size, size)))


@claim(
    place="Sec. 4.3, the sentence after Eq. 10",
    printed="this is equal to going through the non-linear function followed by a n x n depthwise convolution",
    nearest="eq10_kernel_size_corrected",
    examples=[{"n": 1}],
)
def eq10_kernel_size(n: int) -> Sides:
    """Eq. 10 reads as many rows and columns as phi followed by an n x n depthwise convolution.

    The n of the equation and of the sentence after it are one symbol. Whether i and j take the two printed values or
    all between them, the outermost positions are n away to each side.
    """
    return torch.tensor(read_by_eq10(n, -n, n)), torch.tensor(read_by_convolution(n, n))


@claim(
    place="Sec. 4.3, the sentence after Eq. 10",
    corrected="this is equal to going through the non-linear function followed by a (2n+1) x (2n+1) depthwise "
    "convolution",
)
def eq10_kernel_size_corrected(n: int) -> Sides:
    """Eq. 10 with i and j from -n to n reads as many rows and columns as a (2n+1) x (2n+1) depthwise convolution.

    The 3 x 3 convolution that the paper uses as default is Eq. 10 with n = 1.
    """
    return torch.tensor(read_by_eq10(n, *range(-n, n + 1))), torch.tensor(read_by_convolution(n, 2 * n + 1))


@claim(
    x=tensors(2, 2, n.map(lambda n: n + 1), n.map(lambda n: n + 2)),
    a=tensors(2, side, side, values=NONZERO),
    b=tensors(2),
    padding=choice("padding", *PADDINGS),
    place="Sec. 4.3, the sentence after Eq. 10, at the borders of the grid",
    corrected="sum over i, j of a_{i,j,c} phi(x_{i+h,j+w,c} + b_c) = (phi followed by the convolution)_{h,w,c} + "
    "phi(b_c) sum over (i, j) with (i + h, j + w) beyond the grid of a_{i,j,c}, the last term for padding with zeros",
)
def eq10_padding(x: Tensor, a: Tensor, b: Tensor, phi: type[nn.Module], padding: Padding) -> Sides:
    """Eq. 10 is phi and a convolution whose padding copies; with x = 0 beyond, it has phi(b_c) times weights in excess.

    Padding that replicates, reflects or wraps around copies values that phi has seen, so the two are equal for every
    b_c. Padding with zeros makes a difference of phi(b_c) times the sum of the weights that stand beyond the grid: none
    for every choice of weights only where phi(b_c) = 0. ReLU and GeLU have phi(0) = 0, SoftPlus has not.
    """
    n, (H, W) = a.shape[-1] // 2, x.shape[-2:]
    conv = nn.Conv2d(len(a), len(a), 2 * n + 1, padding=n, groups=len(a), bias=False, padding_mode=padding)
    convolved = functional_call(conv, {"weight": a[:, None]}, phi()(shift(x, b)))
    if padding == "zeros":
        further = F.pad(x, (n, n, n, n))
        beyond = 1 - F.pad(torch.ones(1, len(a), H, W), (n, n, n, n))
        convolved = convolved + (phi()(b)[:, None, None] * window_sum(a, beyond))[..., n : n + H, n : n + W]
    else:
        further = x[..., mirrored(padding, n, H), :][..., mirrored(padding, n, W)]
    return window_sum(a, phi()(shift(further, b)))[..., n : n + H, n : n + W], convolved


def mirrored(padding: Padding, n: int, size: int) -> Tensor:
    """Return which row stands in each of rows -n, ..., size + n - 1."""
    index = torch.arange(-n, size + n)
    match padding:
        case "replicate":
            return index.clamp(0, size - 1)
        case "circular":
            return index % size
        case _:
            return size - 1 - (size - 1 - index.abs()).abs()
