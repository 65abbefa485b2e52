"""What a layer of ResMLP-S12 costs, with any communication across its patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from imlp_audit.count.conventions import MACS_WEIGHTS
from imlp_audit.count.ledger import measure
from imlp_audit.equations.claim import Trial
from imlp_audit.models.resmlp import CrossPatch, FeedForward, LayerScale, ResMlpLayer

WIDTH, SIDE = 384, 14
PATCHES = SIDE**2


@dataclass(frozen=True)
class Cost:
    """Parameters and multiply-accumulates."""

    parameters: int
    work: int


class OnGrid(nn.Module):
    """Convolutions of the grid of patches: maps (batch, patches, channels) to the same shape."""

    def __init__(self, *convolutions: nn.Module) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(*convolutions)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape."""
        y: Tensor = self.convolutions(x.transpose(1, 2).reshape(len(x), -1, SIDE, SIDE))
        return y.flatten(2).transpose(1, 2)


def cost_of_layer(communication: Callable[[], nn.Module]) -> Cost:
    """Return what Algorithm 1's layer costs with a communication across patches."""

    def layer() -> nn.Module:
        feedforward, scales = FeedForward(WIDTH, bias=True), (LayerScale(WIDTH, 1e-4), LayerScale(WIDTH, 1e-4))
        return ResMlpLayer(WIDTH, communication(), feedforward, *scales)

    return cost(layer)


def cost(build: Callable[[], nn.Module], patches: int = PATCHES, width: int = WIDTH) -> Cost:
    """Return what a module of patch features costs."""
    with torch.device("meta"):
        module, x = build(), torch.empty(1, patches, width)
        ledger = measure(module, x)
    work = sum(amount for (_, operation), amount in ledger.work.items() if operation in MACS_WEIGHTS)
    return Cost(sum(parameter.numel() for parameter in module.parameters()), work)


def linear_layer() -> nn.Module:
    """Return ResMLP's communication, the linear layer."""
    return CrossPatch(PATCHES, bias=True)


def rounds_to(times: int, variant: Cost) -> Trial:
    """Judge whether a variant has so many times the parameters and the work of ResMLP's layer, rounded."""
    linear = cost_of_layer(linear_layer)
    parameters, work = variant.parameters / linear.parameters, variant.work / linear.work
    holds = round(parameters) == times and round(work) == times
    return Trial(holds, {"times the parameters": parameters, "times the multiply-accumulates": work})
