"""LVT, the Lite Vision Transformer, with its ImageNet classifier (Yang et al., CVPR 2022, arXiv 2112.10809).

After the authors' code: github Chenglin-Yang/LVT, classification/models/lvt.py and lvt_cls.py, configs/lvt_imagenet.py.
Modules bear the names they have there, so that the published weights load as they are. What that code does only
in training (stochastic depth, mixing of tokens between images) is left out. Features are (batch, height, width,
channels).
"""

from dataclasses import dataclass

import torch
from timm.layers import Mlp
from timm.models.pvt_v2 import OverlapPatchEmbed
from timm.models.volo import ClassBlock
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


@dataclass(frozen=True)
class Stage:
    """The sizes of a stage of two blocks; its patches overlap, and are of side `patch`, one every `stride` pixels.

    `reduction` is that of RASA's keys and values, None where the blocks are local.
    """

    width: int
    heads: int
    mlp_ratio: int
    patch: int
    stride: int
    reduction: int | None


STAGES = (
    Stage(width=64, heads=2, mlp_ratio=4, patch=7, stride=4, reduction=None),
    Stage(width=64, heads=2, mlp_ratio=8, patch=3, stride=2, reduction=4),
    Stage(width=160, heads=5, mlp_ratio=4, patch=3, stride=2, reduction=2),
    Stage(width=256, heads=8, mlp_ratio=4, patch=3, stride=2, reduction=1),
)
BLOCKS = 2
"""Blocks of a stage, and blocks of class-attention."""


class Block(nn.Module):
    """Attention, then an MLP, each after a norm and beside a skip; the MLP of a later stage convolves maps."""

    def __init__(self, width: int, attn: nn.Module, mlp: nn.Module, *, on_maps: bool) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn = attn
        self.norm2 = nn.LayerNorm(width)
        self.mlp = mlp
        self.on_maps = on_maps

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, height, width, channels)."""
        x = x + self.attn(self.norm1(x))
        normal = self.norm2(x)
        y: Tensor = self.mlp(normal.permute(0, 3, 1, 2)).permute(0, 2, 3, 1) if self.on_maps else self.mlp(normal)
        return x + y


def _block(stage: Stage, recursions: int) -> Block:
    """Make a block of the first stage, of CSA and a plain MLP, or of a later one, of RASA and an MLP that convolves."""
    width, hidden = stage.width, stage.mlp_ratio * stage.width
    if stage.reduction is None:
        return Block(width, ConvolutionalSelfAttention(width, stage.heads), Mlp(width, hidden), on_maps=False)
    rasa = RecursiveAtrousSelfAttention(width, stage.heads, reduction=stage.reduction, recursions=recursions)
    return Block(width, rasa, DepthwiseMlp(width, hidden), on_maps=True)


def _stage(channels: int, stage: Stage, recursions: int) -> nn.Module:
    """Make a stage: (batch, channels, H, W) to (batch, H / stride, W / stride, width), rounded up."""
    blocks = nn.Sequential(*(_block(stage, recursions) for _ in range(BLOCKS)))
    return nn.Sequential(OverlapPatchEmbed(stage.patch, stage.stride, channels, stage.width), blocks)


class LiteVisionTransformer(nn.Module):
    """Four stages of smaller and smaller grids, then blocks of class-attention as VOLO has them: images to logits.

    The logits are those of the class token, plus half the largest over the patches of those of the head that token
    labelling trains (`aux_head`). `recursions` is r_num of the recursive atrous self-attention: LVT-R1 to R4.
    """

    def __init__(self, recursions: int, classes: int = 1000) -> None:
        super().__init__()
        channels = (3, *(stage.width for stage in STAGES[:-1]))
        self.backbone = nn.ModuleList(_stage(c, stage, recursions) for c, stage in zip(channels, STAGES, strict=True))
        last = STAGES[-1]
        self.cls_token = nn.Parameter(torch.empty(1, 1, last.width))
        nn.init.trunc_normal_(self.cls_token, std=0.02)
        self.post_network = nn.Sequential(
            *(ClassBlock(last.width, last.heads, mlp_ratio=last.mlp_ratio) for _ in range(BLOCKS))
        )
        self.norm = nn.LayerNorm(last.width)
        self.head = nn.Linear(last.width, classes)
        self.aux_head = nn.Linear(last.width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Map (batch, 3, H, W) to (batch, classes)."""
        maps = images
        for stage in self.backbone:
            maps = stage(maps).permute(0, 3, 1, 2)
        patches = maps.flatten(2).transpose(1, 2)
        tokens = torch.cat((self.cls_token.expand(len(patches), -1, -1), patches), dim=1)
        tokens = self.norm(self.post_network(tokens))
        logits: Tensor = self.head(tokens[:, 0]) + 0.5 * self.aux_head(tokens[:, 1:]).amax(dim=1)
        return logits

    def get_classifier(self) -> tuple[nn.Module, nn.Module]:
        """Return the heads of the class token and of the patches."""
        return self.head, self.aux_head
