"""The scales m_{cj} and the biases n_{cj} of Eq. 2, of the MLP's first layer x W^a; all of them exact."""

from __future__ import annotations

from dataclasses import dataclass

from imlp_audit.equations.strategies import Matrix, Vector

from ._units import Unit


@dataclass(frozen=True)
class FirstLayer:
    """An input x of C numbers and W^a (C x C')."""

    x: Vector
    wa: Matrix

    @property
    def inputs(self) -> range:
        """1, ..., C."""
        return range(len(self.x))

    @property
    def hidden(self) -> range:
        """1, ..., C'."""
        return range(len(self.wa[0]))

    def m(self, c: int, j: int) -> float:
        """m_{cj} = w^a_{cj}."""
        return self.wa[c][j]

    def n(self, c: int, j: int) -> float:
        """n_{cj} = sum_{i=1, i != c}^{C} w^a_{ij} x_i."""
        return sum(self.wa[i][j] * self.x[i] for i in self.inputs if i != c)

    def units(self, c: int) -> list[Unit]:
        """Return the C' functions of x_c, GeLU(m_{cj} x_c + n_{cj})."""
        return [Unit(self.m(c, j), self.n(c, j)) for j in self.hidden]

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"x": self.x, "W^a": self.wa}
