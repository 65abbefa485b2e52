"""Running an operation on the meta device, wherever the model left its tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torch import Tensor
from torch._ops import OpOverload


def run(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
    """The operation's result.

    A model may make a table in its forward pass without saying where, so on the CPU; where that meets a
    tensor on the meta device, it is taken there.
    """
    if len({tensor.is_meta for tensor in _tensors([*args, *kwargs.values()])}) < 2:
        return func(*args, **kwargs)
    return func(*map(_on_meta, args), **{name: _on_meta(value) for name, value in kwargs.items()})


def _tensors(values: Sequence[object]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, tuple | list):
            yield from _tensors(value)


def _on_meta(value: object) -> object:
    if isinstance(value, Tensor):
        return value.to("meta")
    return type(value)(map(_on_meta, value)) if isinstance(value, tuple | list) else value
