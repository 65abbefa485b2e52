"""What the tests of ResMLP and of the chain from CaiT to it share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.ledger import measure
from imlp_audit.models.settings import example_inputs

RES_BLOCK = {
    r"\bnorm([12])\.": r"pre\1.",
    r"\blinear_tokens\.": "across_patches.a.",
    r"\bmlp_channels\.fc1\.": "across_channels.b.",
    r"\bmlp_channels\.fc2\.": "across_channels.c.",
    r"\bls([12])$": r"post\1.alpha",
}
"""timm's names of the weights in a layer of ResMLP, and ours."""

Module = TypeVar("Module", bound=nn.Module)


def randomised(module: Module) -> Module:
    """Weights that all matter, in double precision."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double().eval()


def renamed(theirs: nn.Module, names: Mapping[str, str]) -> dict[str, Tensor]:
    """Weights under our names; vectors without the axes of one that timm gives them."""
    weights: dict[str, Tensor] = {}
    for name, weight in theirs.state_dict().items():
        for pattern, ours in names.items():
            name = re.sub(pattern, ours, name)
        weights[name] = weight.squeeze() if name.endswith(("alpha", "beta", "token", "positions")) else weight
    return weights


def loaded(ours: Module, weights: Mapping[str, Tensor]) -> Module:
    """The module with these weights, in double precision."""
    ours.double().load_state_dict(weights)
    return ours.eval()


def parameters(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def counts(model: nn.Module) -> dict[str, int]:
    """Parameters, and the work under each convention, of a model on the meta device.

    But for those that see modules alone: timm has a linear layer where ours multiplies by the matrix A, which is none.
    """
    of_modules = ("modules", "thop", "mmcv", "ptflops_hooks")
    with torch.device("meta"):
        ledger = measure(model, *example_inputs(model))
    assert not ledger.unknown
    work = {name: total(ledger, convention) for name, convention in FLOPS_CONVENTIONS.items() if name not in of_modules}
    return {"parameters": parameters(model), **work}


def without_gradient(model: nn.Module, *inputs: Tensor) -> set[str]:
    """The parameters on which the output does not depend, up to rounding."""
    model.eval()(*inputs).square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    return {name for name, grad in gradients.items() if grad is None or not grad.abs().max() > 1e-12}


def assert_round_trip(model: nn.Module, other: nn.Module, *inputs: Tensor) -> None:
    """The other model gives the same outputs once it has this one's state."""
    other.double().load_state_dict(model.state_dict(), strict=True)
    torch.testing.assert_close(other.eval()(*inputs), model.eval()(*inputs))
