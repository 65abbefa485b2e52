"""The weights of whole networks, by the names that the package gives them, and the steps that the formulas share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.matrix import RoundedMatrix, add
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Vector, vectors

Shapes = dict[str, tuple[int, ...]]

# Matrices are small, so that a block changes its input without drowning it: through many norms the bound stays useful.
_ENTRIES = st.sampled_from((0.5, -0.5, 0.25, -0.25, 0.75, -0.75, 1.0, -1.0))


@dataclass(frozen=True)
class Weights:
    """Every parameter of a network: its shape by its name, and the numbers of all, one after the other."""

    shapes: Shapes
    numbers: Vector

    def misfits(self, network: nn.Module) -> list[str]:
        """Return the parameters that only one side has, or in another shape. What is shared has one name."""
        own = {name: tuple(parameter.shape) for name, parameter in network.named_parameters()}
        names = sorted(own.keys() | self.shapes.keys())
        return [name for name in names if own.get(name) != self.shapes.get(name)]

    def load(self, network: nn.Module, arithmetic: Arithmetic) -> nn.Module:
        """Give the network its weights."""
        for name, values in self._by_name():
            arithmetic.put(network, name, _nest(values, self.shapes[name]))
        return network.eval()

    def in_formulas(self, arithmetic: Arithmetic) -> Formulas:
        """Return the weights as numbers to write formulas in."""
        return Formulas({name: arithmetic.vector(values) for name, values in self._by_name()}, self.shapes, arithmetic)

    def _by_name(self) -> Iterator[tuple[str, Vector]]:
        start = 0
        for name, shape in self.shapes.items():
            size = prod(shape)
            yield name, self.numbers[start : start + size]
            start += size


@dataclass(frozen=True)
class Formulas:
    """The weights in rounded numbers, and what is made with them."""

    numbers: Mapping[str, list[Rounded]]
    shapes: Shapes
    arithmetic: Arithmetic

    def vector(self, name: str) -> list[Rounded]:
        """Return all numbers of a parameter, row by row."""
        return self.numbers[name]

    def matrix(self, name: str) -> RoundedMatrix:
        """Return a parameter as a matrix; all axes except the first are one."""
        numbers, rows = self.numbers[name], self.shapes[name][0]
        width = len(numbers) // rows
        return RoundedMatrix(numbers[row * width : (row + 1) * width] for row in range(rows))

    def affine(self, x: RoundedMatrix, name: str, *, bias: str | None = None) -> RoundedMatrix:
        """Return W x + b for each row x; `bias` names another layer whose b it is."""
        shift = self.vector(f"{bias or name}.bias")
        return settled((x @ self.matrix(f"{name}.weight").T).map_rows(lambda row: add(row, shift)))

    def norm(self, x: RoundedMatrix, name: str, eps: float) -> RoundedMatrix:
        """Return LayerNorm of each row, with its learned scale and shift."""
        weight, bias = self.vector(f"{name}.weight"), self.vector(f"{name}.bias")
        return settled(x.map_rows(lambda row: layer_norm(row, eps, weight, bias)))

    def mean(self, x: RoundedMatrix) -> RoundedMatrix:
        """Return the mean of all rows, as one row."""
        share = replace(self.arithmetic.number(1 / len(x)), steps=1)
        return RoundedMatrix([[total(column) * share for column in x.T]])


def settled(x: RoundedMatrix) -> RoundedMatrix:
    """Return the same numbers, each of them evaluated: what is made of it later is made of its one value.

    A bound for every order of evaluating all steps at once would be too wide: one step ends where the next begins.
    """
    return x.map(lambda number: number.through(_same, 1.0, 0.0))


def _same(x: float) -> float:
    return x


def weights(shapes: Shapes) -> st.Strategy[Weights]:
    """Any weights of these shapes."""
    count = sum(map(prod, shapes.values()))
    return vectors(count, _ENTRIES).map(lambda numbers: Weights(shapes, numbers))


def linear(name: str, inputs: int, outputs: int) -> Shapes:
    """Return the shapes of a linear layer."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def norm(name: str, width: int) -> Shapes:
    """Return the shapes of a LayerNorm."""
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def _nest(values: Vector, shape: tuple[int, ...]) -> object:
    """Return numbers as nested tuples of a shape."""
    if len(shape) == 1:
        return values
    step = len(values) // shape[0]
    return tuple(_nest(values[at : at + step], shape[1:]) for at in range(0, len(values), step))
