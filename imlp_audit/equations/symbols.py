"""Numbers and tensors of symbols: a claim that is judged on them is proved for every number.

The package's own modules run on them: torch hands each of their operations to `SymbolTensor`. An activation becomes a
function of which nothing is known, so what is proved holds for any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TypeAlias

import numpy as np
import sympy
import torch
import torch.nn.functional as F
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.choices import ChoiceList
from imlp_audit.equations.rounded import Rounded

Pair: TypeAlias = tuple[int, int]


class SymbolChoices(ChoiceList):
    """Choices of sizes and kinds; each number is a new symbol, with the signs that all numbers it stands for have."""

    symbols = 0

    def number(self, values: Sequence[float]) -> sympy.Expr:
        """Return a symbol in place of any of the values."""
        self.symbols += 1
        signs: dict[str, bool] = {"positive": True} if min(values) > 0 else {"nonzero": True} if 0 not in values else {}
        return sympy.Symbol(f"s{self.symbols}", real=True, **signs)


@dataclass(frozen=True)
class Exact(Rounded):
    """An expression; no step of evaluating it is rounded."""

    @staticmethod
    def of(value: sympy.Expr) -> Exact:
        """Return an expression or a number, which is taken for what it is in binary."""
        return Exact(sympy.Rational(value) if isinstance(value, float | int) else value, 0.0, 0, 0.0, 0.0)

    @property
    def error(self) -> float:
        """No rounding."""
        return 0.0

    @property
    def magnitude(self) -> float:
        """Only bounds on rounding ask for it."""
        return 0.0

    def add_up(self, numbers: Sequence[Rounded]) -> Exact:
        """Add up."""
        return Exact.of(sympy.Add(*[self._lift(number).value for number in numbers]))

    def __neg__(self) -> Exact:
        """Negate."""
        return Exact.of(-self.value)

    def __mul__(self, other: sympy.Expr) -> Exact:
        """Multiply."""
        return Exact.of(self.value * self._lift(other).value)

    def through(self, function: Callable[[float], float], lipschitz: float, evaluation: float) -> Exact:
        """Apply a function of which only the name is known. One that holds values, such as a slope, is refused."""
        if function.__closure__:
            raise NotImplementedError(f"{function.__qualname__} has values of its own")
        return Exact.of(_apply(function.__qualname__.partition(".")[0], self.value))

    def same(self, other: sympy.Expr) -> bool:
        """Return whether two expressions are equal for every value of their symbols."""
        return bool(sympy.expand(self.value - self._lift(other).value) == 0)

    def _lift(self, other: sympy.Expr) -> Exact:
        return other if isinstance(other, Exact) else Exact.of(other)


@cache
def _apply(name: str, argument: sympy.Expr) -> sympy.Expr:
    return sympy.Function(name)(sympy.expand(argument))


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
        if func not in _OPERATIONS:
            raise NotImplementedError(f"{func.__name__} is not known for symbols")
        return _OPERATIONS[func](*args, **(kwargs or {}))

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return tuple(self.array.shape)

    def dim(self) -> int:
        """Return the number of its axes."""
        return self.array.ndim

    def __len__(self) -> int:
        """Return the size of its first axis."""
        return len(self.array)

    def tolist(self) -> list[Exact]:
        """Return its expressions, nested as its axes are."""
        nested: list[Exact] = np.vectorize(Exact.of, otypes=[object])(self.array).tolist()
        return nested

    def view(self, shape: tuple[int, ...]) -> SymbolTensor:
        """Return the same expressions in another shape."""
        return SymbolTensor(self.array.reshape(shape))

    def chunk(self, parts: int, dim: int = 0) -> tuple[SymbolTensor, ...]:
        """Cut an axis into equal parts."""
        return tuple(map(SymbolTensor, np.split(self.array, parts, axis=dim)))

    def sum(self, dim: int) -> SymbolTensor:
        """Add up along an axis."""
        return SymbolTensor(self.array.sum(dim))

    def unflatten(self, dim: int, sizes: tuple[int, ...]) -> SymbolTensor:
        """Cut an axis into several."""
        at = dim % self.dim()
        return SymbolTensor(self.array.reshape(*self.shape[:at], *sizes, *self.shape[at + 1 :]))

    def repeat_interleave(self, times: int, dim: int) -> SymbolTensor:
        """Repeat each entry along an axis."""
        return SymbolTensor(self.array.repeat(times, axis=dim))

    def flip(self, axis: int) -> SymbolTensor:
        """Turn an axis round."""
        return SymbolTensor(np.flip(self.array, axis))

    def transpose(self, one: int, other: int) -> SymbolTensor:
        """Exchange two axes."""
        return SymbolTensor(self.array.swapaxes(one, other))

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

    def __getitem__(self, index: int | slice) -> SymbolTensor:
        """Return a part."""
        return SymbolTensor(self.array[index])

    def __add__(self, other: sympy.Expr) -> SymbolTensor:
        """Add, element by element."""
        return SymbolTensor(self.array + _array(other))

    def __mul__(self, other: sympy.Expr) -> SymbolTensor:
        """Multiply element by element."""
        return SymbolTensor(self.array * _array(other))

    __rmul__ = __mul__

    def __matmul__(self, other: SymbolTensor) -> SymbolTensor:
        """Multiply matrices."""
        return SymbolTensor(self.array @ other.array)


def _array(value: sympy.Expr) -> sympy.Expr:
    if isinstance(value, torch.Tensor):
        return np.vectorize(lambda number: sympy.Rational(float(number)), otypes=[object])(value.detach().numpy())
    return value.array if isinstance(value, SymbolTensor) else sympy.Rational(value)


def _activate(name: str, x: SymbolTensor) -> SymbolTensor:
    return SymbolTensor(np.vectorize(lambda each: _apply(name, each), otypes=[object])(x.array))


def _gelu(x: SymbolTensor, approximate: str = "none") -> SymbolTensor:
    return _activate("gelu_value" if approximate == "none" else "gelu_tanh_value", x)


def _linear(x: SymbolTensor, weight: SymbolTensor, bias: SymbolTensor | None = None) -> SymbolTensor:
    y = x @ weight.T
    return y if bias is None else y + bias


def _cat(tensors: Sequence[SymbolTensor], dim: int = 0) -> SymbolTensor:
    return SymbolTensor(np.concatenate([tensor.array for tensor in tensors], axis=dim))


def _depthwise(
    x: SymbolTensor, weight: SymbolTensor, bias: object, stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> SymbolTensor:
    """Convolve each channel with its own kernel, in steps of 1, behind a border of zeros."""
    (_, channels, height, width), (_, _, rows, columns) = x.shape, weight.shape
    if (bias, stride, dilation, groups) != (None, (1, 1), (1, 1), channels):
        raise NotImplementedError("only depthwise convolutions without bias are known for symbols")
    top, left = padding
    padded = np.pad(x.array, ((0, 0), (0, 0), (top, top), (left, left)), constant_values=sympy.Integer(0))
    down, right = height + 2 * top - rows + 1, width + 2 * left - columns + 1
    places = product(range(rows), range(columns))
    kernel = weight.array[:, 0, :, :, None, None]
    terms = [padded[:, :, i : i + down, j : j + right] * kernel[:, i, j] for i, j in places]
    return SymbolTensor(np.vectorize(sympy.Add, otypes=[object])(*terms))


def _batch_norm(
    x: SymbolTensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    training: bool,
    momentum: object,
    eps: float,
) -> SymbolTensor:
    """Normalise with kept statistics, which are numbers."""
    del momentum
    if training:
        raise NotImplementedError("batch statistics are not known for symbols")
    root = [1 / sympy.sqrt(number + sympy.Rational(eps)) for number in _array(variance)]
    m, r, w, b = (np.array(each)[:, None, None] for each in (_array(mean), root, _array(weight), _array(bias)))
    return SymbolTensor((x.array - m) * r * w + b)


_OPERATIONS: Mapping[Callable[..., object], Callable[..., SymbolTensor]] = {
    torch.stack: lambda tensors, dim=0: SymbolTensor(np.stack([each.array for each in tensors], axis=dim)),
    torch.unflatten: SymbolTensor.unflatten,
    torch.Tensor.mul: lambda one, other: SymbolTensor(_array(one) * _array(other)),
    F.linear: _linear, F.gelu: _gelu, torch.cat: _cat, torch.conv2d: _depthwise, F.batch_norm: _batch_norm,
    F.relu: lambda x, inplace=False: _activate("relu", x),
    F.softplus: lambda x, *_, **__: _activate("softplus_value", x),
}  # fmt: skip


@dataclass(frozen=True)
class SymbolicArithmetic(Arithmetic):
    """Arithmetic that is exact."""

    def tensor(self, values: object) -> sympy.Expr:
        """Return a tensor of expressions."""
        return SymbolTensor(
            np.vectorize(lambda value: Exact.of(value).value, otypes=[object])(np.array(values, object))
        )

    def number(self, value: float) -> Rounded:
        """Return an expression."""
        return Exact.of(value)

    def place(self, module: nn.Module) -> nn.Module:
        """Return a module in evaluation mode."""
        return module.eval()

    def put(self, module: nn.Module, name: str, values: object) -> None:
        """Put symbols in the place of a parameter, in its shape."""
        *path, own = name.split(".")
        owner = module.get_submodule(".".join(path))
        shape = getattr(owner, own).shape
        delattr(owner, own)
        setattr(owner, own, self.tensor(values).expand(*shape))
