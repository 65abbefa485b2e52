"""Exact numbers of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

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
    """Number of parameters by each convention, see `parameter_sizes`."""
    return {convention: sum(sizes.values()) for convention, sizes in parameter_sizes(model).items()}


def parameter_sizes(model: nn.Module) -> Mapping[ParameterConvention, Mapping[str, int]]:
    """The sizes of what each convention counts, by the first path that has it. Frozen ones count.

    `no_head` leaves out the modules that the model's `get_classifier()` returns (timm's contract: the last
    linear layer, or both of a distilled model, without the norm and pooling before it). A parameter that the
    rest of the model uses too, such as an embedding tied to the head, still counts. A model without
    `get_classifier` has no such count. `with_buffers` adds the buffers of the state dict, such as running statistics.
    `layers` are those of torch's layers that thop knows by their exact type.
    """
    head = {inner for module in classifiers(model) for inner in module.modules()}
    places = [(f"{path}." if path else "", module) for path, module in model.named_modules()]
    held = [
        (p, f"{path}{name}", module)
        for path, module in places
        for name, p in module._parameters.items()
        if p is not None
    ]
    names = {parameter: name for parameter, name, _ in reversed(held)}
    buffers = {
        f"{path}{name}": buffer.numel()
        for path, module in places
        for name, buffer in module._buffers.items()
        if buffer is not None and name not in module._non_persistent_buffers_set
    }

    def sizes_of(some: Iterable[nn.Parameter]) -> Mapping[str, int]:
        return {names[one]: one.numel() for one in dict.fromkeys(some)}

    every = sizes_of(one for one, *_ in held)
    counts = {ParameterConvention.ALL: every}
    if callable(getattr(model, "get_classifier", None)):
        counts[ParameterConvention.NO_HEAD] = sizes_of(one for one, _, module in held if module not in head)
    counts[ParameterConvention.WITH_BUFFERS] = {**every, **buffers}
    counts[ParameterConvention.TRAINABLE] = sizes_of(one for one in names if one.requires_grad)
    counts[ParameterConvention.LAYERS] = sizes_of(one for one, _, module in held if type(module) in THOPS_LAYERS)
    return counts


def classifiers(model: nn.Module) -> Iterator[nn.Module]:
    """The modules of the model's classifier head; none if the model has no `get_classifier`."""
    get_classifier = getattr(model, "get_classifier", None)
    if not callable(get_classifier):
        return
    found = get_classifier()
    for module in found if isinstance(found, tuple | list) else (found,):
        if isinstance(module, nn.Module):
            yield module
