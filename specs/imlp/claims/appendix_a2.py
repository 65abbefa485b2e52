"""Appendix A.2 and A.3, Tables 6 and 7: Mask R-CNN and UperNet on the maps of Swin-Ti."""

from math import floor, log2, sqrt

import torch
import torch.nn.functional as F
from torch import Tensor, cat, nn
from torchvision.ops import roi_align

from imlp_audit.claims import Side, Sides, choice, claim, gradients, modules, tensors

from ..detectors import SwinFeatures, SwinMaskRcnn, SwinUperNet
from ._imlp import SMALL

SWIN, WIDTHS, STRIDES, SIZE = "swin_tiny_patch4_window7_224", (96, 192, 384, 768), (4, 8, 16, 32), (32, 64)
TINY = tuple(number / 64 for number in SMALL)


class Pools(nn.Module):
    """What stands in the place of timm's Swin: the mean of each s x s pixels by a matrix, channels last."""

    def __init__(self) -> None:
        super().__init__()
        self.matrices = nn.ModuleList(nn.Conv2d(3, width, 1) for width in WIDTHS)

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return a map for each stride, the finest first."""
        return [
            matrix(F.avg_pool2d(images, s)).movedim(1, -1) for matrix, s in zip(self.matrices, STRIDES, strict=True)
        ]


class Reads(nn.Module):
    """What stands in the place of the decode head: the first two channels of all maps, on the finest, added up."""

    def forward(self, maps: list[Tensor]) -> Tensor:
        """Return scores of two classes."""
        return sum(F.interpolate(x[:, :2], maps[0].shape[2:]) for x in maps)  # type: ignore[return-value]


def normal(images: Tensor, features: SwinFeatures) -> list[Tensor]:
    """Return LN of each map, with 10^-5 added to the variance, as (batch, channels, height, width)."""
    maps = zip(features.body(images), features.norms, strict=True)
    return [
        F.layer_norm(x, x.shape[-1:], norm.get_parameter("weight"), norm.get_parameter("bias"), 1e-5).movedim(-1, 1)
        for x, norm in maps
    ]


def of_swin(features: SwinFeatures, height: int, width: int) -> list[Side]:
    """Return whether maps have Swin-Ti's widths, strides and windows of 7 x 7, whatever the size of the images."""
    with torch.device("meta"):
        maps = features(torch.empty(2, 3, height, width))
    shapes = [(2, C, -(-height // s), -(-width // s)) for C, s in zip(WIDTHS, STRIDES, strict=True)]
    windows = {len(own) for name, own in features.named_parameters() if name.endswith("relative_position_bias_table")}
    return [[tuple(x.shape) for x in maps] == shapes, windows == {13 * 13}]


def mask_rcnn() -> SwinMaskRcnn:
    """Return Mask R-CNN on other features, with a mean and a matrix for the box head, and no layers for the mask's."""
    with torch.device("meta"):
        net = SwinMaskRcnn(SWIN, SIZE, classes=2)
    net.detector.backbone.body.body, heads = Pools(), net.detector.roi_heads
    heads.box_head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 1024))
    heads.mask_head = nn.Identity()
    return net.to_empty(device="cpu")


BOXES = ((4, 8, 40, 30), (0, 0, 130, 120), (-9, 3, 220, 330), (-250, -300, 320, 300))  # x1, y1, x2, y2, of all levels


def regions(maps: list[Tensor], boxes: Tensor, side: int) -> Tensor:
    """Return the regions of the boxes of each image, on the level floor(4 + log2(sqrt(w h) / 224)) from 2 to 5."""
    found = []
    for image, own in enumerate(boxes):
        for box in own:
            w, h = (box[2:] - box[:2]).tolist()
            level = min(max(floor(4 + log2(sqrt(w * h) / 224)), 2), 5) - 2
            scale = 1 / STRIDES[level]
            found.append(roi_align(maps[level][image : image + 1], [box[None]], side, scale, sampling_ratio=2))
    return cat(found)


@claim(
    m=modules(mask_rcnn, values=TINY),
    images=tensors(2, 3, *SIZE),
    share=0.01,
    place="Appendix A.2 on Table 6",
    printed="Mask R-CNN (He et al., 2017) is considered the object detection framework and Swin-Ti is used as the "
    "baseline model.",
)
def table6_mask_rcnn(m: SwinMaskRcnn, images: Tensor) -> Sides:
    """The package's detector is Mask R-CNN on Swin-Ti: a norm of each of Swin's four maps, the feature pyramid, the
    proposal head on it, and the heads of boxes and masks on regions of 7 x 7 and 14 x 14.

    Read as: sizes are those of torchvision's Mask R-CNN for the 80 classes of COCO and the background; 1000 proposals
    are given, of which the first 100 have masks. In place of Swin, of the box head and of the mask head stand simpler
    ones.
    """
    detector, heads, boxes = m.detector, m.detector.roi_heads, torch.tensor([BOXES, BOXES[::-1]], dtype=torch.float64)
    inner, outer = detector.backbone.fpn.inner_blocks, detector.backbone.fpn.layer_blocks
    lateral = [block[0](x) for block, x in zip(inner, normal(images, detector.backbone.body), strict=True)]
    for i in (2, 1, 0):
        lateral[i] = lateral[i] + F.interpolate(lateral[i + 1], lateral[i].shape[2:])
    maps = [block[0](x) for block, x in zip(outer, lateral, strict=True)]
    shared = [F.relu(detector.rpn.head.conv[0][0](x)) for x in (*maps, maps[-1][:, :, ::2, ::2])]
    objectness, deltas = (map(head, shared) for head in (detector.rpn.head.cls_logits, detector.rpn.head.bbox_pred))
    vectors = heads.box_head[2](regions(maps, boxes, 7).mean((2, 3)))
    predicted = heads.box_predictor.cls_score(vectors), heads.box_predictor.bbox_pred(vectors)
    printed = (*objectness, *deltas, *predicted, heads.mask_predictor(regions(maps, boxes, 14)))
    with torch.device("meta"):
        usual = SwinMaskRcnn(SWIN, (800, 1280))
        outputs = usual(torch.empty(2, 3, 800, 1280), torch.empty(2, 1000, 4))
    grids = [(200, 320), (100, 160), (50, 80), (25, 40), (13, 20)]
    shapes = [*((2, 3, *grid) for grid in grids), *((2, 12, *grid) for grid in grids), (2000, 81), (2000, 4 * 81)]
    own = detector.transform([images[0, :, :20, :20]])[0].tensors
    return [
        *zip(m(images, boxes), printed, strict=True),
        [tuple(y.shape) for y in outputs] == [*shapes, (200, 81, 28, 28)],
        own.shape == (1, 3, *SIZE),  # it brings images to its size
        m.get_classifier() == (heads.box_predictor, heads.mask_predictor.mask_fcn_logits),
        *of_swin(usual.detector.backbone.body, 800, 1280),
        {(y.device.type, y.dtype) for y in outputs} == {("meta", torch.float64)},
    ]


def upernet() -> SwinUperNet:
    """Return UperNet on other features, and with a decode head that only adds them up."""
    with torch.device("meta"):
        net = SwinUperNet(SWIN, SIZE, classes=2)
    net.backbone.body, net.decode_head = Pools(), Reads()
    net.decode_head.classifier = nn.Identity()
    return net.to_empty(device="cpu")


TRAINING = choice("training", False, True)


@claim(
    m=modules(upernet, training=TRAINING, values=TINY),
    images=tensors(2, 3, *SIZE),
    share=0.01,
    place="Appendix A.3 on Table 7",
    printed="As in Swin (Liu et al., 2021), we use UperNet (Xiao et al., 2018) as the base semantic segmentation "
    "framework and Swin-Ti as the baseline model.",
)
def table7_upernet(m: SwinUperNet, images: Tensor) -> Sides:
    """The package's segmenter is UperNet on Swin-Ti: a norm of each of Swin's four maps, a decode head of them all and,
    in training, an auxiliary head of the third; the scores of the 150 classes are interpolated to the image's pixels.

    Read as: as in Swin's official segmenter, with heads of 512 and 256 channels. In place of Swin and of the decode
    head stand simpler ones.
    """
    maps, head = normal(images, m.backbone), m.auxiliary_head
    hidden, batch_norm = F.conv2d(maps[2], head.convs[0].conv.weight, padding=1), head.convs[0].batch_norm
    hidden = F.batch_norm(hidden, None, None, batch_norm.weight, batch_norm.bias, training=True, eps=1e-5)
    scores = [Reads()(maps), head.classifier(F.relu(hidden))] if m.training else [Reads()(maps)]
    printed = [F.interpolate(each, SIZE, mode="bilinear", align_corners=False) for each in scores]
    y = m(images)
    found = [*y] if m.training else [y]
    sides: list[Side] = [*zip(found, printed, strict=True), (gradients(cat(found), m), gradients(cat(printed), m))]
    return sides if m.training else [*sides, *sizes_of_upernet()]


def sizes_of_upernet() -> list[Side]:
    """Return whether UperNet has the sizes of the official segmenter, at the size of its images."""
    with torch.device("meta"):
        m, odd = SwinUperNet(SWIN, (512, 2048)), SwinFeatures(SWIN, (52, 72))
        outputs = m(torch.empty(2, 3, 512, 2048))
    shapes = {name: tuple(own.shape) for name, own in m.named_parameters() if "head" in name}
    printed = {
        "decode_head.bottleneck.conv.weight": (512, 768 + 4 * 512, 3, 3),
        "decode_head.fpn_bottleneck.conv.weight": (512, 4 * 512, 3, 3),
        "decode_head.classifier.weight": (150, 512, 1, 1),
        "auxiliary_head.convs.0.conv.weight": (256, 384, 3, 3),
        "auxiliary_head.classifier.weight": (150, 256, 1, 1),
    }
    pools = [part.output_size for part in m.modules() if isinstance(part, nn.AdaptiveAvgPool2d)]
    return [
        [tuple(y.shape) for y in outputs] == [(2, 150, 512, 2048)] * 2,
        {(y.device.type, y.dtype) for y in outputs} == {("meta", torch.float64)},
        printed.items() <= shapes.items() and len(m.auxiliary_head.convs) == 1 and pools == [1, 2, 3, 6],
        m.get_classifier() == (m.decode_head.classifier, m.auxiliary_head.classifier),
        *of_swin(odd, 52, 72),
    ]
