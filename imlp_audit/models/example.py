"""What a model is run on when it is counted."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn


@runtime_checkable
class Exemplified(Protocol):
    """A model that knows what it is run on."""

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return inputs of the published sizes, on the current default device."""


def example_inputs(model: nn.Module, batch: int = 1) -> tuple[Tensor, ...]:
    """Return inputs for a forward pass, on the current default device.

    A classifier of timm gets images of the size it is configured for, (batch, channels, height, width).
    """
    if isinstance(model, Exemplified):
        return model.example_inputs(batch)
    size = getattr(model, "pretrained_cfg", {}).get("input_size", (3, 224, 224))
    return (torch.zeros(batch, *size),)
