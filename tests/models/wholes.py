"""What every whole model must do, and what it is counted to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import count_parameters
from imlp_audit.models.settings import example_inputs

Module = TypeVar("Module", bound=nn.Module)


def on_meta(build: Callable[[], nn.Module]) -> nn.Module:
    with torch.device("meta"):
        return build()


def parameters(build: Callable[[], nn.Module], convention: ParameterConvention = ParameterConvention.ALL) -> int:
    return count_parameters(on_meta(build), convention)


def macs(build: Callable[[], nn.Module]) -> int:
    """Multiply-accumulates on one example of the model's own."""
    model = on_meta(build)
    with torch.device("meta"):
        ledger = measure(model, *example_inputs(model))
    assert not ledger.unknown
    return total(ledger, FLOPS_CONVENTIONS["macs"])


def randomised(module: Module) -> Module:
    """Weights, norms and biases that all matter, in double precision."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double().eval()


def run(model: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    outputs = model(*inputs)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def assert_learns(model: nn.Module, *inputs: Tensor) -> None:
    """Its outputs are finite, and a gradient other than 0 reaches every parameter."""
    outputs = run(randomised(model), inputs)
    assert all(output.isfinite().all() for output in outputs)
    torch.autograd.backward([(output * torch.randn_like(output)).sum() for output in outputs])
    assert [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()] == []


def assert_round_trips(build: Callable[[], nn.Module], *inputs: Tensor) -> None:
    """Another model of the same build, given the weights, is the same function."""
    model, other = randomised(build()), build().double().eval()
    other.load_state_dict(model.state_dict(), strict=True)
    with torch.no_grad():
        for ours, theirs in zip(run(model, inputs), run(other, inputs), strict=True):
            torch.testing.assert_close(ours, theirs)
