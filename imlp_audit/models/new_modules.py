"""What claims ask of a new module: how it starts, that it keeps the type it is made for, that it is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook

from imlp_audit.errors import BuildError

Module = TypeVar("Module", bound=nn.Module)


def keeps_type(make: Callable[[], nn.Module], *inputs: Tensor) -> bool:
    """Whether a new module computes in the type and on the device it is made for, and changes nothing that it reads."""
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.device("meta"):
            module = make().eval()
    finally:
        torch.set_default_dtype(usual)
    read: list[tuple[Tensor, int]] = []  # what each part reads, and how often that was changed before
    with register_module_forward_pre_hook(
        lambda _, xs: read.extend((x, x._version) for x in xs if isinstance(x, Tensor))
    ):
        y = module(*(x.to("meta", torch.float32 if x.is_floating_point() else x.dtype) for x in inputs))
    typed = all(one.is_meta and one.dtype == torch.float32 for one in (y if isinstance(y, tuple) else (y,)))
    return typed and all(x._version == version for x, version in read)


def starts_as_torchs(module: nn.Module) -> Iterator[bool]:
    """Yield whether layers start uniform up to 1 / sqrt(inputs), as torch's linear ones, and norms with 1 and 0.

    The mean square of n numbers from -1 to 1 is 1/3, with a standard deviation of 0.3 / sqrt(n).
    """
    tied = [part.weight for part in module.modules() if isinstance(part, nn.Embedding)]
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Conv2d):
            for weight in (one for one in part.parameters() if not any(one is other for other in tied)):
                u = weight.flatten() * part.weight[0].numel() ** 0.5
                spread = abs(u.square().mean().item() - 1 / 3)
                yield from (u.abs().max().item() <= 1 + 1e-9, bool(u.all()), spread <= 1.8 / len(u) ** 0.5)
        elif isinstance(part, nn.LayerNorm | nn.BatchNorm1d | nn.BatchNorm2d):
            yield from (bool((part.weight == 1).all()), bool((part.bias == 0).all()))


def is_normal(x: Tensor, std: float) -> Iterator[bool]:
    """Yield whether the second and fourth moments of n numbers are those of a normal distribution, not truncated."""
    n, squares = x.numel(), (x / std).square()
    yield abs(squares.mean().item() - 1) <= 4 * (2 / n) ** 0.5
    yield abs(squares.square().mean().item() - 3) <= 4 * (96 / n) ** 0.5


def refuses(make: Callable[[], object]) -> bool:
    """Whether something is refused: it cannot be made of these sizes, or cannot run on this."""
    try:
        make()
    except (BuildError, ValueError):
        return True
    return False


def of_ones(module: Module) -> Module:
    """Set every weight to 1, so that no terms of a sum cancel."""
    for parameter in module.parameters():
        nn.init.ones_(parameter)
    return module.eval()
