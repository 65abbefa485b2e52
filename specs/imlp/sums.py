"""The sum of nonlinear functions that takes the place of an MLP (Sec. 5.2, Table 4)."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from imlp_audit.models.imlp import AGeLU


class SumOfFunctions(nn.Module):
    """Computes y = f_1(x) + ... + f_n(x) element by element, with n = ratio x channels functions.

    Every f_i is GeLU, so that y = n GeLU(x), or with `agelu` an AGeLU with coefficients of its own for each channel,
    as in Eq. 6; the paper does not say how many coefficients there are, nor that they start apart: here they start
    equal, and training cannot tell them apart. Maps (..., channels) to the same shape, or with `use_conv` (batch,
    channels, H, W).
    """

    def __init__(self, in_features: int, ratio: int = 4, *, agelu: bool = False, use_conv: bool = False) -> None:
        super().__init__()
        self.functions, self.channels = ratio * in_features, in_features
        self.axis = -3 if use_conv else -1
        self.agelus = AGeLU(self.functions * in_features, channels_first=use_conv) if agelu else None

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape."""
        if self.agelus is None:
            return self.functions * F.gelu(x)
        copies = x.repeat_interleave(self.functions, dim=self.axis)
        each: Tensor = self.agelus(copies)
        return torch.unflatten(each, self.axis, (self.channels, self.functions)).sum(self.axis)
