"""Mask R-CNN and UperNet on Swin features, as Tables 6 and 7 have them: torchvision's and transformers' own parts."""

from collections.abc import Sequence

import timm
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models.detection import MaskRCNN
from torchvision.ops import FeaturePyramidNetwork, MultiScaleRoIAlign
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool
from transformers import UperNetConfig
from transformers.models.upernet.modeling_upernet import UperNetFCNHead, UperNetHead


class SwinFeatures(nn.Module):
    """timm's Swin without its head, and a norm on the output of each stage, as the official detectors have it.

    Maps images (batch, 3, height, width) of the `size` given to maps (batch, `channels`[i], height / s, width / s) at
    the strides s = 4, 8, 16, 32, the sides rounded up. A grid that the windows do not divide is padded, and one that is
    smaller than a window too, so that the parameters do not depend on the size. (timm shifts a grid before it pads it,
    the official code pads first: the same work, but where a grid is padded not the same function.)
    """

    def __init__(self, name: str, size: Sequence[int]) -> None:
        super().__init__()
        self.body = timm.create_model(name, features_only=True, img_size=tuple(size), always_partition=True)
        self.channels: list[int] = self.body.feature_info.channels()
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for channels in self.channels)

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return the maps, the finest first; timm's have their channels last."""
        maps = self.body(images)
        return [norm(x).permute(0, 3, 1, 2).contiguous() for norm, x in zip(self.norms, maps, strict=True)]


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

    def __init__(self, backbone: str, size: Sequence[int], classes: int = 80) -> None:
        super().__init__()
        self.detector = MaskRCNN(
            Pyramid(SwinFeatures(backbone, size)),
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

    def get_classifier(self) -> Sequence[nn.Module]:
        """Return the last layers of both heads."""
        heads = self.detector.roi_heads
        return heads.box_predictor, heads.mask_predictor.mask_fcn_logits


class SwinUperNet(nn.Module):
    """Images (batch, 3, height, width) to a score of each class at each pixel (batch, classes, height, width).

    As in Swin's official segmenter: a decode head of 512 channels on all four maps, and on the third an auxiliary head
    of 256 channels, which is only there to be trained with (arXiv 1807.10221).
    """

    def __init__(self, backbone: str, size: Sequence[int], classes: int = 150) -> None:
        super().__init__()
        self.backbone = SwinFeatures(backbone, size)
        config = UperNetConfig(hidden_size=512, auxiliary_channels=256, auxiliary_in_channels=None, num_labels=classes)
        self.decode_head = UperNetHead(config, self.backbone.channels)
        self.auxiliary_head = UperNetFCNHead(config, self.backbone.channels)

    def forward(self, images: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the scores, in training mode those of the auxiliary head as well."""
        maps = self.backbone(images)
        scores = _resize(self.decode_head(maps), images)
        return (scores, _resize(self.auxiliary_head(maps), images)) if self.training else scores

    def get_classifier(self) -> Sequence[nn.Module]:
        """Return the last layer of both heads."""
        return self.decode_head.classifier, self.auxiliary_head.classifier


def _resize(x: Tensor, like: Tensor) -> Tensor:
    return F.interpolate(x, like.shape[2:], mode="bilinear")
