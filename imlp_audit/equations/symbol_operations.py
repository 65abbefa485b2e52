"""What operations of torch make of arrays of expressions (expression.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F

from imlp_audit.equations.exact import Exact
from imlp_audit.equations.expression import Expression
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.functions_softmax import softmax
from imlp_audit.equations.rounded import Rounded

Array: TypeAlias = Any  # of expressions
Pair: TypeAlias = tuple[int, int]


def as_array(values: object) -> Array:
    """Return numbers and expressions, nested in sequences or a tensor, as an array of expressions."""
    if isinstance(values, torch.Tensor):
        values = values.detach().double().numpy()
    return _exact(np.array(values, dtype=object))


_exact = np.vectorize(Expression.of, otypes=[object])


def _each(function: Callable[[Expression], Expression], x: Array) -> Array:
    return np.vectorize(function, otypes=[object])(x)


def _along_rows(function: Callable[[list[Rounded]], list[Rounded]], x: Array) -> Array:
    """Apply a function to each vector along the last axis."""
    rows = [[each.value for each in function(list(map(Exact.of, row)))] for row in x.reshape(-1, x.shape[-1])]
    return np.array(rows, dtype=object).reshape(x.shape)


def _gelu(x: Array, approximate: str = "none") -> Array:
    name = "gelu_value" if approximate == "none" else "gelu_tanh_value"
    return _each(lambda each: each.apply(name), x)


def _linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    y = x @ weight.T
    return y if bias is None else y + bias


def _convolution(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    dilation: Pair = (1, 1),
    groups: int = 1,
) -> Array:
    """Convolve all channels, or each with its own kernel, behind a border of zeros."""
    if x.ndim == 3:
        return _convolution(x[None], weight, bias, stride, padding, dilation, groups)[0]
    if dilation != (1, 1) or not (groups == 1 or groups == x.shape[1] == len(weight)):
        raise NotImplementedError("only convolutions of all channels or of each are known for symbols")
    taps = _taps(x, weight.shape[2:], stride, padding)
    if groups == 1:
        terms = [np.moveaxis(np.moveaxis(each, 1, -1) @ weight[:, :, i, j].T, -1, 1) for (i, j), each in taps]
    else:
        terms = [each * weight[:, 0, i, j, None, None] for (i, j), each in taps]
    y = np.vectorize(lambda *each: Expression.total(each), otypes=[object])(*terms)
    return y if bias is None else y + bias[:, None, None]


def _taps(x: Array, kernel: Pair, stride: Pair, padding: Pair) -> list[tuple[Pair, Array]]:
    """Return what each place of the kernel reads, at all positions of the output."""
    (batch, channels, height, width), (top, left) = x.shape, padding
    padded = np.full((batch, channels, height + 2 * top, width + 2 * left), Expression.of(0), dtype=object)
    padded[:, :, top : top + height, left : left + width] = x
    (rows, columns), (down, right) = kernel, stride
    last = padded.shape[2] - rows, padded.shape[3] - columns
    return [
        ((i, j), padded[:, :, i : i + last[0] + 1 : down, j : j + last[1] + 1 : right])
        for i, j in product(range(rows), range(columns))
    ]


_PADDINGS: Mapping[str, Literal["edge", "wrap", "reflect"]] = {
    "replicate": "edge",
    "circular": "wrap",
    "reflect": "reflect",
}


def _pad(x: Array, sides: Sequence[int], mode: str = "constant", value: float = 0) -> Array:
    """Continue the last axes by copies; `sides` begins with those of the last axis."""
    if mode not in _PADDINGS:
        raise NotImplementedError(f"padding by {mode} is not known for symbols")
    pairs = [tuple(sides[i : i + 2]) for i in range(0, len(sides), 2)]
    return np.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1], mode=_PADDINGS[mode])


def _batch_norm(
    x: Array, mean: Array, variance: Array, weight: Array, bias: Array, training: bool, momentum: object, eps: float
) -> Array:
    """Normalise with kept statistics."""
    del momentum
    if training:
        raise NotImplementedError("batch statistics are not known for symbols")
    root = _each(lambda each: Exact.of(each + eps).reciprocal_root().expression, variance)
    m, r, w, b = (each[:, None, None] for each in (mean, root, weight, bias))
    return (x - m) * r * w + b


def _layer_norm(
    x: Array,
    shape: Sequence[int],
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
    *_: object,
) -> Array:
    """Normalise over the last axis."""
    if tuple(shape) != x.shape[-1:]:
        raise NotImplementedError("only norms over the last axis are known for symbols")
    normal = _along_rows(lambda row: layer_norm(row, eps), x)
    scaled = normal if weight is None else normal * weight
    return scaled if bias is None else scaled + bias


def _unflatten(x: Array, dim: int, sizes: Sequence[int]) -> Array:
    at = dim % x.ndim
    return x.reshape(*x.shape[:at], *sizes, *x.shape[at + 1 :])


def softmax_along(x: Array, dim: int) -> Array:
    """Take the softmax along an axis."""
    return np.moveaxis(_along_rows(softmax, np.moveaxis(x, dim, -1)), -1, dim)


def _scaled_dot_product_attention(q: Array, k: Array, v: Array) -> Array:
    weights = q @ np.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5
    return softmax_along(weights, -1) @ v


def _einsum(formula: str, one: Array, other: Array) -> Array:
    return np.einsum(formula, one, other, optimize=False)


def _dropout(x: Array, p: float, training: bool, inplace: bool) -> Array:
    """Keep everything, in evaluation."""
    if training:
        raise NotImplementedError("dropout in training is not known for symbols")
    return x


OPERATIONS: Mapping[Callable[..., object], Callable[..., Array]] = {
    torch.stack: lambda arrays, dim=0: np.stack(arrays, axis=dim),
    torch.cat: lambda arrays, dim=0: np.concatenate(arrays, axis=dim),
    torch.Tensor.mul: lambda one, other: one * other,
    torch.unflatten: _unflatten, torch.softmax: softmax_along, torch.einsum: _einsum,
    F.linear: _linear, F.pad: _pad, torch.conv2d: _convolution,
    F.batch_norm: _batch_norm, F.layer_norm: _layer_norm,
    F.scaled_dot_product_attention: _scaled_dot_product_attention,
    F.gelu: _gelu, F.dropout: _dropout,
    F.relu: lambda x, inplace=False: _each(lambda each: each.apply("relu_value"), x),
    F.softplus: lambda x, *_, **__: _each(lambda each: each.apply("softplus_value"), x),
}  # fmt: skip
