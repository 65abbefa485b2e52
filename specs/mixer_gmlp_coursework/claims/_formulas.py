"""Steps that several formulas share, and modules with weights of one's own."""

from collections.abc import Mapping
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, cat, nn
from torch.func import functional_call

from imlp_audit.claims import NUMBERS, Side, below, gradients

EPSILON = 1e-6  # LayerNorm's, in the modules for images; no text names one
TORCHS_EPSILON = 1e-5
SMALL = tuple(number / 10 for number in NUMBERS)  # with which sums of hundreds of products cancel less
Module = TypeVar("Module", bound=nn.Module)


def filled(module: Module, weights: Mapping[str, Tensor]) -> Module:
    """Return the module with these weights: every one of them, each of the shape that the module has."""
    module.double().load_state_dict(weights)
    return module


def agree(module: nn.Module, x: Tensor, *expected: Tensor) -> list[Side]:
    """Return the claim that a module gives this for x in training, and in evaluation for the last input alone.

    It learns what it should; it has no state but its parameters, each under one name but for tied output layers.
    """
    alone, outputs = _tuple(module.eval()(x[-1:])), _tuple(module.train()(x))
    found, formula = (cat([y.flatten() for y in ys]) for ys in (outputs, expected))
    parameters = [*module.parameters()]
    reached = torch.autograd.grad(found.sum(), parameters, retain_graph=True, allow_unused=True)
    names = [name for name, _ in module.named_parameters(remove_duplicate=False)]
    return [
        *((y, printed[-1:]) for y, printed in zip(alone, expected, strict=True)),
        *zip(outputs, expected, strict=True),
        (gradients(found, module), gradients(formula, module)),
        all(gradient is not None for gradient in reached),
        len(parameters) == len({name for name in names if not _is_tied(module, name)}),
        {*names} == {*module.state_dict()},
    ]


def _is_tied(module: nn.Module, name: str) -> bool:
    """Whether a weight of the output layer is the embedding's."""
    return name.startswith("output") and module.get_parameter(name) is module.get_parameter("embedding.weight")


def keeps_type(module: nn.Module, x: Tensor) -> bool:
    """Whether a module computes in the type of its weights and on their device, whatever they are."""
    state = {name: _moved(weight) for name, weight in module.named_parameters()}
    outputs = _tuple(functional_call(module, state, _moved(x)))
    return all(y.is_meta and y.dtype == torch.float32 for y in outputs)


def _moved(x: Tensor) -> Tensor:
    return x.to("meta", torch.float32 if x.is_floating_point() else x.dtype)


def starts_as_torchs(module: nn.Module) -> list[Side]:
    """Hold linear layers and convolutions against torch's start, uniform up to 1 / sqrt(inputs), norms against 1 and 0.

    The mean square of n numbers from -1 to 1 is 1/3, with a standard deviation of 0.3 / sqrt(n).
    """
    tied = [part.weight for part in module.modules() if isinstance(part, nn.Embedding)]
    sides: list[Side] = []
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Conv2d):
            for weight in part.parameters():
                if not any(weight is other for other in tied):
                    u = weight.flatten() * part.weight[0].numel() ** 0.5
                    sides += [below(u.abs().max(), 1.0), bool(u.all())]
                    sides.append(below((u.square().mean() - 1 / 3).abs(), 1.8 / len(u) ** 0.5))
        elif isinstance(part, nn.LayerNorm):
            sides += [(part.weight, torch.ones_like(part.weight)), (part.bias, torch.zeros_like(part.bias))]
    return sides


def is_normal(x: Tensor, std: float) -> list[Side]:
    """Hold the second and fourth moments of n numbers against those of a normal distribution, not truncated."""
    n, squares = x.numel(), (x / std).square()
    return [
        below((squares.mean() - 1).abs(), 4 * (2 / n) ** 0.5),
        below((squares.square().mean() - 3).abs(), 4 * (96 / n) ** 0.5),
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
