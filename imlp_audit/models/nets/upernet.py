"""UperNet with its auxiliary head on Swin features (arXiv 1807.10221), from transformers' own parts."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import UperNetConfig
from transformers.models.upernet.modeling_upernet import UperNetFCNHead, UperNetHead

from imlp_audit.models.hosts.dense import UperNet
from imlp_audit.models.nets.swin import SwinFeatures, swin_features


class SwinUperNet(nn.Module):
    """Images (batch, 3, height, width) to a score of each class at each pixel (batch, classes, height, width).

    As in Swin's official segmenter: a decode head of 512 channels on all four maps, and on the third an auxiliary head
    of 256 channels, which is only there to be trained with.
    """

    def __init__(self, backbone: SwinFeatures, size: tuple[int, int], classes: int) -> None:
        super().__init__()
        self.size = size
        self.backbone = backbone
        config = UperNetConfig(hidden_size=512, auxiliary_channels=256, num_labels=classes)
        self.decode_head = UperNetHead(config, backbone.channels)
        self.auxiliary_head = UperNetFCNHead(config, backbone.channels, in_index=2)

    def forward(self, images: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the scores, in training mode those of the auxiliary head as well."""
        maps = self.backbone(images)
        scores = _resize(self.decode_head(maps), images)
        return (scores, _resize(self.auxiliary_head(maps), images)) if self.training else scores

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return images of the model's size."""
        return (torch.zeros(batch, 3, *self.size),)

    def get_classifier(self) -> Sequence[nn.Module]:
        """Return the last layer of both heads."""
        return self.decode_head.classifier, self.auxiliary_head.classifier


def _resize(scores: Tensor, images: Tensor) -> Tensor:
    return F.interpolate(scores, images.shape[2:], mode="bilinear")


def build_upernet(host: UperNet, size: tuple[int, int]) -> SwinUperNet:
    """Build the segmenter for images of (height, width) with fresh weights; raises BuildError."""
    return SwinUperNet(swin_features(host.backbone, size), size, host.classes)
