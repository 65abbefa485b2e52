"""The sums of 4 C nonlinear functions that Table 4 puts in place of the MLP."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


def gelus(width: int) -> list[nn.Module]:
    """Return the 4 C functions of the row GeLU."""
    return [nn.GELU() for _ in range(4 * width)]


def summed(functions: Sequence[nn.Module]) -> Callable[[Tensor], Tensor]:
    """Return the function x -> f_1(x) + ... + f_4C(x)."""
    return lambda x: torch.stack([function(x) for function in functions]).sum(dim=0)
