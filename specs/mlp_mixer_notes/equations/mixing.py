"""The lists on CNNs and Vision Transformers: what each operation mixes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch.nn.functional as F
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.dependence import (
    BOTH,
    ONLY_CHANNELS,
    ONLY_TOKENS,
    Averaging,
    Kernel,
    averagings,
    convolution,
    kernels,
    mixes,
    on_grid,
)
from imlp_audit.equations.mixer import Mixing, channel_mixings
from imlp_audit.equations.strategies import NUMBERS, Matrix, plain, positive

_POOLINGS: Mapping[str, Callable[..., Tensor]] = {"average": F.avg_pool2d, "max": F.max_pool2d}

_channel = st.permutations([number for number in NUMBERS if number > 0]).map(
    lambda pixels: sorted(pixels[:4], reverse=True)
)

_tables = st.tuples(_channel, _channel).map(lambda channels: tuple(zip(*channels, strict=True)))


@claim(st.tuples(st.sampled_from(list(_POOLINGS)), _tables))
def pooling_mixes_positions(case: tuple[str, Matrix], arithmetic: Arithmetic) -> Trial:
    """Pooling mixes features between locations, and not at one.

    Read as: with average or max pooling of 2 x 2 windows, one pixel apart on the padded grid, some output depends on an
    input at another location, and none on an input of another channel. Pixels fall along each channel, so that the
    maximum of a window is not always the pixel of its own place.

    Place: list on CNNs, first item
    Printed: (ii) is implemented with N x N convolutions (for N > 1) and pooling
    Bound: none: derivatives are 1/4 or 1 where a path leads, and exactly zero elsewhere
    """
    # Look at what pooling links on a grid of 2 x 2.
    name, table = case
    pool = _POOLINGS[name]
    found = mixes(
        on_grid(lambda image: pool(F.pad(image, (1, 0, 1, 0)), kernel_size=2, stride=1)), arithmetic.tensor(table)
    )
    return Trial(found == ONLY_TOKENS, {"pooling": name, "pixels": table, "mixes": found})


@claim(kernels(st.just(1)))
def small_kernels_mix_channels(case: Kernel, arithmetic: Arithmetic) -> Trial:
    """Convolutions with a 1 x 1 kernel mix features at a location, and not between locations.

    Read as: some output depends on an input of another channel, none on an input at another location, for any kernel
    without a zero.

    Place: list on CNNs, second item
    Printed: (i) is implemented with 1 x 1 convolutions
    Bound: none: the derivatives are the kernel's weights, and exactly zero where no path leads
    """
    # Look at what the convolution links on a grid of 2 x 2.
    found = mixes(convolution(case, arithmetic), arithmetic.tensor([[0.0] * len(case)] * 4))
    return Trial(found == ONLY_CHANNELS, {"kernel": case, "mixes": found})


@claim(kernels(st.sampled_from([2, 3])))
def large_kernels_mix_both(case: Kernel, arithmetic: Arithmetic) -> Trial:
    """Convolutions with an N x N kernel, N > 1, mix features both between locations and at one.

    Read as: some output depends on an input at another location, and some on an input of another channel, for any
    kernel without a zero.

    Place: list on CNNs, first and third item
    Printed: (ii) is implemented with N x N convolutions (for N > 1); larger kernels perform both (i) and (ii)
    Bound: none: the derivatives are the kernel's weights
    """
    # Look at what the convolution links on a grid of 2 x 2.
    found = mixes(convolution(case, arithmetic), arithmetic.tensor([[0.0] * len(case)] * 4))
    return Trial(found == BOTH, {"kernel": case, "mixes": found})


@claim(averagings())
def attention_mixes_both(case: Averaging, arithmetic: Arithmetic) -> Trial:
    """Self-attention mixes features both at a location and between locations.

    Read as: it can do both in one layer. Queries of 0 show it: every token gets the mean of the projected values of all
    tokens.

    Place: list on Vision Transformers, first item
    Printed: self-attention layers allow both (i) and (ii)
    Bound: none: the derivatives are sums of products of positive weights
    """
    # Look at what attention links.
    found = mixes(case.attention(arithmetic), arithmetic.tensor(case.table))
    shown = {"X": case.table, "value weights": case.values, "output weights": case.projection}
    return Trial(found == BOTH, {**shown, "mixes": found})


@claim(plain(channel_mixings(st.just(2), st.just(2), st.just(1), positive())))
def mlp_block_mixes_channels(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """A Transformer's MLP block mixes features at a location, and not between locations.

    Read as: with LayerNorm before it and a skip connection around it, some output depends on an input of another
    channel, and none on an input of another token, for positive numbers, where no slope of GELU is near 0 and no two
    paths cancel.

    Place: list on Vision Transformers, second item
    Printed: MLP-blocks perform (i)
    Bound: none: derivatives are exactly zero where no path leads
    """
    # Look at what the block links, and its MLP alone.
    block, table = case.channel_mixing(arithmetic), arithmetic.tensor(case.table)
    found, of_mlp = mixes(lambda x: block(x[None])[0], table), mixes(block.mlp, table)
    shown = {"X": case.table, "first matrix": case.first, "second matrix": case.second}
    return Trial(not found.tokens and of_mlp == ONLY_CHANNELS, {**shown, "block mixes": found, "its MLP": of_mlp})
