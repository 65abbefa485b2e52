"""Steps that several formulas share, and modules with weights of one's own."""

from collections.abc import Mapping
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, cat, nn

from imlp_audit.claims import NUMBERS, Side, gradients
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock

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

    Its gradients are the formula's. Its state is its parameters; only a tied output layer has a second name.
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
    embeddings = [part.weight for part in module.modules() if isinstance(part, nn.Embedding)]
    return name.startswith("output") and any(module.get_parameter(name) is weight for weight in embeddings)


def _tuple(output: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return output if isinstance(output, tuple) else (output,)


def linear(x: Tensor, layer: nn.Module) -> Tensor:
    """W x + b of each token."""
    return x @ layer.get_parameter("weight").T + layer.get_parameter("bias")


def norm(x: Tensor, layer: nn.Module, epsilon: float = TORCHS_EPSILON) -> Tensor:
    """LayerNorm over channels, with the layer's learned scale and shift."""
    assert isinstance(layer, nn.LayerNorm)
    return F.layer_norm(x, x.shape[-1:], eps=epsilon) * layer.weight + layer.bias


def block_output(
    X: Tensor, block: GmlpBlock, gate: Gate, epsilon: float = TORCHS_EPSILON, *, gate_norm: bool = True
) -> Tensor:
    """Return Y = s(Z) V + X, Z = GELU(norm(X) U), with biases, and with the tiny attention where there is one."""
    normal = norm(X, block.norm, epsilon)
    Z = F.gelu(linear(normal, block.u))
    Z_1, Z_2 = Z.chunk(2, dim=-1) if gate is Gate.SPLIT else (Z, Z)
    W: Tensor = block.sgu.proj.weight
    b = block.sgu.proj.bias
    if W.ndim == 1:  # Toeplitz: W_{ij} = w_{i-j}, of w_{1-S}, ..., w_{S-1}
        W = torch.stack([W[i : i + len(b)].flip(0) for i in range(len(b))])
    f = W @ (norm(Z_2, block.sgu.norm) if gate_norm else Z_2) + b[:, None]
    if block.attention is not None:
        q, k, v = linear(normal, block.attention.qkv).chunk(3, dim=-1)
        a = (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1)
        f = f + linear(a @ v, block.attention.out)
    s = {Gate.LINEAR: f, Gate.SUM: Z_1 + f, Gate.PRODUCT: Z_1 * f, Gate.SPLIT: Z_1 * f}[gate]
    return linear(s, block.v) + X
