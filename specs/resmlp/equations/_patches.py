"""Cutting an image into patches that do not overlap."""

from __future__ import annotations

import torch.nn.functional as F

from imlp_audit.equations.arithmetic import Arithmetic

IMAGE = 224
TYPICAL_PATCH = 16


def grid(patch: int, arithmetic: Arithmetic) -> tuple[int, int]:
    """Return how many patches, of patch x patch pixels, a linear layer of each makes of the image down and across."""
    pixels, weight = arithmetic.tensor([[[[0.0] * IMAGE] * IMAGE]]), arithmetic.tensor([[[[0.0] * patch] * patch]])
    height, width = F.conv2d(pixels, weight, stride=patch).shape[-2:]
    return height, width
