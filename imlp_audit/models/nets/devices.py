"""Where a model is built, and computing with numbers where tensors hold none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch.overrides import TorchFunctionMode


def current_device() -> torch.device:
    """Return the default device; `torch.get_default_device` of torch 2.6 ignores a `with torch.device(...)`."""
    return torch.empty(0).device


class ArithmeticOnTheProcessor(TorchFunctionMode):
    """Makes numbers on the processor: RegNet computes its widths with tensors, and meta tensors hold no numbers."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Run a call, on the processor if it makes numbers."""
        device = {"device": "cpu"} if func in (torch.arange, torch.tensor) else {}
        return func(*args, **{**device, **(kwargs or {})})
