"""A network's weights as numbers of a formula, and the maps that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.matrix import RoundedMatrix, add
from imlp_audit.equations.rounded import Rounded

from ._network import Nested

Column = list[Rounded]
Map = Callable[[Column], Column]


@dataclass(frozen=True)
class Weights:
    """The weights below a name; each is a matrix with a row for each output."""

    values: Mapping[str, RoundedMatrix]
    name: str = ""

    @staticmethod
    def of(values: Mapping[str, Nested], arithmetic: Arithmetic) -> Weights:
        """Return weights as exact numbers."""
        return Weights({name: arithmetic.matrix([_flat(row) for row in _rows(each)]) for name, each in values.items()})

    def below(self, name: str) -> Weights:
        """Return those of a part."""
        return replace(self, name=f"{self.name}{name}.")

    def has(self, name: str) -> bool:
        """Whether there is one of this name."""
        return f"{self.name}{name}" in self.values

    def matrix(self, name: str) -> RoundedMatrix:
        """Return one of them."""
        return self.values[f"{self.name}{name}"]

    def vector(self, name: str) -> Column:
        """Return its numbers, output by output."""
        return [number for row in self.matrix(name) for number in row]


def _rows(values: Nested) -> list[Nested]:
    return values if isinstance(values, list) else [values]


def _flat(values: Nested) -> list[float]:
    return [number for value in values for number in _flat(value)] if isinstance(values, list) else [values]


def affine(weights: Weights, name: str = "") -> Map:
    """Return the map W x + b, or W x where there is no b."""
    below = weights.below(name) if name else weights
    matrix, bias = below.matrix("weight"), below.vector("bias") if below.has("bias") else None
    return lambda x: matrix @ x if bias is None else add(matrix @ x, bias)


def scale(weights: Weights) -> Map:
    """Diag(alpha) x + beta, or Diag(alpha) x where there is no beta."""
    alpha, beta = weights.vector("alpha"), weights.vector("beta") if weights.has("beta") else None

    def scaled(x: Column) -> Column:
        scaled = [a * number for a, number in zip(alpha, x, strict=True)]
        return scaled if beta is None else add(scaled, beta)

    return scaled
