"""The AMLP module of Eq. 5: an input, two weight matrices and two AGeLUs; and the symbols of Eq. 6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, vectors

from ._agelu import Coefficients, coefficients, start
from ._units import Unit


@dataclass(frozen=True)
class Amlp:
    """An input x of C numbers, W^d (C x C'/2), W^e (C' x C), and the coefficients of AGeLU and AGeLU'."""

    x: Vector
    wd: Matrix
    first: Coefficients
    second: Coefficients
    we: Matrix

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"C": len(self.x), "C'": len(self.we)}

    def t0(self, arithmetic: Arithmetic) -> Tensor:
        """Return x W^d."""
        return arithmetic.tensor(self.x) @ arithmetic.tensor(self.wd)

    def t1(self, arithmetic: Arithmetic) -> Tensor:
        """Return AGeLU(t0)."""
        t1: Tensor = self.first.module(arithmetic)(self.t0(arithmetic))
        return t1

    def t1_prime(self, arithmetic: Arithmetic) -> Tensor:
        """Return AGeLU'(t0)."""
        t1: Tensor = self.second.module(arithmetic)(self.t0(arithmetic))
        return t1

    def t2(self, arithmetic: Arithmetic) -> Tensor:
        """Return concat(t1, t1')."""
        return self.t2_of(self.t0(arithmetic), arithmetic)

    def t2_of(self, t0: Tensor, arithmetic: Arithmetic) -> Tensor:
        """Return concat(AGeLU(t0), AGeLU'(t0)), along the last axis."""
        return torch.cat((self.first.module(arithmetic)(t0), self.second.module(arithmetic)(t0)), dim=-1)

    def output(self, arithmetic: Arithmetic) -> Tensor:
        """Return y' = t2 W^e."""
        return self.t2(arithmetic) @ arithmetic.tensor(self.we)

    def under_phi(self, arithmetic: Arithmetic) -> Tensor:
        """Return the C' numbers that GeLU is applied to: those of AGeLU, then those of AGeLU'."""
        return self.under_phi_of(self.t0(arithmetic), arithmetic)

    def under_phi_of(self, t0: Tensor, arithmetic: Arithmetic) -> Tensor:
        """Return what GeLU is applied to where the first layer gives t0."""
        bare = {"beta": (1.0,) * len(t0), "theta": (0.0,) * len(t0)}
        agelus = (replace(each, **bare).module(arithmetic, nn.Identity) for each in (self.first, self.second))
        return torch.cat([agelu(t0) for agelu in agelus])

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"x": self.x, "W^d": self.wd, **self.first.shown(), **self.second.shown("'"), "W^e": self.we}

    def units(self) -> list[Unit]:
        """Return the C' hidden units as functions of x_1, beta_j GeLU(m'_{1j} x_1 + n'_{1j}) + theta_j."""
        joined, half = self.first + self.second, len(self.wd[0])
        units = []
        for j, coefficients_of_j in enumerate(zip(joined.alpha, joined.beta, joined.gamma, joined.theta, strict=True)):
            alpha, beta, gamma, theta = coefficients_of_j
            own, *others = (row[j % half] for row in self.wd)
            n = alpha * sum(w * x for w, x in zip(others, self.x[1:], strict=True)) + gamma
            units.append(Unit(alpha * own, n, beta, theta))
        return units

    def symbols(self, arithmetic: Arithmetic) -> Symbols:
        """Return the numbers that Eq. 6 is written in."""
        joined = self.first + self.second
        return Symbols(
            x=arithmetic.vector(self.x),
            wd=arithmetic.matrix(self.wd),
            we=arithmetic.matrix(self.we),
            alpha=arithmetic.vector(joined.alpha),
            beta=arithmetic.vector(joined.beta),
            gamma=arithmetic.vector(joined.gamma),
            theta=arithmetic.vector(joined.theta),
        )


@dataclass(frozen=True)
class Symbols:
    """The numbers of Eq. 6 under its names; alpha, beta, gamma and theta go on with alpha', beta', gamma' and theta'.

    Indices start at 0 here and at 1 in the paper.
    """

    x: list[Rounded]
    wd: RoundedMatrix
    we: RoundedMatrix
    alpha: list[Rounded]
    beta: list[Rounded]
    gamma: list[Rounded]
    theta: list[Rounded]

    @property
    def width(self) -> range:
        """1, ..., C."""
        return range(len(self.x))

    @property
    def half(self) -> range:
        """1, ..., C'/2."""
        return range(len(self.wd[0]))

    @property
    def hidden(self) -> range:
        """1, ..., C'."""
        return range(len(self.we))

    def f(self, j: int) -> int:
        """f(x) = x - C'/2 where x > C'/2, else x."""
        return j - len(self.half) * (j >= len(self.half))

    def inner(self, j: int) -> Rounded:
        """sum_{i=1}^{C} w^d_{i,f(j)} x_i."""
        return total(self.wd[i][self.f(j)] * self.x[i] for i in self.width)

    def others(self, c: int, j: int) -> Rounded:
        """sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i."""
        terms = (self.wd[i][self.f(j)] * self.x[i] for i in self.width if i != c)
        return total([0 * self.x[c], *terms])


def amlps() -> st.Strategy[Amlp]:
    """AMLPs of width C and half hidden width C'/2 up to 2."""
    sizes = st.tuples(st.integers(1, 2), st.integers(1, 2))
    return sizes.flatmap(lambda size: amlps_of(*size))


def amlps_of(width: int, half: int) -> st.Strategy[Amlp]:
    """AMLPs of width C and half hidden width C'/2."""
    agelus = coefficients(half)
    return st.builds(Amlp, vectors(width), matrices(width, half), agelus, agelus, matrices(2 * half, width))


def smallest_amlps(first: st.Strategy[Coefficients] | None = None) -> st.Strategy[Amlp]:
    """AMLPs of C = 1 and C' = 2 without zero weights, whose AGeLU' is GeLU: counterexamples of few numbers."""
    return st.builds(
        Amlp,
        vectors(1, nonzero()),
        matrices(1, 1, nonzero()),
        coefficients(1) if first is None else first,
        st.just(start(1)),
        matrices(2, 1, nonzero()),
    )
