"""Numbers that carry a bound on their rounding error, for every order of evaluation.

A formula is written once, in these numbers, as the paper prints it. Its result tells what the formula
gives and how far *any* evaluation of it in floating point may be from the exact value, however sums and
products are ordered, distributed or fused (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
ed., Sec. 3.1: a polynomial evaluated in k roundings a term is off by at most gamma_k times the sum of the
magnitudes of its terms, gamma_k = k u / (1 - k u)). What enters an activation with an error leaves it with
that error times its Lipschitz constant, plus the error of evaluating it. A product that is too small to be held to
full precision is off by up to the smallest number of its type: this is counted for the order in which the formula is
written, and not for others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

_ROUNDING_OF_THE_BOUND = 1 + 2.0**-30  # the bound is computed in floating point too


@dataclass(frozen=True)
class Rounded:
    """A value, and what its error is made of.

    `size` is the sum of the magnitudes of the terms that make the value, `steps` how many roundings each of
    them may have seen, `carried` the error that came in from activations, and `unit` the unit roundoff of the
    arithmetic that is to be judged (2^-53 for float64, 2^-24 for float32).
    """

    value: float
    size: float
    steps: int
    carried: float
    unit: float

    @staticmethod
    def exact(value: float, unit: float) -> Rounded:
        """Return a number that every arithmetic holds exactly."""
        return Rounded(value, abs(value), 0, 0.0, unit)

    @property
    def error(self) -> float:
        """How far an evaluation in this arithmetic may be from the exact value."""
        return (gamma(self.steps, self.unit) * self.size + self.carried) * _ROUNDING_OF_THE_BOUND

    @property
    def magnitude(self) -> float:
        """How large an evaluation in this arithmetic may be."""
        return abs(self.value) + self.error

    def add_up(self, numbers: Sequence[Rounded]) -> Rounded:
        """Add up numbers of this kind, in any order."""
        return Rounded(
            value=sum(n.value for n in numbers),
            size=sum(n.size for n in numbers),
            steps=max(n.steps for n in numbers) + len(numbers) - 1,
            carried=sum(n.carried for n in numbers),
            unit=self.unit,
        )

    def same(self, other: float | Rounded) -> bool:
        """Return whether a number that a module gave is this one, or whether two formulas agree, up to rounding.

        Two formulas err by their own bounds; a tensor's element errs by as much as the formula it is held against.
        """
        if isinstance(other, Rounded):
            return abs(self.value - other.value) <= self.error + other.error
        return abs(self.value - other) <= 2 * self.error

    def __add__(self, other: Number) -> Rounded:
        """Add; one rounding."""
        return total((self, self._lift(other)))

    def __radd__(self, other: Number) -> Rounded:
        """Add to a plain number."""
        return self + other

    def __neg__(self) -> Rounded:
        """Negate; exact."""
        return Rounded(-self.value, self.size, self.steps, self.carried, self.unit)

    def __sub__(self, other: Number) -> Rounded:
        """Subtract; one rounding."""
        return self + -self._lift(other)

    def __rsub__(self, other: Number) -> Rounded:
        """Subtract from a plain number."""
        return -self + other

    def __mul__(self, other: Number) -> Rounded:
        """Multiply; one rounding on top of those of both factors."""
        right = self._lift(other)
        carried = self.carried * (right.size + right.error) + right.carried * (self.size + self.error)
        carried += smallest(self.unit)
        return Rounded(
            self.value * right.value, self.size * right.size, self.steps + right.steps + 1, carried, self.unit
        )  # fmt: skip

    def __rmul__(self, other: Number) -> Rounded:
        """Multiply a plain number."""
        return self * other

    def through(self, function: Callable[[float], float], lipschitz: float, evaluation: float) -> Rounded:
        """Apply a function of the given Lipschitz constant whose own evaluation errs by at most `evaluation`."""
        value = function(self.value)
        if evaluation:
            evaluation += 2 * smallest(self.unit)  # of two products, as in x Phi(x) and the like
        return Rounded(value, abs(value), 1, lipschitz * self.error + evaluation, self.unit)

    def square_root(self) -> Rounded:
        """Return the root; of a value that is only negative by rounding, 0.

        The root of a number that is off by e is off by at most sqrt e, and by at most e / sqrt(value).
        """
        value = sqrt(max(self.value, 0.0))
        carried = sqrt(self.error) if value == 0 else min(sqrt(self.error), self.error / value)
        return Rounded(value, value, 1, carried, self.unit)

    def _lift(self, other: Number) -> Rounded:
        return other if isinstance(other, Rounded) else Rounded.exact(other, self.unit)


Number = Rounded | float


def total(terms: Iterable[Rounded]) -> Rounded:
    """Add up, in any order."""
    numbers = list(terms)
    return numbers[0].add_up(numbers)


def smallest(unit: float) -> float:
    """Return the smallest number above zero of the type with this unit roundoff, float32 or float64."""
    return 2.0**-149 if unit > 2.0**-50 else 2.0**-1074


def gamma(steps: int, unit: float) -> float:
    """Return the bound on the relative error of `steps` roundings of unit roundoff `unit`."""
    return steps * unit / (1 - steps * unit)
