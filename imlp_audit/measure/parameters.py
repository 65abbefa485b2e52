"""Exact numbers of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from torch import nn

from imlp_audit.errors import BuildError
from imlp_audit.measure.conventions import ParameterConvention


def count_parameters(model: nn.Module, convention: ParameterConvention = ParameterConvention.ALL) -> int:
    """Number of parameters, one that is shared counted once, frozen ones included.

    Buffers are no parameters, but `with_buffers` adds those that the state dict has, such as running statistics.
    `no_head` leaves out the modules that the model's `get_classifier()` returns (timm's contract: the last
    linear layer, or both of a distilled model, without the norm and pooling before it). A parameter that the
    rest of the model holds too, such as an embedding tied to the head, stays. Raises BuildError for a model
    without `get_classifier`.
    """
    match convention:
        case ParameterConvention.ALL | ParameterConvention.WITH_BUFFERS:
            head: set[nn.Module] = set()
        case ParameterConvention.NO_HEAD:
            head = {inner for module in classifiers(model) for inner in module.modules()}
        case _:
            assert_never(convention)
    held = {p for module in model.modules() if module not in head for p in module.parameters(recurse=False)}
    buffers = _persistent_buffers(model) if convention is ParameterConvention.WITH_BUFFERS else 0
    return sum(parameter.numel() for parameter in held) + buffers


def _persistent_buffers(model: nn.Module) -> int:
    state = model.state_dict()
    return sum(buffer.numel() for name, buffer in model.named_buffers() if name in state)


def classifiers(model: nn.Module) -> Iterator[nn.Module]:
    """The modules of the model's classifier head; raises BuildError if it doesn't say which they are."""
    get_classifier = getattr(model, "get_classifier", None)
    if not callable(get_classifier):
        raise BuildError(f"{type(model).__name__} has no get_classifier(), so its head can't be told apart")
    found = get_classifier()
    for module in found if isinstance(found, tuple | list) else (found,):
        if isinstance(module, nn.Module):
            yield module
