"""Exact numbers of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torch import nn

from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.hooks import THOPS_LAYERS
from imlp_audit.errors import BuildError


def count_parameters(model: nn.Module, convention: ParameterConvention = ParameterConvention.ALL) -> int:
    """Number of parameters by one convention, see `parameter_counts`.

    Raises BuildError for `no_head` if the model has no `get_classifier`.
    """
    counts = parameter_counts(model)
    if convention not in counts:
        raise BuildError(f"{type(model).__name__} has no get_classifier(), so its classifier head is not known")
    return counts[convention]


def parameter_counts(model: nn.Module) -> Mapping[ParameterConvention, int]:
    """Number of parameters by each convention. Shared parameters count once, and frozen ones count.

    `no_head` leaves out the modules that the model's `get_classifier()` returns (timm's contract: the last
    linear layer, or both of a distilled model, without the norm and pooling before it). A parameter that the
    rest of the model uses too, such as an embedding tied to the head, still counts. A model without
    `get_classifier` has no such count. `with_buffers` adds the buffers of the state dict, such as running statistics.
    `layers` are those of torch's layers that thop knows by their exact type.
    """
    head = {inner for module in classifiers(model) for inner in module.modules()}
    everything, rest, layers, buffers = {}, {}, {}, 0
    for module in model.modules():  # once for all: large models have tens of thousands
        held = {p: p.numel() for p in module._parameters.values() if p is not None}
        everything.update(held)
        if module not in head:
            rest.update(held)
        if type(module) in THOPS_LAYERS:
            layers.update(held)
        if module._buffers:
            buffers += _persistent(module)
    counts = {ParameterConvention.ALL: sum(everything.values())}
    if callable(getattr(model, "get_classifier", None)):
        counts[ParameterConvention.NO_HEAD] = sum(rest.values())
    counts[ParameterConvention.WITH_BUFFERS] = counts[ParameterConvention.ALL] + buffers
    counts[ParameterConvention.TRAINABLE] = sum(n for parameter, n in everything.items() if parameter.requires_grad)
    counts[ParameterConvention.LAYERS] = sum(layers.values())
    return counts


def _persistent(module: nn.Module) -> int:
    """Number of elements in those of a module's own buffers that its state dict has."""
    kept = (b for name, b in module._buffers.items() if name not in module._non_persistent_buffers_set)
    return sum(buffer.numel() for buffer in kept if buffer is not None)


def classifiers(model: nn.Module) -> Iterator[nn.Module]:
    """The modules of the model's classifier head; none if the model has no `get_classifier`."""
    get_classifier = getattr(model, "get_classifier", None)
    if not callable(get_classifier):
        return
    found = get_classifier()
    for module in found if isinstance(found, tuple | list) else (found,):
        if isinstance(module, nn.Module):
            yield module
