"""VanillaNet's series activation and block (Chen et al., arXiv 2305.12972); imlp's Eq. 10 quotes the activation."""

from torch import Tensor, nn

from imlp_audit.errors import BuildError


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


class VanillaNetBlock(nn.Module):
    """A 1x1 convolution to twice the channels, max pooling to half the grid, and the series activation (Fig. 1).

    Maps (batch, channels, H, W) to (batch, 2 channels, H / 2, W / 2), as stages 1 to 3 do. In training the convolution
    is two with a norm after each, between them an activation that fades into the identity (Sec. 3.1); this is the block
    with the two merged, as it stands in the figure and runs (huawei-noah/VanillaNet, class `Block`).
    """

    def __init__(self, channels: int, act_num: int = 3) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, 2 * channels, 1)
        self.pool = nn.MaxPool2d(2)
        self.act = SeriesActivation(2 * channels, act_num)

    def forward(self, x: Tensor) -> Tensor:
        """Double the channels and halve the grid."""
        y: Tensor = self.act(self.pool(self.conv(x)))
        return y

    def get_classifier(self) -> tuple[nn.Module, ...]:
        """Return nothing: a block has no classifier."""
        return ()


def build_block(channels: int, size: tuple[int, int], act_num: int = 3) -> VanillaNetBlock:
    """Build the block for maps of a height and width; raises BuildError where its kernel is larger than they become."""
    kernel, pooled = 2 * act_num + 1, (size[0] // 2, size[1] // 2)
    if kernel > min(pooled):
        raise BuildError(
            f"act_num: a kernel of {kernel}x{kernel} is larger than the pooled map, {pooled[0]}x{pooled[1]}"
        )
    return VanillaNetBlock(channels, act_num)
