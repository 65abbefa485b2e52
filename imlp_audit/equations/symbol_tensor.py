"""Tensors of expressions: torch hands each operation of a module that runs on them to `symbol_operations.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch

from imlp_audit.equations.exact import Exact, Value
from imlp_audit.equations.expression import Expression
from imlp_audit.equations.symbol_operations import OPERATIONS, as_array, softmax_along


class SymbolTensor:
    """A tensor of expressions."""

    def __init__(self, values: object) -> None:
        self.array = np.array(values, dtype=object)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> SymbolTensor:
        """Run an operation of torch."""
        if func not in OPERATIONS:
            raise NotImplementedError(f"{func.__name__} is not known for symbols")
        named = {name: _unwrap(value) for name, value in (kwargs or {}).items()}
        return SymbolTensor(OPERATIONS[func](*map(_unwrap, args), **named))

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return tuple(self.array.shape)

    @property
    def device(self) -> torch.device:
        """Where tensors of numbers that index it are made."""
        return torch.device("cpu")

    def dim(self) -> int:
        """Return the number of its axes."""
        return self.array.ndim

    ndim = property(dim)

    def __len__(self) -> int:
        """Return the size of its first axis."""
        return len(self.array)

    def tolist(self) -> list[Exact]:
        """Return its expressions, nested as its axes are."""
        nested: list[Exact] = np.vectorize(Exact.of, otypes=[object])(self.array).tolist()
        return nested

    def view(self, *shape: Value) -> SymbolTensor:
        """Return the same expressions in another shape, given as one tuple or as its sizes."""
        return SymbolTensor(self.array.reshape(*shape))

    reshape = view

    def flatten(self, start: int = 0, end: int = -1) -> SymbolTensor:
        """Join neighbouring axes."""
        first, last = start % self.dim(), end % self.dim()
        return self.view(*self.shape[:first], -1, *self.shape[last + 1 :])

    def chunk(self, parts: int, dim: int = 0) -> tuple[SymbolTensor, ...]:
        """Cut an axis into equal parts."""
        return tuple(map(SymbolTensor, np.split(self.array, parts, axis=dim)))

    def split(self, size: int, dim: int = 0) -> tuple[SymbolTensor, ...]:
        """Cut an axis into parts of a size."""
        return self.chunk(self.shape[dim] // size, dim)

    def sum(self, dim: int) -> SymbolTensor:
        """Add up along an axis."""
        return SymbolTensor(self.array.sum(dim))

    def mean(self, dim: int) -> SymbolTensor:
        """Return the mean along an axis."""
        return SymbolTensor(self.array.sum(dim) / self.shape[dim])

    def softmax(self, dim: int) -> SymbolTensor:
        """Take the softmax along an axis."""
        return SymbolTensor(softmax_along(self.array, dim))

    def tril(self) -> SymbolTensor:
        """Put 0 above the diagonal."""
        kept = self.array.copy()
        kept[..., ~np.tri(*self.shape[-2:], dtype=np.bool_)] = Expression.of(0)
        return SymbolTensor(kept)

    def repeat_interleave(self, times: int, dim: int) -> SymbolTensor:
        """Repeat each entry along an axis."""
        return SymbolTensor(self.array.repeat(times, axis=dim))

    def flip(self, axis: int) -> SymbolTensor:
        """Turn an axis round."""
        return SymbolTensor(np.flip(self.array, axis))

    def transpose(self, one: int, other: int) -> SymbolTensor:
        """Exchange two axes."""
        return SymbolTensor(self.array.swapaxes(one, other))

    def permute(self, *axes: int) -> SymbolTensor:
        """Put the axes in another order."""
        return SymbolTensor(self.array.transpose(axes))

    @property
    def mT(self) -> SymbolTensor:  # noqa: N802 - torch's name
        """Exchange the last two axes."""
        return self.transpose(-1, -2)

    @property
    def T(self) -> SymbolTensor:  # noqa: N802 - torch's name
        """Turn its axes round."""
        return SymbolTensor(self.array.T)

    def expand(self, *shape: int) -> SymbolTensor:
        """Repeat along new axes and those of size 1; -1 keeps a size."""
        kept = (*[1] * (len(shape) - self.dim()), *self.shape)
        return SymbolTensor(np.broadcast_to(self.array, [k if s < 0 else s for s, k in zip(shape, kept, strict=True)]))

    def __getitem__(self, index: Value) -> SymbolTensor:
        """Return a part."""
        return SymbolTensor(self.array[index.numpy() if isinstance(index, torch.Tensor) else index])

    def __add__(self, other: Value) -> SymbolTensor:
        """Add, element by element."""
        return SymbolTensor(self.array + _unwrap(other, numbers=True))

    def __sub__(self, other: Value) -> SymbolTensor:
        """Subtract, element by element."""
        return SymbolTensor(self.array - _unwrap(other, numbers=True))

    def __mul__(self, other: Value) -> SymbolTensor:
        """Multiply element by element."""
        return SymbolTensor(self.array * _unwrap(other, numbers=True))

    __rmul__ = __mul__

    def __matmul__(self, other: SymbolTensor) -> SymbolTensor:
        """Multiply matrices."""
        return SymbolTensor(self.array @ other.array)


def _unwrap(value: Value, *, numbers: bool = False) -> Value:
    """Return the expressions of a tensor, or of each tensor in a sequence; with `numbers` also those of a number."""
    if isinstance(value, SymbolTensor):
        return value.array
    if isinstance(value, torch.Tensor) or numbers:
        return as_array(value)
    if isinstance(value, list | tuple):
        return [_unwrap(each) for each in value] if any(map(_is_tensor, value)) else value
    return value


def _is_tensor(value: object) -> bool:
    return isinstance(value, SymbolTensor | torch.Tensor)
