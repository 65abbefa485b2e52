"""The lists on CNNs and Vision Transformers: what each operation mixes."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from timm.models.vision_transformer import Attention
from torch import Tensor

from imlp_audit.claims import NONZERO, POSITIVE, Sides, choice, claim, mixes, modules, size, tensors
from imlp_audit.models.mixer import ChannelMixing


def _on_grid(operation: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Make an operation on images of 2 x 2 pixels one on tables of 4 tokens."""
    return lambda table: operation(table.T.reshape(1, -1, 2, 2)).flatten(2)[0].T


def _convolution(kernel: Tensor) -> Callable[[Tensor], Tensor]:
    """Keep the grid, by zero padding."""
    before, after = kernel.shape[-1] // 2, (kernel.shape[-1] - 1) // 2
    return _on_grid(lambda image: F.conv2d(F.pad(image, (before, after) * 2), kernel))


@claim(
    pool=choice("pooling", F.avg_pool2d, F.max_pool2d),
    pixels=tensors(4, 2).map(
        lambda table: table.sort(dim=0, descending=True).values + torch.arange(4.0, 0, -1)[:, None]
    ),
    place="list on CNNs, first item",
    printed="(ii) is implemented with N x N convolutions (for N > 1) and pooling",
)
def pooling_mixes_positions(pool: Callable[..., Tensor], pixels: Tensor) -> Sides:
    """Pooling mixes features between locations, and not at one.

    Read as: with average or max pooling of 2 x 2 windows, one pixel apart on the padded grid, some output depends on an
    input at another location, and none on an input of another channel. Pixels fall along each channel, so that the
    maximum of a window is not always the pixel of its own place.
    """
    pooled = _on_grid(lambda image: pool(F.pad(image, (1, 0, 1, 0)), kernel_size=2, stride=1))
    return mixes(pooled, pixels) == {"tokens"}


@claim(
    kernel=tensors(2, 2, 1, 1, values=NONZERO),
    table=tensors(4, 2),
    place="list on CNNs, second item",
    printed="(i) is implemented with 1 x 1 convolutions",
)
def small_kernels_mix_channels(kernel: Tensor, table: Tensor) -> Sides:
    """Convolutions with a 1 x 1 kernel mix features at a location, and not between locations.

    Read as: some output depends on an input of another channel, none on an input at another location, for any kernel
    without a zero.
    """
    return mixes(_convolution(kernel), table) == {"channels"}


N = size("N", 2, 3)


@claim(
    kernel=tensors(2, 2, N, N, values=NONZERO),
    table=tensors(4, 2),
    place="list on CNNs, first and third item",
    printed="(ii) is implemented with N x N convolutions (for N > 1); larger kernels perform both (i) and (ii)",
)
def large_kernels_mix_both(kernel: Tensor, table: Tensor) -> Sides:
    """Convolutions with an N x N kernel, N > 1, mix features both between locations and at one.

    Read as: some output depends on an input at another location, and some on an input of another channel, for any
    kernel without a zero.
    """
    return mixes(_convolution(kernel), table) == {"tokens", "channels"}


@claim(
    table=tensors(size("tokens", 2, 3), 2),
    values=tensors(2, 2, values=POSITIVE),
    output=tensors(2, 2, values=POSITIVE),
    place="list on Vision Transformers, first item",
    printed="self-attention layers allow both (i) and (ii)",
)
def attention_mixes_both(table: Tensor, values: Tensor, output: Tensor) -> Sides:
    """Self-attention mixes features both at a location and between locations.

    Read as: it can do both in one layer. Queries of 0 show it: every token gets the mean of the projected values of all
    tokens.
    """
    attention = Attention(2, 1, proj_bias=False)
    queries, keys = torch.zeros(2, 2), torch.ones(2, 2)
    attention.load_state_dict({"qkv.weight": torch.cat([queries, keys, values]), "proj.weight": output})
    mean = (table @ values.T).mean(dim=0, keepdim=True) @ output.T
    mixed = mixes(lambda x: attention(x[None])[0], table)
    return [mixed == {"tokens", "channels"}, (attention(table[None])[0], mean.expand(len(table), 2))]


@claim(
    table=tensors(2, 2, values=POSITIVE),
    block=modules(ChannelMixing, 2, 1, values=POSITIVE),
    place="list on Vision Transformers, second item",
    printed="MLP-blocks perform (i)",
)
def mlp_block_mixes_channels(table: Tensor, block: ChannelMixing) -> Sides:
    """A Transformer's MLP block mixes features at a location, and not between locations.

    Read as: with LayerNorm before it and a skip connection around it, some output depends on an input of another
    channel, and none on an input of another token, for positive numbers, where no slope of GELU is near 0 and no two
    paths cancel.
    """
    mixed = mixes(lambda x: block(x[None])[0], table)
    return "tokens" not in mixed and mixes(block.mlp, table) == {"channels"}
