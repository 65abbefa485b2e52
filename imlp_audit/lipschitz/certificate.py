"""Proofs that a matrix inequality of Theorem 1 holds, whatever a solver says about it.

Eq. 9 asks M(rho, T) <= 0. Its matrix is computed in float64 with a bound on the error of every element, and -M less
a margin is factored by Cholesky. Where that runs to its end, -M less that margin is positive semidefinite up to
gamma_{N+1} / (1 - gamma_{N+1}) times its trace, in any order of evaluation (Rump, Verification of positive
definiteness, BIT 2006); the margin is larger than this and the error of M together, so M(rho, T) <= 0 is proven.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nextafter, sqrt

import numpy as np

from imlp_audit.lipschitz.branches import Branch, Matrix
from imlp_audit.lipschitz.slopes import GELU, Slopes

_UNIT = 2.0**-53
_STEPS = [10.0**power for power in range(-10, 1)]  # how far the matrix T, and then rho, is moved until a proof succeeds


@dataclass(frozen=True)
class Certificate:
    """A proven pair: M(rho, diag(t)) is negative semidefinite."""

    rho: float
    t: Matrix


def certify(branch: Branch, t: Matrix, slopes: Slopes = GELU) -> Certificate | None:
    """Return the smallest rho that is proven for a T near the given one; None where none is."""
    largest = float(t.max(initial=0.0)) or 1.0
    moved = (np.maximum(t, 0.0) * (1 + step) + largest * step for step in _STEPS)
    proven = [found for candidate in moved if (found := _proven(branch, candidate, slopes)) is not None]
    return min(proven, key=lambda certificate: certificate.rho, default=None)


def _proven(branch: Branch, t: Matrix, slopes: Slopes) -> Certificate | None:
    least = _least_rho(branch, t, slopes)
    if least is None:
        return None
    for step in _STEPS:
        rho = least * (1 + step)
        if holds(branch, rho, t, slopes):
            return Certificate(rho, t)
    return None


def _least_rho(branch: Branch, t: Matrix, slopes: Slopes) -> float | None:
    """Guess the least rho for a T, by the Schur complement of the lower right block. Proves nothing."""
    lower = 2 * np.diag(t) - branch.outer.T @ branch.outer
    side = (slopes.low + slopes.high) * t[:, None] * branch.inner
    try:
        np.linalg.cholesky(lower)
        upper = side.T @ np.linalg.solve(lower, side)
    except np.linalg.LinAlgError:
        return None
    upper -= 2 * slopes.low * slopes.high * branch.inner.T @ (t[:, None] * branch.inner)
    return max(float(np.linalg.eigvalsh(upper)[-1]), np.finfo(float).tiny)


def holds(branch: Branch, rho: float, t: Matrix, slopes: Slopes = GELU) -> bool:
    """Say whether M(rho, diag(t)) <= 0 (Eq. 9) is proven; False says nothing."""
    if not (np.all(t >= 0) and np.isfinite(rho)):
        return False
    matrix, error = _matrix(branch, rho, t, slopes)
    order = len(matrix)
    trace = float(np.abs(np.diag(matrix)).sum())
    margin = error + 1.01 * _gamma(order + 2) * trace + np.finfo(float).tiny
    try:
        np.linalg.cholesky(-matrix - margin * np.eye(order))
    except np.linalg.LinAlgError:
        return False
    return True


def _matrix(branch: Branch, rho: float, t: Matrix, slopes: Slopes) -> tuple[Matrix, float]:
    """Return M(rho, diag(t)), and a bound on the Frobenius norm of its rounding error."""
    w0, w1, p, q = branch.inner, branch.outer, slopes.low, slopes.high

    def assembled(w0: Matrix, w1: Matrix, product: float, total: float, rho: float, t2: Matrix) -> Matrix:
        side = total * (t[:, None] * w0)
        upper = product * (w0.T @ (t[:, None] * w0)) + rho * np.eye(w0.shape[1])
        return np.block([[upper, side.T], [side, w1.T @ w1 + t2]])

    matrix = assembled(w0, w1, -2 * p * q, p + q, -rho, -2 * np.diag(t))
    sizes = assembled(np.abs(w0), np.abs(w1), abs(2 * p * q), abs(p) + abs(q), abs(rho), 2 * np.diag(t))
    steps = max(*w0.shape, *w1.shape) + 6  # roundings on the way to any element
    return matrix, 1.01 * _gamma(steps) * float(np.linalg.norm(sizes))


def _gamma(steps: int) -> float:
    return steps * _UNIT / (1 - steps * _UNIT)


def bound(certificates: tuple[Certificate, Certificate]) -> float:
    """Return sqrt(rho_1) + sqrt(rho_2), the Lipschitz bound of Theorem 1, rounded upward."""
    first, second = (nextafter(sqrt(certificate.rho), inf) for certificate in certificates)
    return nextafter(first + second, inf)
