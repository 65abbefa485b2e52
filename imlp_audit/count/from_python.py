"""Counting any model from Python, wherever its weights are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.facts import ModelFacts
from imlp_audit.count.record import Ledger
from imlp_audit.errors import BuildError

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class ModelMeasurement:
    """What a model counts.

    `parameters` are its numbers of parameters by convention (`all`, `with_buffers`, ...), `flops` its work in one
    forward pass by convention (`macs`, `fvcore`, `torch`, ...). Both have `no_head` where the model says what its head
    is, with `get_classifier`. The `ledger` has the work by module and class of operation.
    """

    parameters: Mapping[str, int]
    flops: Mapping[str, int]
    ledger: Ledger

    @property
    def uncounted(self) -> tuple[str, ...]:
        """The operations that no formula counts; where there are some, `flops` are too low."""
        return tuple(sorted(self.ledger.unknown))


def measure_model(model: nn.Module, *inputs: Tensor) -> ModelMeasurement:
    """Count a model's parameters and the exact work of `model(*inputs)` in evaluation mode.

    Nothing is computed, and the model is not changed: a copy without values is run. Raises BuildError for a model that
    cannot be counted.

    >>> import imlp_audit
    >>> from torch import nn, zeros
    >>> net = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> found = imlp_audit.measure(net, zeros(1, 8))
    >>> found.parameters["all"]  # 8 x 4 + 4 and 4 x 2 + 2
    46
    >>> found.flops["macs"], found.flops["ptflops"]  # 8 x 4 + 4 x 2; and a bias for each of 6 outputs
    (40, 46)
    >>> found.uncounted
    ()
    """
    import torch

    from imlp_audit.count.ledger import measure
    from imlp_audit.count.parameters import parameter_counts

    held = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    empty: dict[int, object] = {}
    for key, tensor in held.items():
        bare = torch.empty_like(tensor, device="meta")
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        empty[key] = torch.nn.Parameter(bare, requires_grad=tensor.requires_grad) if is_parameter else bare
    try:
        copy = deepcopy(model, empty)
    except RuntimeError as error:  # as for a cache that a forward pass with gradients has filled
        raise BuildError(f"the model could not be copied: {error}") from error
    ledger = measure(copy, *(one.to("meta") for one in inputs))
    facts = ModelFacts(parameter_counts(copy), (), 0, ledger)
    return ModelMeasurement(
        parameters={str(name): count for name, count in facts.parameters.items()},
        flops={name: total(ledger, counter) for name, counter in FLOPS_CONVENTIONS.items() if facts.has_total(counter)},
        ledger=ledger,
    )


def macs(build: Callable[[], nn.Module], *shape: int) -> int:
    """Return the multiply-accumulates of one forward pass on an input of this shape."""
    import torch

    from imlp_audit.count.ledger import measure
    from imlp_audit.count.measuring import calls_seen
    from imlp_audit.models.torch_modes import SkipInitialisation

    with torch.device("meta"):
        with SkipInitialisation():
            model = build()
        ledger = measure(model, torch.empty(shape), cache=calls_seen())
    if ledger.unknown:
        raise ValueError(f"not counted: {', '.join(ledger.unknown)}")
    return total(ledger, FLOPS_CONVENTIONS["macs"])


def parameters(build: Callable[[], nn.Module]) -> int:
    """Return the number of parameters."""
    import torch

    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build().parameters())
