"""Counting a model, or a part of it, on the meta device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import CallCache, measure
from imlp_audit.count.parameters import parameter_counts
from imlp_audit.count.record import Ledger
from imlp_audit.models.build import Variant
from imlp_audit.models.replace import use_modules
from imlp_audit.models.settings import example_inputs
from imlp_audit.solve.amounts import Amounts, amounts


@dataclass(frozen=True)
class Counted:
    """A model, its work by module, and by path what each call of an MLP was given."""

    model: nn.Module
    ledger: Ledger
    inputs: Mapping[str, Sequence[Tensor]]

    def amounts(self) -> Amounts:
        """Return the amounts of the whole."""
        return amounts(parameter_counts(self.model), self.ledger)

    def without(self, paths: Sequence[str]) -> Amounts:
        """Return the amounts of the model without the modules at some paths."""
        inside = self.ledger.within(paths).work
        rest = {key: amount for key, amount in self.ledger.work.items() if key not in inside}
        with use_modules(self.model, {path: nn.Identity() for path in paths}):
            return amounts(parameter_counts(self.model), Ledger(rest, self.ledger.unknown))


def count_model(variant: Variant, memory: CallCache) -> Counted:
    """Run a model once on its example inputs."""
    model = unfuse_attention(variant.model)
    inputs: dict[str, list[Tensor]] = {path: [] for path in variant.mlps}
    with torch.device("meta"):
        images = example_inputs(model)
    with ExitStack() as listening:
        for path, heard in inputs.items():
            hook = model.get_submodule(path).register_forward_pre_hook(_listener(heard))
            listening.callback(hook.remove)
        ledger = measure(model, *images, cache=memory)
    return Counted(model, ledger, inputs)


def _listener(heard: list[Tensor]) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
    """Return a hook that keeps what a module is given; on the meta device that holds no data."""

    def listen(_module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        heard.extend(inputs)

    return listen


def count_block(block: nn.Module, inputs: Sequence[Tensor], at: str, memory: CallCache) -> Amounts:
    """Return the amounts of the part of a model at a dotted path, called once for each input; none of it is a head."""
    counts = parameter_counts(block)
    own = {**counts, ParameterConvention.NO_HEAD: counts[ParameterConvention.ALL]}
    calls = (amounts({}, _prefix_paths(measure(block, x, cache=memory), at)) for x in inputs)
    return sum(calls, amounts(own, Ledger({}, {})))


def _prefix_paths(ledger: Ledger, at: str) -> Ledger:
    """Return the ledger of a module, with its paths in a model."""
    work = {(f"{at}.{path}" if path else at, operation): amount for (path, operation), amount in ledger.work.items()}
    return Ledger(work, ledger.unknown)
