"""What claims measure of functions and modules: derivatives, and what depends on what."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

Operation = Callable[[Tensor], Tensor]


def jacobian(function: Operation, x: Tensor) -> Tensor:
    """Return d function(x) / d x, of the output's shape followed by the input's."""
    derivatives: Tensor = torch.autograd.functional.jacobian(function, x)  # type: ignore[no-untyped-call]
    return derivatives


def depends(function: Operation, x: Tensor) -> Tensor:
    """Return, in the same shape, which outputs have a derivative by which inputs that is not exactly zero.

    Where no path leads from an input to an output, backpropagation adds up exact zeros alone.
    """
    return jacobian(function, x) != 0


def mixes(function: Operation, table: Tensor) -> set[str]:
    """Return what a function of a table (tokens, channels) mixes: "tokens" and "channels", either or neither.

    It mixes tokens if an output depends on an input of another token at this table; channels alike.
    """
    links = depends(function, table)
    found = {"tokens": links.any(3).any(1), "channels": links.any(2).any(0)}
    return {name for name, pairs in found.items() if (pairs & ~torch.eye(len(pairs), dtype=torch.bool)).any()}


def gradients(output: Tensor, module: nn.Module) -> Tensor:
    """Return the derivatives of a weighted sum of the output by each parameter of a module, in one vector.

    The weights differ, so that no derivative of the output hides behind another. A parameter without influence has 0.
    """
    weights = torch.cos(torch.arange(output.numel(), dtype=output.dtype)).reshape(output.shape)
    found = torch.autograd.grad(
        (weights * output).sum(), [*module.parameters()], allow_unused=True, materialize_grads=True
    )
    return torch.cat([one.flatten() for one in found])
