"""UperNet's decode head and its auxiliary head (arXiv 1807.10221, Fig. 4); equal to transformers' own by a test.

Restated because importing transformers takes as long as importing torch. The names are those of transformers.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

POOLED = (1, 2, 3, 6)  # sides of the grids that the pyramid of the last map is pooled to


class ConvModule(nn.Module):
    """A convolution that keeps the grid, a batch norm and a ReLU."""

    def __init__(self, inputs: int, channels: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, channels, kernel, padding=kernel // 2, bias=False)
        self.batch_norm = nn.BatchNorm2d(channels)
        self.activation = nn.ReLU()  # a module, because mmcv counts modules

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, height, width) to (batch, channels, height, width)."""
        result: Tensor = self.activation(self.batch_norm(self.conv(x)))
        return result


class DecodeHead(nn.Module):
    """The four maps of a backbone, the finest first, to a score of each class on the finest one's grid."""

    def __init__(self, widths: Sequence[int], channels: int, classes: int) -> None:
        super().__init__()
        *lower, last = widths
        self.classifier = nn.Conv2d(channels, classes, 1)
        self.psp_modules = nn.ModuleList(
            nn.Sequential(nn.AdaptiveAvgPool2d(side), ConvModule(last, channels, 1)) for side in POOLED
        )
        self.bottleneck = ConvModule(last + len(POOLED) * channels, channels, 3)
        self.lateral_convs = nn.ModuleList(ConvModule(width, channels, 1) for width in lower)
        self.fpn_convs = nn.ModuleList(ConvModule(channels, channels, 3) for _ in lower)
        self.fpn_bottleneck = ConvModule(len(widths) * channels, channels, 3)

    def forward(self, maps: Sequence[Tensor]) -> Tensor:
        """Map (batch, widths[i], height / s, width / s) at the strides s to (batch, classes, height / 4, width / 4)."""
        *lower, last = maps
        pooled = [resize(pool(last), last) for pool in self.psp_modules]
        top = self.bottleneck(torch.cat([last, *pooled], dim=1))
        laterals = [conv(x) for conv, x in zip(self.lateral_convs, lower, strict=True)]
        pyramid = [top]
        for lateral in reversed(laterals):
            pyramid.insert(0, lateral + resize(pyramid[0], lateral))
        levels = [*(conv(x) for conv, x in zip(self.fpn_convs, pyramid[:-1], strict=True)), top]
        joined = torch.cat([levels[0], *(resize(x, levels[0]) for x in levels[1:])], dim=1)
        scores: Tensor = self.classifier(self.fpn_bottleneck(joined))
        return scores


class AuxiliaryHead(nn.Module):
    """One map of a backbone to a score of each class on its grid."""

    def __init__(self, width: int, channels: int, classes: int) -> None:
        super().__init__()
        self.classifier = nn.Conv2d(channels, classes, 1)
        self.convs = nn.Sequential(ConvModule(width, channels, 3))

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, width, height, width) to (batch, classes, height, width)."""
        scores: Tensor = self.classifier(self.convs(x))
        return scores


def resize(x: Tensor, like: Tensor) -> Tensor:
    """Return maps at the grid of others."""
    return F.interpolate(x, like.shape[2:], mode="bilinear")
