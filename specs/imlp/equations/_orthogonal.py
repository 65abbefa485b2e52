"""Branches whose weights have orthogonal columns, so that the least rho of a T is a formula."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from imlp_audit.equations import draw as st
from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.slopes import Slopes
from imlp_audit.equations.strategies import nonzero, plain

from ._certificates import INTERVALS, make_branch


@dataclass(frozen=True)
class Orthogonal:
    """W^0 = a H and W^1i = b H with a matrix H of signs, H'H = n I; slopes; powers of 2 for both weights."""

    a: float
    b: float
    n: int
    width: int
    slopes: Slopes
    scales: tuple[int, int]

    @property
    def branch(self) -> Branch:
        """The branch, without the powers of 2; of n inputs or fewer."""
        signs = signs_of(self.n)
        return make_branch(self.a * signs[:, : min(self.width, self.n)], self.b * signs)

    @property
    def scaled(self) -> Branch:
        """The branch, with the powers of 2."""
        inner, outer = self.scales
        return replace(self.branch, inner=self.branch.inner * 2.0**inner, outer=self.branch.outer * 2.0**outer)

    @property
    def omega(self) -> float:
        """||W^1i||^2."""
        return self.b**2 * self.n

    def least_rho(self, t: float) -> Fraction:
        """Return the least rho of a T that is t I: -2 p q t s + (p + q)^2 t^2 s / (2 t - omega), s = ||W^0||^2."""
        p, q, of_t = Fraction(self.slopes.low), Fraction(self.slopes.high), Fraction(t)
        s, omega = self.n * Fraction(self.a) ** 2, self.n * Fraction(self.b) ** 2
        return -2 * p * q * of_t * s + ((p + q) * of_t) ** 2 * s / (2 * of_t - omega)

    @property
    def best_t(self) -> float:
        """The t of the smallest rho, which is max(|p|, |q|)^2 s omega."""
        p, q = self.slopes.low, self.slopes.high
        return self.omega * (1 + abs(p + q) / (q - p)) / 2

    @property
    def optimum(self) -> float:
        """The smallest rho of any T."""
        steepest = max(abs(self.slopes.low), abs(self.slopes.high))
        return steepest**2 * self.n**2 * (self.a * self.b) ** 2


def signs_of(n: int) -> Matrix:
    """Return Sylvester's matrix of 1, 2 or 4 rows."""
    signs, two = np.ones((1, 1)), np.array([[1.0, 1.0], [1.0, -1.0]])
    while len(signs) < n:
        signs = np.kron(signs, two)
    return signs


_POWERS = st.sampled_from((0, -20, 20, 100, -100, -190, 150))
ORTHOGONAL = plain(
    st.builds(
        Orthogonal, nonzero(), nonzero(), st.sampled_from((1, 2, 4)), st.integers(1, 4), INTERVALS,
        st.tuples(_POWERS, _POWERS),
    )
)  # fmt: skip
ONE_UNIT = st.builds(Orthogonal, nonzero(), nonzero(), st.just(1), st.just(1), INTERVALS, st.tuples(_POWERS, _POWERS))
