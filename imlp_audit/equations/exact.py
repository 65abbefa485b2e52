"""Expressions in the place of rounded numbers: a formula that is evaluated in them comes out as an expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any, TypeAlias

from imlp_audit.equations.expression import Expression
from imlp_audit.equations.rounded import Rounded

_FUNCTIONS = "imlp_audit.equations.functions."  # their names are written without it

Value: TypeAlias = Any
"""An Expression, where a claim that is written for numbers has a float."""


@dataclass(frozen=True)
class Exact(Rounded):
    """An expression; no step of evaluating it is rounded."""

    @staticmethod
    def of(value: Value) -> Exact:
        """Return an expression or a number, which is taken for what it is in binary."""
        return Exact(_expression(value.value if isinstance(value, Rounded) else value), 0.0, 0, 0.0, 0.0)

    @staticmethod
    def symbol(name: str) -> Exact:
        """Return a symbol."""
        return Exact.of(Expression.symbol(name))

    @property
    def expression(self) -> Expression:
        """The value, by its type."""
        return Expression.of(self.value)

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
        return Exact.of(Expression.total(Exact.of(number).expression for number in numbers))

    def __neg__(self) -> Exact:
        """Negate."""
        return Exact.of(-self.value)

    def __mul__(self, other: Value) -> Exact:
        """Multiply."""
        return Exact.of(self.value * Exact.of(other).value)

    def through(self, function: Callable[[float], float], lipschitz: float, evaluation: float) -> Exact:
        """Apply a function of which only the name is known.

        A `partial` of one is another for each number that it holds, such as a slope. One without a name of its own is
        refused: nothing distinguishes it from another.
        """
        held = function.args if isinstance(function, partial) else ()
        named = function.func if isinstance(function, partial) else function
        if "<" in named.__qualname__:
            raise NotImplementedError(f"{named.__qualname__} has no name of its own")
        name = f"{named.__module__}.{named.__qualname__}".removeprefix(_FUNCTIONS)
        return self.apply(f"{name}[{', '.join(str(_expression(number)) for number in held)}]" if held else name)

    def apply(self, function: str) -> Exact:
        """Apply a function of which only the name is known."""
        return Exact.of(self.expression.apply(function))

    def reciprocal_root(self) -> Exact:
        """Return 1 / sqrt, a number where this is the square of one."""
        terms = self.expression.terms
        if terms.keys() == {()}:
            square = Fraction(terms[()])
            root = Fraction(isqrt(square.denominator), isqrt(square.numerator))
            if root**2 * square == 1:
                return Exact.of(root)
        return self.apply("reciprocal_root")

    def same(self, other: Value) -> bool:
        """Return whether two expressions are equal for every value of their symbols."""
        return bool(self.value == Exact.of(other).value)

    def _lift(self, other: Value) -> Exact:
        return Exact.of(other)


def _expression(value: Value) -> Value:
    return Expression.of(value)
