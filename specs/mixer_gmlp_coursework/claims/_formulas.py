"""Steps that several formulas share, and modules with weights of one's own."""

from collections.abc import Mapping
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, cat, nn

from imlp_audit.claims import NUMBERS, Sides, gradients

EPSILON = 1e-6  # LayerNorm's, in the modules for images; no text names one
TORCHS_EPSILON = 1e-5
SMALL = tuple(number / 10 for number in NUMBERS)  # with which sums of hundreds of products cancel less
Module = TypeVar("Module", bound=nn.Module)


def filled(module: Module, weights: Mapping[str, Tensor]) -> Module:
    """Return the module with these weights: every one of them, each of the shape that the module has."""
    module.double().load_state_dict(weights)
    return module


def agree(module: nn.Module, x: Tensor, *expected: Tensor) -> Sides:
    """Return the claim that a module gives this for x in both modes, and that its parameters learn what they should."""
    outputs = [_tuple(module.train(training)(x)) for training in (False, True)]
    found, formula = (cat([y.flatten() for y in ys]) for ys in (outputs[1], expected))
    reached = torch.autograd.grad(found.sum(), [*module.parameters()], retain_graph=True, allow_unused=True)
    return [
        *(pair for ys in outputs for pair in zip(ys, expected, strict=True)),
        (gradients(found, module), gradients(formula, module)),
        all(gradient is not None for gradient in reached),
    ]


def _tuple(output: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return output if isinstance(output, tuple) else (output,)


def linear(x: Tensor, layer: nn.Linear) -> Tensor:
    """W x + b of each token."""
    return x @ layer.weight.T + layer.bias


def norm(x: Tensor, layer: nn.Module, epsilon: float = TORCHS_EPSILON) -> Tensor:
    """LayerNorm over channels, with the layer's learned scale and shift."""
    assert isinstance(layer, nn.LayerNorm)
    return F.layer_norm(x, x.shape[-1:], eps=epsilon) * layer.weight + layer.bias
