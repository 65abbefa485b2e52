"""Multiply-accumulates, from the ledger of a forward pass, and parameters."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from imlp_audit.measure.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.measure.ledger import measure


def macs(build: Callable[[], nn.Module], *shape: int) -> int:
    """Return the multiply-accumulates of one forward pass on an input of this shape."""
    with torch.device("meta"):
        ledger = measure(build(), torch.empty(shape))
    if ledger.unknown:
        raise ValueError(f"not counted: {', '.join(ledger.unknown)}")
    return total(ledger, FLOPS_CONVENTIONS["macs"])


def parameters(build: Callable[[], nn.Module]) -> int:
    """Return the number of parameters."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build().parameters())
