"""What depends on what: derivatives of a function's outputs by its inputs, and which of them are exactly zero."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def jacobian(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return d function(x) / d x, of the output's shape followed by the input's."""
    derivatives: Tensor = torch.autograd.functional.jacobian(function, x)  # type: ignore[no-untyped-call]
    return derivatives


def depends(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return, in the same shape, which outputs have a derivative by which inputs that is not exactly zero.

    Where no path leads from an input to an output, backpropagation adds up exact zeros alone.
    """
    return jacobian(function, x) != 0
