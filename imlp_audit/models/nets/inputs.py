"""What a model from outside is run on, and building it where its code computes with numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import MethodType
from typing import assert_never

import torch
from torch import Tensor, nn

from imlp_audit.models.nets.devices import current_device
from imlp_audit.models.values import TensorInput

NamedInputs = Mapping[str, TensorInput | Mapping[str, TensorInput]]
"""What a model reads by the names of its arguments; an argument can be a dictionary of tensors."""


def make_module(maker: Callable[[], object]) -> object:
    """Call a maker; one that computes with the numbers of tensors cannot do it on the meta device."""
    device = current_device()
    try:
        model = maker()
    except (NotImplementedError, RuntimeError):
        if device.type != "meta":
            raise
        with torch.device("cpu"):
            model = maker()
    return _move(model, device) if isinstance(model, nn.Module) else model


def _move(model: nn.Module, device: torch.device) -> nn.Module:
    """Move a model; `to` alone would make two parameters of one that two modules share."""
    names: dict[nn.Parameter, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(parameter, []).append(name)
    model.to(device)
    for first, *others in names.values():
        for place, _, name in (other.rpartition(".") for other in others):
            setattr(model.get_submodule(place), name, model.get_parameter(first))
    return model


def tensors_in(value: object) -> Iterator[Tensor]:
    """Yield the tensors that a model's output holds."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping | tuple | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from tensors_in(one)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from tensors_in([getattr(value, field.name) for field in fields(value)])


def set_input(model: nn.Module, one: TensorInput, run: Callable[..., object]) -> None:
    """Let a model be run on one tensor, whatever its argument is called."""
    model.forward = MethodType(lambda self, *tensors: run(self, *tensors), model)
    model.example_inputs = MethodType(lambda _self, batch: (_example(one, batch),), model)  # type: ignore[assignment]


def set_inputs(model: nn.Module, inputs: NamedInputs, run: Callable[..., object]) -> None:
    """Let a model be run on the tensors of its named arguments, one after the other, as every counter runs it."""
    paths = [(name, key) for name, given in inputs.items() for key in (given if isinstance(given, Mapping) else ("",))]

    def forward(self: nn.Module, *tensors: Tensor) -> object:
        named: dict[str, Tensor | dict[str, Tensor]] = {}
        for (name, key), tensor in zip(paths, tensors, strict=True):
            inside = named.setdefault(name, {}) if key else None
            if isinstance(inside, dict):
                inside[key] = tensor
            else:
                named[name] = tensor
        return run(self, **named)

    def example_inputs(_self: nn.Module, batch: int) -> tuple[Tensor, ...]:
        entries = (given[key] if isinstance(given := inputs[name], Mapping) else given for name, key in paths)
        return tuple(_example(one, batch) for one in entries)

    # methods of the instance, so that a copy of the model runs itself
    model.forward = MethodType(forward, model)
    model.example_inputs = MethodType(example_inputs, model)  # type: ignore[assignment]  # models.settings.Exemplified


def _example(given: TensorInput, batch: int) -> Tensor:
    match given.dtype:
        case "float32":
            return torch.zeros(batch, *given.shape)
        case "int64":
            return torch.zeros(batch, *given.shape, dtype=torch.long)
        case "bool":
            return torch.ones(batch, *given.shape, dtype=torch.bool)
        case other:
            assert_never(other)
