"""The four feature maps of a Swin Transformer, as detectors and segmenters read them (arXiv 2103.14030, Sec. 4.2)."""

from __future__ import annotations

import timm
from timm.models import is_model_in_modules
from torch import Tensor, nn

from imlp_audit.errors import BuildError, did_you_mean

PATCH = 4


class SwinFeatures(nn.Module):
    """timm's Swin without its head, and a norm on the output of each stage, as the official detectors have it.

    Maps images (batch, 3, height, width) of the `size` given to maps (batch, `channels`[i], height / s, width / s) at
    the strides s = 4, 8, 16, 32, the sides rounded up. A grid that the windows do not divide is padded, and one that is
    smaller than a window too, so that the parameters do not depend on the size. (timm shifts a grid before it pads it,
    the official code pads first: the same work, but where a grid is padded not the same function.)
    """

    def __init__(self, name: str, size: tuple[int, int]) -> None:
        super().__init__()
        self.body = timm.create_model(name, pretrained=False, features_only=True, img_size=size, always_partition=True)
        self.channels: list[int] = self.body.feature_info.channels()
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for channels in self.channels)

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return the maps, the finest first; timm's have their channels last."""
        maps = self.body(images)
        return [norm(x).permute(0, 3, 1, 2).contiguous() for norm, x in zip(self.norms, maps, strict=True)]


def swin_features(name: str, size: tuple[int, int]) -> SwinFeatures:
    """Build the features with fresh weights; raise BuildError unless it is a Swin of timm made of patches."""
    if not is_model_in_modules(name, ("swin_transformer",)):
        swins = timm.list_models(module="swin_transformer")
        raise BuildError(f"backbone: {name!r} is not a Swin Transformer of timm; {did_you_mean(name, swins, 'it has')}")
    for side in size:
        if side % PATCH:
            raise BuildError(f"image: the patches of {PATCH} do not divide {side}")
    return SwinFeatures(name, size)
