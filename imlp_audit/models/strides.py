"""Strides of a ResNet's bottlenecks, moved to where arXiv 1512.03385 has them.

A bottleneck that halves its feature map has its stride in the 3x3 convolution in timm and torchvision ("ResNet v1.5"),
as in the code of the authors of ResNeXt (arXiv 1611.05431). The first ResNets have it in the 1x1 convolution before,
which then gives a quarter of the outputs. Detectron2 calls this STRIDE_IN_1X1; mmpretrain, `style: caffe`.
"""

from __future__ import annotations

from torch import nn

_POINT = (1, 1)


def move_strides(model: nn.Module) -> int:
    """Move the stride of each bottleneck from its second convolution to its first, 1x1; return how many were moved.

    The shapes of all that leaves a bottleneck stay. One whose map is halved by another layer, such as timm's filters
    against aliasing, stays as it is.
    """
    moved = 0
    for module in model.modules():
        first, second = getattr(module, "conv1", None), getattr(module, "conv2", None)
        if isinstance(first, nn.Conv2d) and isinstance(second, nn.Conv2d) and _may_move(first, second):
            first.stride, second.stride = second.stride, first.stride
            moved += 1
    return moved


def _may_move(first: nn.Conv2d, second: nn.Conv2d) -> bool:
    in_1x1 = first.kernel_size == first.stride == _POINT and first.out_channels == second.in_channels
    return in_1x1 and second.kernel_size != _POINT and second.stride != _POINT
