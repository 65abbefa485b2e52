"""LVT's two kinds of self-attention (arXiv 2112.10809, Sec. 3): convolutional, and recursive atrous.

Features are (batch, height, width, channels).
"""

from __future__ import annotations

import torch
from timm.layers import Mlp
from torch import Tensor, nn
from torch.nn import functional as F

KERNEL = 3
WINDOW = KERNEL * KERNEL
"""Positions in a window of convolutional self-attention."""


class ConvolutionalSelfAttention(nn.Module):
    """Attends within windows of 3 x 3, one at every second row and column (CSA).

    In a window, each position's vector is multiplied by a matrix of its own (`weight`); attention weights between the
    nine positions, predicted from the mean of the 2 x 2 pixels that begin at the centre (`attn`), mix the products;
    where windows overlap, they add up. Keeps the shape.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.attn = nn.Linear(width, heads * WINDOW * WINDOW)
        self.weight = nn.Conv2d(WINDOW * width, WINDOW * width, 1, groups=WINDOW, bias=False)
        self.proj = nn.Linear(width, width)

    def weights(self, maps: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the attention weights, (batch, heads, windows, 9, 9)."""
        centres = F.avg_pool2d(maps, kernel_size=2, stride=2, ceil_mode=True).flatten(2).transpose(1, 2)
        scores = self.attn(centres).reshape(*centres.shape[:2], self.heads, WINDOW, WINDOW).transpose(1, 2)
        weights: Tensor = (scores * self.scale).softmax(dim=-1)
        return weights

    def values(self, maps: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the values, (batch, heads, windows, 9, channels / heads)."""
        batch, channels = maps.shape[:2]
        windows = F.unfold(maps, KERNEL, padding=1, stride=2).reshape(batch, channels, WINDOW, -1).permute(0, 3, 2, 1)
        values: Tensor = self.weight(windows.reshape(-1, WINDOW * channels, 1, 1))
        return values.reshape(batch, -1, WINDOW, self.heads, channels // self.heads).permute(0, 3, 1, 2, 4)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, height, width, channels)."""
        maps = x.permute(0, 3, 1, 2)
        mixed = self.weights(maps) @ self.values(maps)
        windows = mixed.permute(0, 1, 4, 3, 2).reshape(len(x), -1, mixed.shape[2])
        maps = F.fold(windows, x.shape[1:3], KERNEL, padding=1, stride=2)
        y: Tensor = self.proj(maps.permute(0, 2, 3, 1))
        return y


class AtrousConvolution(nn.Module):
    """One depthwise 3 x 3 kernel at dilations 1, 3 and 5: the sum of SiLU of what each gives.

    Maps (batch, channels, H, W) to the same shape.
    """

    DILATIONS = (1, 3, 5)

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, 1, KERNEL, KERNEL))
        nn.init.kaiming_uniform_(self.weight)

    def at(self, dilation: int, maps: Tensor) -> Tensor:
        """Convolve at one dilation, and activate."""
        return F.silu(F.conv2d(maps, self.weight, padding=dilation, dilation=dilation, groups=len(self.weight)))

    def forward(self, maps: Tensor) -> Tensor:
        """Keep the shape."""
        near, middle, far = (self.at(dilation, maps) for dilation in self.DILATIONS)
        return near + middle + far


class RecursiveAtrousSelfAttention(nn.Module):
    """Self-attention with atrous queries, applied again and again to its own result plus what it had read (RASA).

    With f the attention and r recursions: h_1 = SiLU(f(x_1)), x_{t+1} = h_t + x_t, and h_r is returned; a single one
    returns f(x_1), without SiLU. Keys and values are of a grid that a convolution of kernel and stride `reduction`
    makes smaller. Keeps the shape.
    """

    def __init__(self, width: int, heads: int, *, reduction: int, recursions: int) -> None:
        super().__init__()
        self.heads, self.recursions = heads, recursions
        self.q = nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, 2 * width, bias=False)
        self.ds = AtrousConvolution(width)
        self.sr = nn.Conv2d(width, width, reduction, stride=reduction) if reduction > 1 else nn.Identity()
        self.norm = nn.LayerNorm(width) if reduction > 1 else nn.Identity()
        self.proj = nn.Linear(width, width)

    def by_head(self, tokens: Tensor) -> Tensor:
        """Map (batch, tokens, channels) to (batch, heads, tokens, channels / heads)."""
        return tokens.reshape(*tokens.shape[:2], self.heads, -1).transpose(1, 2)

    def attend(self, x: Tensor) -> Tensor:
        """Attend once: f above."""
        queries = self.ds(self.q(x).permute(0, 3, 1, 2)).flatten(2).transpose(1, 2)
        reduced = self.norm(self.sr(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)).flatten(1, 2)
        q, k, v = map(self.by_head, (queries, *self.kv(reduced).chunk(2, dim=-1)))
        weights = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(dim=-1)
        y: Tensor = self.proj((weights @ v).transpose(1, 2).reshape(x.shape))
        return y

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, height, width, channels)."""
        if self.recursions == 1:
            return self.attend(x)
        h = F.silu(self.attend(x))
        for _ in range(self.recursions - 1):
            x = h + x
            h = F.silu(self.attend(x))
        return h


class DepthwiseMlp(Mlp):  # type: ignore[misc]  # timm ships no types
    """FC, a 3 x 3 depthwise convolution with bias, GELU, FC: (batch, width, H, W) to the same shape.

    The FC layers are 1 x 1 convolutions, with bias.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__(width, hidden, use_conv=True)
        self.depconv = nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden)

    def forward(self, maps: Tensor) -> Tensor:
        """Keep the shape."""
        hidden = self.drop1(self.act(self.depconv(self.fc1(maps))))
        y: Tensor = self.drop2(self.fc2(hidden))
        return y
