"""Sec. 4.3, before Eq. 10: VanillaNet, whose series activation the equation quotes."""

from functools import partial
from math import sin

import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor, einsum, nn

from imlp_audit.claims import Side, Sides, below, choice, claim, gradients, modules, size, strictly_below, tensors
from imlp_audit.models.new_modules import keeps_type, refuses, starts_as_torchs

from ..vanillanet import SeriesActivation, VanillaNetBlock, build_block
from ._imlp import SMALL, window_sum
from .sec4_3_eq10 import scale_and_shift

BLOCKS = choice(  # how a block is made, its n, and (H, W): hosts are about as small as their kernel allows
    "block", ("by its class", 3, (2, 3)), ("by its class", 3, (5, 4)), ("as a host", 1, (6, 7)),
    ("as a host", 1, (8, 6)), ("as a host with its default", 3, (14, 15)),
)  # fmt: skip
Kind = tuple[str, int, tuple[int, int]]


def make(channels: int, kind: Kind) -> VanillaNetBlock:
    """Return the package's block.

    As a host it is made for a size, which its kernel must fit; its class takes any map.
    """
    how, n, size = kind
    match how:
        case "by its class":
            return VanillaNetBlock(channels)
        case "as a host":
            return build_block(channels, size, n)
        case _:
            assert n == 3
            return build_block(channels, size)


def pooled(m: VanillaNetBlock, x: Tensor) -> Tensor:
    """Return z = maxpool_{2 x 2}(W x + b)."""
    assert m.conv.bias is not None
    mixed = einsum("kc,bchw->bkhw", m.conv.weight[:, :, 0, 0], x) + m.conv.bias[:, None, None]
    return mixed.unfold(2, 2, 2).unfold(3, 2, 2).amax((-2, -1))


C = size("C", 1, 2)


@claim(
    kind=BLOCKS,
    m=modules(make, C, BLOCKS, values=SMALL),
    x=tensors(2, C, BLOCKS.map(lambda kind: kind[2][0]), BLOCKS.map(lambda kind: kind[2][1])),
    place="Sec. 4.3, Eq. 10, and the sentence before it",
    corrected="VanillaNetBlock(x)_{h,w,c} = r_c sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} ReLU(z_{h+i,w+j,c}) + (s_c - "
    "m_c r_c), z = maxpool_{2 x 2}(W x + b), r_c = g_c / sqrt(v_c + 10^-6)",
)
def eq10_vanillanet_block(kind: Kind, m: VanillaNetBlock, x: Tensor) -> Sides:
    """The package's VanillaNet block, with the convolutions that it is trained with merged, is Eq. 10 after a 1x1
    convolution to twice the channels and max pooling to half the grid, with ReLU, n = 3 by default and a batch norm.

    Read as: what stands around Eq. 10 is that of VanillaNet's paper (arXiv 2305.12972, Fig. 1) and its released code:
    no b_c, and a batch norm with 10^-6 added to the variance. In evaluation. A host whose kernel is larger than the
    pooled grid is refused.
    """
    a, n, (r, shift) = m.act.conv.weight[:, 0], kind[1], scale_and_shift(m.act.norm, 1e-6)
    printed = r * window_sum(a, F.relu(pooled(m, x))) + shift
    too_small = (4 * n + 1, 4 * n + 2), (4 * n + 2, 4 * n + 1)
    return [
        (m(x), printed),
        (m(x[1:]), printed[1:]),
        m.get_classifier() == (),
        keeps_type(partial(VanillaNetBlock, len(x[0]), n), x),
        a.shape[1:] == (2 * n + 1, 2 * n + 1),
        all(refuses(partial(build_block, len(x[0]), size, n)) for size in too_small),
    ]


GENERIC = [sin(number) for number in range(1, 200)]  # so that no two numbers that are pooled are equal


@claim(
    m=modules(VanillaNetBlock, 64, training=choice("training", False, True), values=GENERIC),
    x=tensors(2, 64, 28, 28, values=GENERIC),
    place="Sec. 4.3, Eq. 10, and the sentence before it",
    corrected="VanillaNetBlock(x)_{h,w,c} = r_c sum_{i=-3}^{3} sum_{j=-3}^{3} a_{i,j,c} ReLU(z_{h+i,w+j,c}) + (s_c - "
    "m_c r_c), z = maxpool_{2 x 2}(W x + b), r_c = g_c / sqrt(v_c + 10^-6), C = 64, 14 x 14 positions",
    share=0.02,
)
def eq10_vanillanet_block_full_size(m: VanillaNetBlock, x: Tensor) -> Sides:
    """The package's VanillaNet block is Eq. 10 at 64 channels and 14 x 14 positions too, in evaluation and in training,
    and learns by the derivatives of the equation.

    Read as: in training, the batch norm takes the mean and the variance of the batch, and moves its own a tenth of the
    way to them. The depthwise weights start normal, with a standard deviation of 0.02, as in VanillaNet's released
    code; the rest starts as torch's.
    """
    own = {**dict(m.act.norm.named_parameters()), **dict(m.act.norm.named_buffers())}
    mean, variance = own["running_mean"].clone(), own["running_var"].clone()
    y, z = m(x), window_sum(m.act.conv.weight[:, 0], F.relu(pooled(m, x)))
    printed = F.batch_norm(z, mean, variance, own["weight"], own["bias"], m.training, momentum=0.1, eps=1e-6)
    moved: list[Side] = [(own["running_mean"], mean), (own["running_var"], variance)]
    start = VanillaNetBlock(64)
    z = start.act.conv.weight / 0.02
    drawn = [below((z.square().mean() - 1).abs(), 0.1), below((z**4).mean(), 4.0), strictly_below(2.5, (z**4).mean())]
    start.act.conv = nn.Conv2d(1, 1, 1)
    return [(y, printed), (gradients(y, m), gradients(printed, m)), *moved, *drawn, *starts_as_torchs(start)]


@claim(
    module=modules(SeriesActivation, 1, values=SMALL),
    x=tensors(2, 1, st.integers(1, 4), st.integers(1, 4)),
    place="Sec. 4.3, Eq. 10, and the sentence before it",
    corrected="SeriesActivation(x)_{h,w,c} = r_c sum_{i=-3}^{3} sum_{j=-3}^{3} a_{i,j,c} ReLU(x_{h+i,w+j,c}) + (s_c - "
    "m_c r_c), r_c = g_c / sqrt(v_c + 10^-6)",
)
def eq10_series_default(module: SeriesActivation, x: Tensor) -> Sides:
    """VanillaNet's series activation, made with nothing but its width, is Eq. 10 with n = 3 and phi = ReLU, and a batch
    norm that adds 10^-6 to the variance.

    Read as: n, phi and the norm are those of VanillaNet's paper (arXiv 2305.12972) and its released code. In
    evaluation.
    """
    a, (r, shift) = module.conv.weight[:, 0], scale_and_shift(module.norm, 1e-6)
    return [(module(x), r * window_sum(a, F.relu(x)) + shift), a.shape == (1, 7, 7)]
