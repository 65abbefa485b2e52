"""Operations as torch dispatches them: read as a Call, run on the meta device, and common results by arithmetic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from operator import mul
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
    first = next(iter(_tensors([*args, *kwargs.values()])), None)
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
    tensor on the meta device, it is moved there.
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


Shape: TypeAlias = tuple[int, ...]
Rule: TypeAlias = Callable[..., Shape | None]
"""Takes an operation's arguments; returns the shape of its result, or None if torch has to be asked."""


def result_by_arithmetic(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> Tensor | None:
    """Return an operation's result on the meta device, or None if torch has to be asked.

    Torch is asked about operations without a rule here, about arguments that do not fit together, and about tensors
    that differ in type, are not of floating point, or are not stored row by row. A convolution of an image that is
    stored pixel by pixel gives such an image, as on a processor; torch's own meta device says otherwise.
    """
    rule = RULES.get(func._schema.name)
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
    if rule is None or func._schema.is_mutable or not tensors:
        return None
    dtype = tensors[0].dtype
    pixels = rule is _conv2d and _is_pixel_by_pixel(tensors[0])
    plain = dtype.is_floating_point and all(t.is_meta and t.dtype is dtype for t in tensors)
    plain = plain and all(_is_row_by_row(one) for one in tensors[pixels:])
    shape = rule(*args, **kwargs) if plain else None
    layout = torch.channels_last if pixels else torch.contiguous_format
    return None if shape is None else torch.empty(shape, dtype=dtype, device="meta", memory_format=layout)


def _is_row_by_row(tensor: Tensor) -> bool:
    """Return whether a tensor has the strides of a new one; `is_contiguous` allows any for an extent of 1."""
    strides = [*accumulate((max(extent, 1) for extent in reversed(tensor.shape)), mul, initial=1)]
    return tensor.stride() == tuple(reversed(strides[:-1]))


def _is_pixel_by_pixel(tensor: Tensor) -> bool:
    ordered = tensor.ndim == 4 and tensor.is_contiguous(memory_format=torch.channels_last)
    return ordered and not _is_row_by_row(tensor)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Shape | None:
    fits = weight.ndim == 2 and x.ndim >= 2 and x.shape[-1] == weight.shape[1]
    return (*x.shape[:-1], weight.shape[0]) if fits and _is_of(bias, weight.shape[:1]) else None


def _conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] | str = (0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
) -> Shape | None:
    if x.ndim != 4 or weight.ndim != 4 or isinstance(padding, str):
        return None
    outputs, inputs, *kernel = weight.shape
    fits = x.shape[1] == inputs * groups and outputs % groups == 0 and _is_of(bias, weight.shape[:1])
    steps = zip(x.shape[2:], kernel, *(_pair(one) for one in (stride, padding, dilation)), strict=True)
    sides = [(side + 2 * pad - apart * (k - 1) - 1) // step + 1 for side, k, step, pad, apart in steps]
    return (x.shape[0], outputs, *sides) if fits and min(*x.shape, *weight.shape, *sides) > 0 else None


def _pair(sizes: Sequence[int]) -> tuple[int, int]:
    """Return a size for each of two axes, where torch also takes one for both."""
    return sizes[0], sizes[-1]


def _layer_norm(
    x: Tensor, sizes: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, *_: object
) -> Shape | None:
    own = tuple(sizes)
    fits = own and x.shape[-len(own) :] == own and _is_of(weight, own) and _is_of(bias, own)
    return tuple(x.shape) if fits else None


def _batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor | None,
    variance: Tensor | None,
    training: bool,  # as torch passes it
    *_: object,
) -> Shape | None:
    given = mean is not None and variance is not None and not training
    fits = given and x.ndim >= 2 and all(_is_of(one, x.shape[1:2]) for one in (weight, bias, mean, variance))
    return tuple(x.shape) if fits else None


def _activation(x: Tensor, **_: object) -> Shape:
    return tuple(x.shape)


def _elementwise(x: object, y: object, **_: object) -> Shape | None:
    """Broadcast two tensors, or a tensor and a number."""
    shapes = [value.shape if isinstance(value, Tensor) else () for value in (x, y)]
    if not all(isinstance(value, Tensor | float | int) for value in (x, y)):  # a complex number makes a complex tensor
        return None
    pairs = list(zip_longest(*map(reversed, shapes), fillvalue=1))
    fits = all(a == b or 1 in (a, b) for a, b in pairs)
    return tuple(b if a == 1 else a for a, b in reversed(pairs)) if fits else None


def _is_of(tensor: Tensor | None, shape: Sequence[int]) -> bool:
    return tensor is None or tensor.shape == shape


RULES: Mapping[str, Rule] = {
    "aten::linear": _linear,
    "aten::conv2d": _conv2d,
    "aten::layer_norm": _layer_norm,
    "aten::batch_norm": _batch_norm,
    **dict.fromkeys(("aten::gelu", "aten::relu", "aten::silu", "aten::sigmoid", "aten::tanh"), _activation),
    **dict.fromkeys(("aten::add", "aten::sub", "aten::mul", "aten::div"), _elementwise),
}
