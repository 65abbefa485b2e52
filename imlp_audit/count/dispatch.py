"""Operations as torch dispatches them: read as a Call, and run on the meta device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch._ops import OpOverload

from imlp_audit.count.call import Argument, Call, TensorShape


class RunsOperations(ABC):
    """What a TorchDispatchMode inherits instead of having a `__torch_dispatch__` of its own.

    Torch wraps a mode's own one for its compiler: that takes a second to import, and as long for each call as booking.
    """

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: tuple[type, ...],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        return self.run(func, args, kwargs or {})

    @abstractmethod
    def run(self, func: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Run one operation and return its result."""


def call_of(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object], result: object) -> Call:
    """The call that produced `result`, with defaults for omitted arguments."""
    parameters = func._schema.arguments
    given = {parameter.name: value for parameter, value in zip(parameters, args, strict=False)} | dict(kwargs)
    arguments = {p.name: _argument(given.get(p.name, p.default_value)) for p in parameters}
    first = next(iter(tensors_in([*args, *kwargs.values()])), None)
    row_by_row = first is None or first.is_contiguous()
    return Call(func._schema.name, arguments, tuple(output_shapes(result)), row_by_row)


def output_shapes(result: object) -> list[TensorShape]:
    """TensorShapes of all tensors in a result, in order."""
    if isinstance(result, Tensor):
        return [TensorShape(result.shape)]
    if isinstance(result, tuple | list):
        return [shape for item in result for shape in output_shapes(item)]
    return []


def _argument(value: object) -> Argument:
    if isinstance(value, Tensor):
        return TensorShape(value.shape)
    if isinstance(value, tuple | list):
        return tuple(_argument(item) for item in value)
    return value if value is None or isinstance(value, int | float | str) else str(value)


def run_on_meta(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
    """The operation's result, computed on the meta device if any argument is there.

    A model may create a table in its forward pass without naming a device, so on the CPU; when that meets a
    tensor on the meta device, it is moved there. A convolution of an image that is stored pixel by pixel gives such an
    image, as on a processor; torch's own meta device says otherwise.
    """
    if len({tensor.is_meta for tensor in tensors_in([*args, *kwargs.values()])}) == 2:
        args, kwargs = [*map(_on_meta, args)], {name: _on_meta(value) for name, value in kwargs.items()}
    result = func(*args, **kwargs)
    if func._schema.name == "aten::conv2d" and isinstance(result, Tensor) and result.is_meta and _is_by_pixel(args[0]):
        return result.contiguous(memory_format=torch.channels_last)
    return result


def _is_by_pixel(image: object) -> bool:
    """Return whether an image is stored pixel by pixel; `is_contiguous` allows any stride for an extent of 1."""
    if not isinstance(image, Tensor) or image.ndim != 4:
        return False
    by_pixel = image.is_contiguous(memory_format=torch.channels_last)
    return by_pixel and image.stride() != torch.empty(image.shape, device="meta").stride()


def tensors_in(values: Sequence[object]) -> Iterator[Tensor]:
    """Yield the tensors among values, and in lists of these."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, tuple | list):
            yield from tensors_in(value)


def _on_meta(value: object) -> object:
    if isinstance(value, Tensor):
        return value.to("meta")
    return type(value)(map(_on_meta, value)) if isinstance(value, tuple | list) else value


_SCALARS = frozenset({int, float, bool, str, type(None)})


def signature(value: object) -> Hashable:
    """A key of sizes, strides and types: two arguments share it only if an operation's results are alike for both.

    Numbers include their type: 1, 1.0 and True are equal but promote differently.
    """
    if value.__class__ in _SCALARS:  # most arguments are
        return value.__class__, value
    if isinstance(value, Tensor):
        return value.shape, value.stride(), value.dtype, value.device
    if isinstance(value, tuple | list):
        return tuple([signature(item) for item in value])
    if isinstance(value, Mapping):
        return tuple([(name, signature(item)) for name, item in value.items()])
    return value.__class__, value


@dataclass(frozen=True)
class Template:
    """A tensor's metadata, from which new tensors can be made."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype

    def fresh(self) -> Tensor:
        """A new tensor on the meta device, without data."""
        return torch.empty_strided(self.size, self.stride, dtype=self.dtype, device="meta")


@dataclass(frozen=True)
class FirstArgument:
    """An operation returns its first argument: one that writes in place, or a dropout that drops nothing."""


Made: TypeAlias = Template | FirstArgument | None


def made_by(func: OpOverload, args: Sequence[object], result: object) -> Made:
    """Return how to make the result of a call like this one on the meta device; None where it has to be run again."""
    first = args[0] if args else None
    if result is first and isinstance(first, Tensor) and first.is_meta and torch.Tag.inplace_view not in func.tags:
        return FirstArgument()
    returned = any(result is argument for argument in args)
    if func._schema.is_mutable or func.is_view or returned or not isinstance(result, Tensor) or not result.is_meta:
        return None
    return Template(tuple(result.shape), result.stride(), result.dtype)
