"""Hidden units as functions of one input element x_c: whether they are different, and whether linearly independent.

Independence is decided by a proof: a minor of the matrix of their values that rounding cannot have made of zero. So
is dependence, by GeLU(u) - GeLU(-u) = u: units of equal arguments, or two pairs of opposite, proportional ones.

There is no third case for units of which no two arguments u = m x_c + n are equal or opposite and no m or beta is zero:
the second derivative of GeLU(u) is m^2 phi(u) (2 - u^2), and Gaussians of different centers or widths, times
polynomials, are linearly independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from math import prod

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.rounded import Rounded, total

POINTS = tuple(point / 2 for point in range(-12, 13))
_FAR = (-100.0, -99.0, 0.0, 99.0, 100.0)  # far from where GeLU bends, except for 0
_EXACT = Arithmetic()  # functions do not depend on the arithmetic that models are tested in


class UndecidedError(Exception):
    """Neither a proof that units are independent nor one that they are not was found."""


@dataclass(frozen=True)
class Unit:
    """x_c -> beta GeLU(m x_c + n) + theta."""

    m: float
    n: float
    beta: float = 1.0
    theta: float = 0.0

    def at(self, x: float, arithmetic: Arithmetic = _EXACT) -> Rounded:
        """Return the unit's value."""
        return self.beta * gelu(arithmetic.number(self.m) * x + self.n) + self.theta

    def __str__(self) -> str:
        scaled = "GeLU" if self.beta == 1 else f"{self.beta:g} GeLU"
        argument = f"{self.m:g} x_c" + (f" {self.n:+g}" if self.n else "")
        return f"{scaled}({argument})" + (f" {self.theta:+g}" if self.theta else "")


def different(one: Unit, other: Unit) -> bool:
    """Return whether two functions differ somewhere, by more than rounding."""
    values = ((one.at(x), other.at(x)) for x in _FAR)
    return any(abs(left.value - right.value) > left.error + right.error for left, right in values)


def nonlinear(unit: Unit) -> bool:
    """Return whether a function's values at three points are not on a line, by more than rounding."""
    bend = unit.at(_FAR[0]) - 2 * unit.at(0.0) + unit.at(_FAR[-1])
    return abs(bend.value) > bend.error


def apart(units: Sequence[Unit]) -> bool:
    """Return whether no two arguments of GeLU are equal or opposite, and no unit is constant."""
    pairs = combinations([(unit.m, unit.n) for unit in units], 2)
    return all(unit.m and unit.beta for unit in units) and not any(
        one in (other, _opposite(other)) for one, other in pairs
    )


def independent(units: Sequence[Unit]) -> bool:
    """Return whether functions are linearly independent."""
    if _constants_dependent(units) or _multiples(units) or _two_opposite_pairs(units):
        return False
    minor = determinant([[unit.at(x) for unit in units] for x in _telling_points(units)])
    if abs(minor.value) <= minor.error:
        raise UndecidedError(f"whether independent: {', '.join(map(str, units))}")
    return True


def determinant(rows: Sequence[Sequence[Rounded]]) -> Rounded:
    """Return a determinant as the sum over permutations, with its bound."""
    orders = permutations(range(len(rows)))
    return total(prod((rows[i][j] for i, j in enumerate(order)), start=_sign(order)) for order in orders)


def _sign(order: Sequence[int]) -> Rounded:
    inversions = sum(one > other for one, other in combinations(order, 2))
    return _EXACT.number((-1.0) ** inversions)


def _telling_points(units: Sequence[Unit]) -> Iterable[float]:
    """Return as many points as units, where pivoting finds their values least dependent."""
    values = _EXACT.tensor([[unit.at(x).value for unit in units] for x in POINTS])
    pivots = torch.linalg.lu(values).P[:, : len(units)].argmax(dim=0)
    return [POINTS[pivot] for pivot in pivots.tolist()]


def _constants_dependent(units: Sequence[Unit]) -> bool:
    """Return whether two units are constant, or one of them is zero everywhere."""
    constant = [unit for unit in units if not (unit.m and unit.beta)]
    return len(constant) > 1 or any(not unit.beta and not unit.theta for unit in constant)


def _multiples(units: Sequence[Unit]) -> bool:
    """Return whether a unit is a multiple of another: of the same argument, theta as beta."""
    return any(
        (one.m, one.n) == (other.m, other.n) and one.beta * other.theta == other.beta * one.theta
        for one, other in combinations(units, 2)
    )


def _two_opposite_pairs(units: Sequence[Unit]) -> bool:
    """Return whether two pairs GeLU(u), GeLU(-u) have proportional u: differences of both are multiples of u."""
    bare = [(unit.m, unit.n) for unit in units if not unit.theta and unit.m]
    shifts = [Fraction(one[1]) / Fraction(one[0]) for one, other in combinations(bare, 2) if one == _opposite(other)]
    return len(set(shifts)) < len(shifts)


def _opposite(argument: tuple[float, float]) -> tuple[float, float]:
    return -argument[0], -argument[1]
