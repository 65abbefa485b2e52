"""RPReLU of ReActNet (Liu et al., 2020): PReLU with a turning point that can be learned."""

from __future__ import annotations

from dataclasses import dataclass

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import nonzero, numbers


@dataclass(frozen=True)
class RPReLU:
    """f(x) = x - gamma + zeta where x > gamma, else beta (x - gamma) + zeta."""

    beta: float
    gamma: float
    zeta: float

    def at(self, x: float, arithmetic: Arithmetic) -> Rounded:
        """Return the function's value."""
        shifted = arithmetic.number(x) - self.gamma
        return shifted + self.zeta if x > self.gamma else self.beta * shifted + self.zeta

    def slopes(self) -> tuple[float, float]:
        """Return the slopes left and right of the turning point; exact."""
        exact = Arithmetic()
        left = self.at(self.gamma - 1, exact) - self.at(self.gamma - 2, exact)
        right = self.at(self.gamma + 2, exact) - self.at(self.gamma + 1, exact)
        return left.value, right.value


def rprelus() -> st.Strategy[RPReLU]:
    """RPReLUs that are not constant on one side."""
    return st.builds(RPReLU, nonzero(), numbers(), numbers())
