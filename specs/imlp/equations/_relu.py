"""MLPs and AMLPs of ReLUs: their outputs as functions of one input element x_c, the others fixed; all exact.

Inputs and weights are not zero, so that no kink is missing because a unit is off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, vectors
from imlp_audit.models.agelu import AGeLU

from ._agelu import Coefficients, start
from ._kinks import Relu, added, kinks

_FEW = st.sampled_from((1.0, -1.0, 2.0, -2.0))


@dataclass(frozen=True)
class ReluModule:
    """An input x, the weights of both FC layers, and the coefficients of C' AReLUs.

    Where the first layer has C'/2 columns, the second half of the AReLUs reads them again, as Eq. 6's f has it.
    """

    x: Vector
    first: Matrix
    arelu: Coefficients
    second: Matrix

    @property
    def outputs(self) -> range:
        """1, ..., C."""
        return range(len(self.x))

    @property
    def hidden(self) -> int:
        """C'."""
        return len(self.second)

    def units(self, c: int) -> list[Relu]:
        """Return the C' functions of x_c that add up to y_c, except for a constant."""
        return [self._unit(c, j) for j in range(self.hidden)]

    def _unit(self, c: int, j: int) -> Relu:
        column = [Fraction(row[j % len(row)]) for row in self.first]
        others = sum((column[i] * Fraction(self.x[i]) for i in self.outputs if i != c), Fraction(0))
        alpha, gamma = Fraction(self.arelu.alpha[j]), Fraction(self.arelu.gamma[j])
        weight = Fraction(self.second[j][c]) * Fraction(self.arelu.beta[j])
        return Relu(alpha * column[c], alpha * others + gamma, weight)

    def is_the_sum(self, c: int, arithmetic: Arithmetic) -> bool:
        """Return whether the package's module changes with x_c as the functions do that are counted; exact."""
        counted = added(self.units(c))
        places = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
        inputs = [(*self.x[:c], x_c, *self.x[c + 1 :]) for x_c in places]
        outputs = self._run(inputs, arithmetic)[:, c].tolist()
        return all(
            Fraction(y) - Fraction(outputs[0]) == counted(Fraction(x_c)) - counted(Fraction(0))
            for x_c, y in zip(places, outputs, strict=True)
        )

    def _run(self, x: Sequence[Vector], arithmetic: Arithmetic) -> Tensor:
        """Return phi(x W^a) W^b for each x, or Eq. 5 where the first layer has C'/2 columns."""
        hidden = arithmetic.tensor(x) @ arithmetic.tensor(self.first)
        width = hidden.shape[-1]
        agelus = [self._agelu(first, first + width, arithmetic) for first in range(0, self.hidden, width)]
        return torch.cat([agelu(hidden) for agelu in agelus], dim=-1) @ arithmetic.tensor(self.second)

    def _agelu(self, first: int, last: int, arithmetic: Arithmetic) -> AGeLU:
        own = (getattr(self.arelu, each.name)[first:last] for each in fields(self.arelu))
        return Coefficients(*own).module(arithmetic, nn.ReLU)

    def kinks(self, c: int) -> list[Fraction]:
        """Return where the slope of y_c against x_c changes."""
        units = self.units(c)
        return kinks(added(units), [unit.place for unit in units])


def relu_mlps(hidden: int) -> st.Strategy[ReluModule]:
    """MLPs of C = 2 inputs and C' hidden units of different weights."""
    first = matrices(2, hidden, _FEW).filter(lambda wa: len(set(zip(*wa, strict=True))) == hidden)
    return st.builds(ReluModule, vectors(2, _FEW), first, st.just(start(hidden)), matrices(hidden, 2, _FEW))


def arelu_amlps(half: int) -> st.Strategy[ReluModule]:
    """AMLPs of C = 1 input, whose AReLUs have any coefficients; few numbers, so that kinks meet."""
    few, shifts = vectors(2 * half, _FEW), vectors(2 * half, st.sampled_from((0.0, 1.0, -1.0)))
    arelus = st.builds(Coefficients, few, few, shifts, shifts)
    return st.builds(ReluModule, vectors(1), matrices(1, half, _FEW), arelus, matrices(2 * half, 1, _FEW))


def relu_concats(half: int) -> st.Strategy[ReluModule]:
    """MLPs of C = 2 inputs with concat(ReLU, ReLU) in place of the activation."""
    first, second = matrices(2, half, nonzero()), matrices(2 * half, 2, nonzero())
    return st.builds(ReluModule, vectors(2), first, st.just(start(2 * half)), second)
