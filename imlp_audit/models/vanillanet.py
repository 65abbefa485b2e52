"""VanillaNet's series activation (Chen et al., 2023), which Eq. 10 of the IMLP paper quotes."""

from __future__ import annotations

from torch import Tensor, nn


class SeriesActivation(nn.Module):
    """An activation, then a depthwise convolution that reaches `act_num` positions to each side, then a norm.

    Maps (batch, channels, H, W) to the same shape. The convolution is padded with zeros after the activation; it
    has no bias, and neither is there one before the activation, where Eq. 10 has b_c (huawei-noah/VanillaNet,
    models/vanillanet.py, class `activation`).
    """

    def __init__(self, channels: int, act_num: int = 3, act_layer: type[nn.Module] = nn.ReLU) -> None:
        super().__init__()
        self.act = act_layer()
        self.conv = nn.Conv2d(channels, channels, 2 * act_num + 1, padding=act_num, groups=channels, bias=False)
        nn.init.trunc_normal_(self.conv.weight, std=0.02)
        self.norm = nn.BatchNorm2d(channels, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape."""
        y: Tensor = self.norm(self.conv(self.act(x)))
        return y
