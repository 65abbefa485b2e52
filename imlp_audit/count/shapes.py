"""Results of common operations by arithmetic: torch's own shape functions for them take up to a millisecond each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, zip_longest
from operator import mul
from typing import TypeAlias

import torch
from torch import Tensor
from torch._ops import OpOverload

Shape: TypeAlias = tuple[int, ...]
Rule: TypeAlias = Callable[..., Shape | None]
"""Takes an operation's arguments; returns the shape of its result, or None if torch has to be asked."""


def result_by_arithmetic(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> Tensor | None:
    """Return an operation's result on the meta device, or None if torch has to be asked.

    Torch is asked about operations without a rule here, about arguments that do not fit together, and about tensors
    that differ in type, are not of floating point, or are not stored row by row.
    """
    rule = RULES.get(func._schema.name)
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
    if rule is None or func._schema.is_mutable or not tensors:
        return None
    dtype = tensors[0].dtype
    plain = dtype.is_floating_point and all(t.is_meta and t.dtype is dtype and _is_row_by_row(t) for t in tensors)
    shape = rule(*args, **kwargs) if plain else None
    return None if shape is None else torch.empty(shape, dtype=dtype, device="meta")


def _is_row_by_row(tensor: Tensor) -> bool:
    """Return whether a tensor has the strides of a new one; `is_contiguous` allows any for an extent of 1."""
    strides = [*accumulate((max(extent, 1) for extent in reversed(tensor.shape)), mul, initial=1)]
    return tensor.stride() == tuple(reversed(strides[:-1]))


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
