"""LVT, the Lite Vision Transformer, with its ImageNet classifier (Yang et al., CVPR 2022, arXiv 2112.10809).

After the authors' code: github Chenglin-Yang/LVT, classification/models/lvt.py and lvt_cls.py, configs/lvt_imagenet.py.
Modules bear the names they have there, so that the published weights load as they are. What that code does only
in training (stochastic depth, mixing of tokens between images) is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from timm.layers import Mlp
from timm.models.pvt_v2 import OverlapPatchEmbed
from timm.models.volo import ClassBlock
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models.hosts.lvt import Lvt
from imlp_audit.models.nets.lvt_layers import ConvolutionalSelfAttention, DepthwiseMlp, RecursiveAtrousSelfAttention


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


class LocalBlock(nn.Module):
    """A block of the first stage: CSA, then a plain MLP, each after a norm and beside a skip."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(stage.width)
        self.attn = ConvolutionalSelfAttention(stage.width, stage.heads)
        self.norm2 = nn.LayerNorm(stage.width)
        self.mlp = Mlp(stage.width, stage.mlp_ratio * stage.width)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, height, width, channels)."""
        x = x + self.attn(self.norm1(x))
        y: Tensor = x + self.mlp(self.norm2(x))
        return y


class GlobalBlock(nn.Module):
    """A block of a later stage: RASA, then an MLP that convolves, each after a norm and beside a skip."""

    def __init__(self, stage: Stage, reduction: int, recursions: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(stage.width)
        self.attn = RecursiveAtrousSelfAttention(stage.width, stage.heads, reduction=reduction, recursions=recursions)
        self.norm2 = nn.LayerNorm(stage.width)
        self.mlp = DepthwiseMlp(stage.width, stage.mlp_ratio * stage.width)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, height, width, channels)."""
        x = x + self.attn(self.norm1(x))
        maps = self.mlp(self.norm2(x).permute(0, 3, 1, 2))
        y: Tensor = x + maps.permute(0, 2, 3, 1)
        return y


def _stage(channels: int, stage: Stage, recursions: int) -> nn.Module:
    """Make a stage: (batch, channels, H, W) to (batch, H / stride, W / stride, width), rounded up."""
    blocks: list[nn.Module]
    if stage.reduction is None:
        blocks = [LocalBlock(stage) for _ in range(BLOCKS)]
    else:
        blocks = [GlobalBlock(stage, stage.reduction, recursions) for _ in range(BLOCKS)]
    return nn.Sequential(OverlapPatchEmbed(stage.patch, stage.stride, channels, stage.width), nn.Sequential(*blocks))


class LiteVisionTransformer(nn.Module):
    """Four stages of smaller and smaller grids, then blocks of class-attention as VOLO has them: images to logits.

    The logits are those of the class token, plus half the largest over the patches of those of the head that token
    labelling trains (`aux_head`). `size` is the (H, W) of the images.
    """

    def __init__(self, recursions: int, size: tuple[int, int], classes: int) -> None:
        super().__init__()
        self.size = size
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

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return images of the model's size, (batch, 3, H, W), on the current default device."""
        return (torch.zeros(batch, 3, *self.size),)


def build_lvt(host: Lvt, size: tuple[int, int], classes: int) -> nn.Module:
    """Build LVT with its classifier for images of `size` (H, W). Raises BuildError for images that are too small."""
    for side in size:
        _check_reductions(side)
    return LiteVisionTransformer(host.recursions, size, classes)


def _check_reductions(side: int) -> None:
    """Raise BuildError where a stage's grid has no room for one of the patches that its keys and values are made of."""
    grid = side
    for stage in STAGES:
        grid = -(-grid // stage.stride)
        if stage.reduction is not None and grid < stage.reduction:
            raise BuildError(
                f"image: {side} pixels give LVT a grid of side {grid}, smaller than its reduction of keys and"
                f" values, {stage.reduction}"
            )
