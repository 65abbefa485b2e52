"""Numbers that move: each has the slope with which it changes as all weights move in one direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions import gelu_slope, gelu_value
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.rounded import Number, Rounded

from ._network import Network
from ._network_formula import Formula
from ._network_norms import itself
from ._network_stages import exact, stages_of
from ._network_weights import Weights


@dataclass(frozen=True)
class Moving(Rounded):
    """A number and its slope; sums and products are differentiated as they are made."""

    slope: Rounded

    @staticmethod
    def of(number: Rounded, slope: Rounded) -> Moving:
        """Return a number with a slope."""
        return Moving(number.value, number.size, number.steps, number.carried, number.unit, slope)

    @property
    def still(self) -> Rounded:
        """The number alone."""
        return Rounded(self.value, self.size, self.steps, self.carried, self.unit)

    def add_up(self, numbers: Sequence[Rounded]) -> Moving:
        """Add up; the slopes too."""
        moving = [self._lift(number) for number in numbers]
        slopes = [number.slope for number in moving]
        return Moving.of(super().add_up(moving), slopes[0].add_up(slopes))

    def __mul__(self, other: Number) -> Moving:
        """Multiply: (a b)' = a' b + a b'."""
        right = self._lift(other)
        slope = self.slope * right.still + self.still * right.slope
        return Moving.of(self.still * right.still, slope)

    def __rmul__(self, other: Number) -> Moving:
        """Multiply a number that may stand still."""
        return self * other

    def through(self, function: Callable[[float], float], lipschitz: float, evaluation: float) -> Moving:
        """Apply GELU, or the function that changes nothing."""
        number = self.still.through(function, lipschitz, evaluation)
        if function is itself:
            return Moving.of(number, self.slope.through(itself, 1.0, 0.0))
        if function is gelu_value:
            return Moving.of(number, gelu_slope(self.still) * self.slope)
        raise NotImplementedError(f"the slope of {function}")

    def _lift(self, other: Number) -> Moving:
        if isinstance(other, Moving):
            return other
        return Moving.of(super()._lift(other), Rounded.exact(0.0, self.unit))


def moving(weights: Weights, direction: Weights) -> Weights:
    """Return weights that move in a direction."""
    return Weights(
        {
            name: RoundedMatrix(map(Moving.of, *rows) for rows in zip(matrix, direction.values[name], strict=True))
            for name, matrix in weights.values.items()
        }
    )


def slopes(net: Network, arithmetic: Arithmetic) -> list[list[Rounded]]:
    """Return the slope of each logit of each image, with one rounding more for each weight."""
    weights = moving(Weights.of(net.weights(), arithmetic), Weights.of(net.direction(), arithmetic))
    batch = exact(arithmetic.tensor(net.images()), arithmetic)
    for stage in stages_of(net, weights, Formula(net)):
        batch = stage.formula(stage.enter(batch))
    return [[_slope(number, sum(map(len, weights.values.values()))) for number in logits] for (logits,) in batch]


def _slope(number: Rounded, sums: int) -> Rounded:
    assert isinstance(number, Moving)
    return replace(number.slope, steps=number.slope.steps + sums)
