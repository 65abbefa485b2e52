"""Closed formulas for numbers of parameters, written from the papers' dimensions."""

from __future__ import annotations

from imlp_audit.models.blocks import Part
from imlp_audit.models.readings import (
    AGeLUParameters,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputNorm,
    Reading,
)

CLASSES = 1000


def deit(width: int, depth: int = 12, *, class_token: bool = True) -> int:
    """DeiT at 224 with patches of 16: 196 of them, and the class token."""
    tokens = 196 + class_token
    stem = 3 * 16 * 16 * width + width
    block = 2 * 2 * width + (3 * width * width + 3 * width) + (width * width + width) + mlp(width)
    head = 2 * width + width * CLASSES + CLASSES
    return stem + class_token * width + tokens * width + depth * block + head


def swin(width: int, depths: tuple[int, ...], heads: tuple[int, ...], window: int = 7) -> int:
    """Swin at 224: a table of relative positions a head, patch merging from 4d to 2d without bias."""
    total = 3 * 4 * 4 * width + width + 2 * width
    d = width
    for stage, (depth, head) in enumerate(zip(depths, heads, strict=True)):
        if stage:
            d *= 2
            total += 2 * (2 * d) + (2 * d) * d
        attention = 3 * d * d + 3 * d + d * d + d + (2 * window - 1) ** 2 * head
        total += depth * (4 * d + attention + mlp(d))
    last = d  # of the last stage
    return total + 2 * last + last * CLASSES + CLASSES


def poolformer(widths: tuple[int, ...], depths: tuple[int, ...]) -> int:
    """PoolFormer: 7x7 stem, 3x3 downsampling, two norms and two layer scales a block."""
    total = 7 * 7 * 3 * widths[0] + widths[0]
    for stage, (d, depth) in enumerate(zip(widths, depths, strict=True)):
        if stage:
            total += 3 * 3 * widths[stage - 1] * d + d
        total += depth * (2 * 2 * d + 2 * d + mlp(d))
    return total + 2 * widths[-1] + widths[-1] * CLASSES + CLASSES


def mlp(width: int, ratio: int = 4) -> int:
    """Two FC layers with bias."""
    hidden = ratio * width
    return width * hidden + hidden + hidden * width + width


def imlp(width: int, hidden: int, kernel: int, part: Part, reading: Reading) -> int:
    """The IMLP block: FC1 to `hidden`, two AGeLUs, the depthwise block on `inner` channels, FC2 back."""
    inner = hidden if part is Part.SPATIAL else 2 * hidden
    total = width * hidden + bool(reading.fc1_bias) * hidden + inner * width + bool(reading.fc2_bias) * width
    if part is not Part.SPATIAL:
        total += 2 * agelu(hidden, reading)
        total += {ConcatNorm.NONE: 0, ConcatNorm.LAYER: 2 * inner, ConcatNorm.BATCH: 2 * inner}[reading.concat_norm]
    if part is not Part.CHANNEL:
        total += kernel * kernel * inner + bool(reading.depthwise_bias) * inner
        total += {DepthwiseNorm.NONE: 0, DepthwiseNorm.BATCH: 2 * inner}[reading.depthwise_norm]
        total += {
            DepthwiseActivation.NONE: 0,
            DepthwiseActivation.GELU: 0,
            DepthwiseActivation.AGELU: agelu(inner, reading),
        }[reading.depthwise_activation]
    return total + {OutputNorm.NONE: 0, OutputNorm.LAYER: 2 * width}[reading.output_norm]


def agelu(channels: int, reading: Reading) -> int:
    """alpha, beta, gamma, theta."""
    return 4 * {AGeLUParameters.PER_CHANNEL: channels, AGeLUParameters.PER_LAYER: 1}[reading.agelu_parameters]
