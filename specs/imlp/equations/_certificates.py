"""Branches whose certificates are judged in exact fractions, and M of Eq. 9 in such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from imlp_audit.equations import draw as st
from imlp_audit.equations.lipschitz import slopes
from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.slopes import Slopes

Exact = list[list[Fraction]]

INTERVALS = st.sampled_from(
    (slopes.GELU, slopes.GELU.times(-2.0), Slopes(0.0, 1.0), Slopes(-1.0, 1.0), Slopes(0.25, 1.0), Slopes(-1.5, -0.125))
)
# most of their squares are not numbers of float64
_ENTRIES = st.sampled_from((0.1, -0.3, 0.7, 1 / 3, 0.0, 1.0, -0.9, 1.3, 2.0, -0.2))
_SCALES = st.sampled_from((0, -30, 10, -3))


@dataclass(frozen=True)
class Near:
    """A branch, its slopes, and a T that is above half the squared norm of W^1i by a share of it."""

    inner: tuple[tuple[float, ...], ...]
    outer: tuple[tuple[float, ...], ...]
    slopes: Slopes
    share: float

    @property
    def branch(self) -> Branch:
        """The branch; its shift changes no slope."""
        return make_branch(self.inner, self.outer)

    @property
    def t(self) -> Matrix:
        """T, one number for all units."""
        norm = float(np.linalg.norm(np.array(self.outer), 2)) or 1.0
        return np.full(len(self.inner), norm**2 / 2 * (1 + self.share))


def make_branch(inner: object, outer: object) -> Branch:
    """Return a branch with these weights."""
    matrix = np.array(inner, dtype=np.float64)
    return Branch(matrix, np.zeros(len(matrix)), np.array(outer, dtype=np.float64))


def near_branches() -> st.Strategy[Near]:
    """Branches of up to 3 inputs, hidden units and outputs, W^0 not 0; Ts far above their least to hardly above.

    In others, of 6 hidden units, M is a diagonal matrix of which only the rounding of a sum is left.
    """
    shares = st.sampled_from((1.0, 0.1, 2.0**-20, 2.0**-40, 2.0**-48, 0.25))

    identity = tuple(tuple(map(float, row)) for row in np.eye(6))
    one_input = st.builds(Near, _matrices(6, 1, 1.0), st.just(identity), st.just(Slopes(-1.0, 1.0)), st.just(2.0**-40))

    def of(width: int, hidden: int, outputs: int) -> st.Strategy[Near]:
        inner = _SCALES.flatmap(lambda power: _matrices(hidden, width, 2.0**power))
        return st.builds(Near, inner, _matrices(outputs, hidden, 1.0), INTERVALS, shares)

    sizes = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
    any_size = sizes.flatmap(lambda size: of(*size))
    return st.one_of(any_size, any_size, one_input).filter(lambda case: case.branch.inner.any())


def _matrices(rows: int, columns: int, scale: float) -> st.Strategy[tuple[tuple[float, ...], ...]]:
    row = st.tuples(*[_ENTRIES.map(lambda entry: entry * scale)] * columns)
    return st.tuples(*[row] * rows)


def eq9(branch: Branch, rho: float, t: Matrix, interval: Slopes) -> Exact:
    """Return -M(rho, diag(t)) of Eq. 9, exactly."""
    w0, w1, diag = _exact(branch.inner), _exact(branch.outer), [Fraction(x) for x in t.tolist()]
    p, q = Fraction(interval.low), Fraction(interval.high)
    width, hidden = range(len(w0[0])), range(len(w0))
    upper = [
        [2 * p * q * sum(w0[k][i] * diag[k] * w0[k][j] for k in hidden) + (i == j) * Fraction(rho) for j in width]
        for i in width
    ]
    side = [[-(p + q) * diag[k] * w0[k][j] for j in width] for k in hidden]
    lower = [[2 * (i == j) * diag[i] - sum(row[i] * row[j] for row in w1) for j in hidden] for i in hidden]
    top = [upper[i] + [side[k][i] for k in hidden] for i in width]
    return top + [side[k] + lower[k] for k in hidden]


def _exact(matrix: Matrix) -> Exact:
    return [[Fraction(x) for x in row] for row in matrix.tolist()]


def positive_semidefinite(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """Return whether a symmetric matrix is, by exact elimination: no pivot is negative, and one of 0 has a row of 0."""
    rows = [list(row) for row in matrix]
    while rows:
        (pivot, *first), *others = rows
        if pivot < 0 or (pivot == 0 and any(first)):
            return False
        if pivot > 0:
            others = [
                [row[0], *(x - row[0] * y / pivot for x, y in zip(row[1:], first, strict=True))] for row in others
            ]
        rows = [row[1:] for row in others]
    return True
