"""AGeLUs with chosen coefficients: the package's module, and Eq. 3 written out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions import Activation
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Vector, nonzero, vectors
from imlp_audit.models.agelu import AGeLU


@dataclass(frozen=True)
class Coefficients:
    """One alpha, beta, gamma and theta for each channel."""

    alpha: Vector
    beta: Vector
    gamma: Vector
    theta: Vector

    def __add__(self, other: Coefficients) -> Coefficients:
        """Put another AGeLU's coefficients behind these, as Eq. 6 renames alpha'_1 to alpha_{C'/2+1}."""
        return Coefficients(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def load_into(self, agelu: AGeLU, arithmetic: Arithmetic) -> AGeLU:
        """Place a module and give it these coefficients."""
        arithmetic.place(agelu.phi)
        for each in fields(self):
            arithmetic.put(agelu, each.name, getattr(self, each.name))
        return agelu

    def module(self, arithmetic: Arithmetic, act_layer: type[nn.Module] = nn.GELU) -> AGeLU:
        """Return the package's module with these coefficients."""
        return self.load_into(AGeLU(len(self.alpha), act_layer), arithmetic)

    def written(self, x: Sequence[Rounded], phi: Activation) -> list[Rounded]:
        """Return beta phi(alpha x + gamma) + theta, channel by channel, as Eq. 3 prints it."""
        each = zip(self.alpha, self.beta, self.gamma, self.theta, x, strict=True)
        return [beta * phi(alpha * x_c + gamma) + theta for alpha, beta, gamma, theta, x_c in each]

    def computed(
        self, x: Sequence[Rounded], phi: Activation, arithmetic: Arithmetic, act_layer: type[nn.Module] = nn.GELU
    ) -> list[Rounded]:
        """Return what the package's module makes of x, with the bounds that Eq. 3 has there."""
        values = self.module(arithmetic, act_layer)(arithmetic.tensor([number.value for number in x])).tolist()
        return with_bounds(values, self.repeated(len(x)).written(x, phi))

    def repeated(self, channels: int) -> Coefficients:
        """Return the coefficients of one channel for each of several."""
        return Coefficients(*(getattr(self, each.name) * (channels // len(self.alpha)) for each in fields(self)))

    def shown(self, prime: str = "") -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {f"{each.name}{prime}": getattr(self, each.name) for each in fields(self)}


def with_bounds(values: Sequence[float], formula: Sequence[Rounded]) -> list[Rounded]:
    """Return what a module computed, each number with the bound on the error that its formula has."""
    return [
        value if isinstance(value, Rounded) else replace(each, value=value)
        for value, each in zip(values, formula, strict=True)
    ]


def coefficients(channels: int, alphas: st.Strategy[float] | None = None) -> st.Strategy[Coefficients]:
    """Coefficients of an AGeLU that is not constant."""
    alpha, beta = vectors(channels, nonzero() if alphas is None else alphas), vectors(channels, nonzero())
    return st.builds(Coefficients, alpha, beta, vectors(channels), vectors(channels))


def start(channels: int) -> Coefficients:
    """Return the coefficients with which AGeLU is GeLU, and with which training starts."""
    return Coefficients((1.0,) * channels, (1.0,) * channels, (0.0,) * channels, (0.0,) * channels)
