"""UperNet with its auxiliary head on Swin features (arXiv 1807.10221)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from imlp_audit.models.hosts.dense import UperNet
from imlp_audit.models.nets.swin import SwinFeatures, swin_features
from imlp_audit.models.nets.upernet_heads import AuxiliaryHead, DecodeHead, resize


class SwinUperNet(nn.Module):
    """Images (batch, 3, height, width) to a score of each class at each pixel (batch, classes, height, width).

    As in Swin's official segmenter: a decode head of 512 channels on all four maps, and on the third an auxiliary head
    of 256 channels, which is only there to be trained with.
    """

    def __init__(self, backbone: SwinFeatures, size: tuple[int, int], classes: int) -> None:
        super().__init__()
        self.size = size
        self.backbone = backbone
        self.decode_head = DecodeHead(backbone.channels, 512, classes)
        self.auxiliary_head = AuxiliaryHead(backbone.channels[2], 256, classes)

    def forward(self, images: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the scores, in training mode those of the auxiliary head as well."""
        maps = self.backbone(images)
        scores = resize(self.decode_head(maps), images)
        return (scores, resize(self.auxiliary_head(maps[2]), images)) if self.training else scores

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return images of the model's size."""
        return (torch.zeros(batch, 3, *self.size),)

    def get_classifier(self) -> Sequence[nn.Module]:
        """Return the last layer of both heads."""
        return self.decode_head.classifier, self.auxiliary_head.classifier


def build_upernet(host: UperNet, size: tuple[int, int]) -> SwinUperNet:
    """Build the segmenter for images of (height, width) with fresh weights; raises BuildError."""
    return SwinUperNet(swin_features(host.backbone, size), size, host.classes)
