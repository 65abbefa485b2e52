"""Mask R-CNN with a feature pyramid on Swin features (arXiv 1703.06870; 1612.03144), from torchvision's own parts."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torchvision.models.detection import MaskRCNN
from torchvision.ops import FeaturePyramidNetwork, MultiScaleRoIAlign
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool

from imlp_audit.models.hosts.dense import MaskRcnn
from imlp_audit.models.nets.swin import SwinFeatures, swin_features

BOXES, MASKS = 1000, 100  # proposals that the box head sees, and those of them that the mask head sees
LEVELS = ("0", "1", "2", "3")  # of the pyramid, where regions are read from; the one above is only for proposals
WIDTH = 256


class RegionAlign(MultiScaleRoIAlign):  # type: ignore[misc]  # torchvision ships no types
    """torchvision's region pooling: boxes of each image on the pyramid to (boxes, channels, side, side).

    Which level a box is read from depends on its sides, and on the meta device it has none: there only the shape is
    made. No counter counts the sampling.
    """

    def forward(self, x: dict[str, Tensor], boxes: list[Tensor], image_shapes: list[tuple[int, int]]) -> Tensor:
        """Return the regions' features."""
        if boxes[0].is_meta:
            return x[LEVELS[0]].new_empty(sum(map(len, boxes)), WIDTH, *self.output_size)
        regions: Tensor = super().forward(x, boxes, image_shapes)
        return regions


class Pyramid(nn.Module):
    """Features and the pyramid on them: images to maps of 256 channels at the strides 4, 8, 16, 32 and 64."""

    out_channels = WIDTH

    def __init__(self, body: SwinFeatures) -> None:
        super().__init__()
        self.body = body
        self.fpn = FeaturePyramidNetwork(body.channels, WIDTH, LastLevelMaxPool())

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        """Return the maps by their level."""
        maps: dict[str, Tensor] = self.fpn(dict(zip(LEVELS, self.body(images), strict=True)))
        return maps


class SwinMaskRcnn(nn.Module):
    """torchvision's detector, and the part of its work that does not depend on what is in the image.

    That part is what mmdetection counts (`forward_dummy` of its two-stage detectors, which the official detectors of
    Swin are): features, pyramid and proposal head see the image, the box head 1000 proposals that are given, the mask
    head the first 100 of them. `detector` finds its own, in images that it brings to the `size`. Its heads have a box
    and a mask for the background class too, 4 x 1025 + 257 parameters more than mmdetection's.
    """

    def __init__(self, body: SwinFeatures, size: tuple[int, int], classes: int) -> None:
        super().__init__()
        self.size = size
        self.detector = MaskRCNN(
            Pyramid(body),
            classes + 1,  # the background is torchvision's class 0
            box_roi_pool=RegionAlign(LEVELS, output_size=7, sampling_ratio=2),
            mask_roi_pool=RegionAlign(LEVELS, output_size=14, sampling_ratio=2),
            fixed_size=(size[1], size[0]),
        )

    def forward(self, images: Tensor, proposals: Tensor) -> tuple[Tensor, ...]:
        """Return the objectness and box of each anchor at each level, then of each proposal its class, box, and mask.

        `images` is (batch, 3, height, width) and `proposals` (batch, boxes, 4): the corners x1, y1, x2, y2 in pixels.
        """
        heads = self.detector.roi_heads
        maps = self.detector.backbone(images)
        objectness, deltas = self.detector.rpn.head(list(maps.values()))
        sizes = [(images.shape[2], images.shape[3])] * len(images)
        regions = heads.box_roi_pool(maps, list(proposals), sizes)
        scores, boxes = heads.box_predictor(heads.box_head(regions))
        regions = heads.mask_roi_pool(maps, list(proposals[:, :MASKS]), sizes)
        masks = heads.mask_predictor(heads.mask_head(regions))
        return (*objectness, *deltas, scores, boxes, masks)

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return images and as many proposals as are counted, each of them the whole image."""
        height, width = self.size
        proposals = torch.tensor([0.0, 0.0, width, height]).expand(batch, BOXES, 4)
        return torch.zeros(batch, 3, height, width), proposals

    def get_classifier(self) -> Sequence[nn.Module]:
        """Return the last layers of both heads."""
        heads = self.detector.roi_heads
        return heads.box_predictor, heads.mask_predictor.mask_fcn_logits


def build_mask_rcnn(host: MaskRcnn, size: tuple[int, int]) -> SwinMaskRcnn:
    """Build the detector for images of (height, width) with fresh weights; raises BuildError."""
    return SwinMaskRcnn(swin_features(host.backbone, size), size, host.classes)
