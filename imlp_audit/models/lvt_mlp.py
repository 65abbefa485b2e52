"""LVT's MLP with a depthwise convolution inside."""

from __future__ import annotations

from timm.layers import Mlp
from torch import Tensor, nn


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
