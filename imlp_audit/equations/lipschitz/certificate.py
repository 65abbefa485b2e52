"""The semidefinite program of Theorem 1, and proofs of its matrix inequality that trust no solver.

Eq. 9 requires M(rho, T) <= 0. A solver proposes T. The matrix is then computed in float64 with a bound on the error of
every element, and -M minus a margin is factored by Cholesky. If that succeeds, -M minus the margin is positive
semidefinite up to gamma_{N+1} / (1 - gamma_{N+1}) times its trace, in any order of evaluation (Rump, Verification of
positive definiteness, BIT 2006). The margin exceeds this plus the error of M, so M(rho, T) <= 0 is proven.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum
from math import frexp, inf, nextafter, sqrt

import numpy as np

from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.slopes import GELU, Slopes
from imlp_audit.errors import SolverError

_UNIT = 2.0**-53
_LARGEST = 1e100  # of T and rho, for weights near 1: no sum or product of theirs is infinite
_UNDERFLOW = 1e-200  # more than underflow can change M by
_ENOUGH = 2.0**30  # times T: a proof that needs more rho than this fails by its margin
# Relative steps by which T, and then rho, is increased until a proof succeeds.
_STEPS = [10.0**power for power in range(-10, 1)]


class Solver(StrEnum):
    """Clarabel is an interior-point method, exact and slow; SCS is a first-order method, rough and fast."""

    CLARABEL = "clarabel"
    SCS = "scs"


def minimise_rho(branch: Branch, solver: Solver, slopes: Slopes = GELU, seconds: float = 120.0) -> Matrix:
    """Return the diagonal of the T with the smallest rho in M(rho, T) <= 0 (Eq. 9).

    This is a proposal: `certify` proves what follows from it. Raises SolverError with the solver's status if it
    finds no solution.
    """
    import cvxpy  # takes a second to import

    # both norms are scaled to 1: T and rho scale with them, and a solver's tolerances are absolute
    inner, outer = (_unit(matrix) for matrix in (branch.inner, branch.outer))
    hidden, width = inner.shape
    t, rho = cvxpy.Variable(hidden, nonneg=True), cvxpy.Variable()
    weighted = cvxpy.multiply(cvxpy.reshape(t, (hidden, 1), order="C"), inner)
    side = (slopes.low + slopes.high) * weighted
    upper = -2 * slopes.low * slopes.high * (inner.T @ weighted) - rho * np.eye(width)
    matrix = cvxpy.bmat([[upper, side.T], [side, outer.T @ outer - 2 * cvxpy.diag(t)]])
    problem = cvxpy.Problem(cvxpy.Minimize(rho), [matrix << 0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": the status says so, and `certify` checks
            problem.solve(solver=solver.name, **_options(solver, seconds))
    except cvxpy.SolverError as error:
        raise SolverError(f"{solver} failed: {error}") from error
    if problem.status != cvxpy.OPTIMAL:
        raise SolverError(f"{solver} ended with status {problem.status!r} (limit {seconds:g} s); no bound can be given")
    found: Matrix = np.asarray(t.value, dtype=np.float64) * _norm(branch.outer) ** 2
    return found


def _options(solver: Solver, seconds: float) -> dict[str, object]:
    if solver is Solver.SCS:
        return {"eps_abs": 1e-5, "eps_rel": 1e-5, "max_iters": 100_000, "time_limit_secs": seconds}
    return {"time_limit": seconds}


def _unit(matrix: Matrix) -> Matrix:
    scaled: Matrix = matrix / _norm(matrix)
    return scaled


def _norm(matrix: Matrix) -> float:
    """Return the spectral norm, or 1 for a matrix of zeros, which cannot be scaled."""
    return float(np.linalg.norm(matrix, 2)) or 1.0


@dataclass(frozen=True)
class Certificate:
    """A pair for which it is proven that M(rho, diag(t)) is negative semidefinite."""

    rho: float
    t: Matrix


def certify(branch: Branch, t: Matrix, slopes: Slopes = GELU) -> Certificate | None:
    """Return the smallest rho that can be proven with a T near the given one, or None."""
    largest = float(t.max(initial=0.0)) or max(_norm(branch.outer) ** 2, float(np.finfo(float).tiny))
    moved = (np.maximum(t, 0.0) * (1 + step) + largest * step for step in _STEPS)
    proven = [found for candidate in moved if (found := prove(branch, candidate, slopes)) is not None]
    return min(proven, key=lambda certificate: certificate.rho, default=None)


def prove(branch: Branch, t: Matrix, slopes: Slopes = GELU) -> Certificate | None:
    """Return the smallest rho that can be proven with this very T, or None."""
    least = _least_rho(branch, t, slopes)
    if least is None:
        return None
    for step in _STEPS:
        rho = least * (1 + step)
        if holds(branch, rho, t, slopes):
            return Certificate(rho, t)
    return None


def _least_rho(branch: Branch, t: Matrix, slopes: Slopes) -> float | None:
    """Estimate the least rho for a T, by the Schur complement of the lower right block; not a proof."""
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
    """Return whether M(rho, diag(t)) <= 0 (Eq. 9) is proven; False means unknown."""
    if not all(np.isfinite(numbers).all() for numbers in (branch.inner, branch.outer, rho, t)):
        return False
    branch, rho, t = _balance(branch, rho, t)
    # M falls as rho grows, so a smaller rho proves this one; a large one would need too large a margin
    steepest = max(1.0, slopes.low**2, slopes.high**2)
    rho = min(rho, _ENOUGH * steepest * float(t.max(initial=0.0)))
    if not (np.all((t >= 0) & (t < _LARGEST)) and 0 <= rho < _LARGEST):
        return False
    return surely_negative(*eq9_matrix(branch, rho, t, slopes))


def _balance(branch: Branch, rho: float, t: Matrix) -> tuple[Branch, float, Matrix]:
    """Return the same inequality for weights whose norms are near 1, so that one margin fits both blocks of M.

    M is multiplied by a diagonal matrix from both sides. Scaling by powers of 2 is exact except for underflow, which
    `_UNDERFLOW` covers, and overflow, which leaves an infinite rho or T.
    """
    inner, outer = _exponent(branch.inner), _exponent(branch.outer)
    scaled = Branch(np.ldexp(branch.inner, -inner), branch.shift, np.ldexp(branch.outer, -outer))
    with np.errstate(over="ignore"):
        return scaled, float(np.ldexp(rho, -2 * (inner + outer))), np.ldexp(t, -2 * outer)


def _exponent(weights: Matrix) -> int:
    """Return the power of 2 that is next to the norm; squares of very large or small weights are no numbers."""
    largest = frexp(float(np.abs(weights).max(initial=0.0)))[1]
    return largest + frexp(float(np.linalg.norm(np.ldexp(weights, -largest))))[1]


def surely_negative(matrix: Matrix, error: float) -> bool:
    """Return whether every symmetric matrix within `error` of this one (Frobenius) is proven negative semidefinite.

    Nothing is proven of numbers that are not finite: numpy's Cholesky factors them without an error.
    """
    order = len(matrix)
    trace = float(np.abs(np.diag(matrix)).sum())
    margin = error + 1.01 * _gamma(order + 2) * trace + _UNDERFLOW
    if not (np.isfinite(matrix).all() and np.isfinite(margin)):
        return False
    try:
        factor = np.linalg.cholesky(-matrix - margin * np.eye(order))
    except np.linalg.LinAlgError:
        return False
    return bool(np.isfinite(factor).all())


def eq9_matrix(branch: Branch, rho: float, t: Matrix, slopes: Slopes = GELU) -> tuple[Matrix, float]:
    """Return M(rho, diag(t)) and a bound on the Frobenius norm of its rounding error."""
    w0, w1, p, q = branch.inner, branch.outer, slopes.low, slopes.high

    def assemble(w0: Matrix, w1: Matrix, product: float, total: float, rho: float, t2: Matrix) -> Matrix:
        side = total * (t[:, None] * w0)
        upper = product * (w0.T @ (t[:, None] * w0)) + rho * np.eye(w0.shape[1])
        return np.block([[upper, side.T], [side, w1.T @ w1 + t2]])

    matrix = assemble(w0, w1, -2 * p * q, p + q, -rho, -2 * np.diag(t))
    sizes = assemble(np.abs(w0), np.abs(w1), abs(2 * p * q), abs(p) + abs(q), abs(rho), 2 * np.diag(t))
    steps = max(*w0.shape, *w1.shape) + 6  # at most so many roundings per element
    return matrix, 1.01 * _gamma(steps) * float(np.linalg.norm(sizes))


def _gamma(steps: int) -> float:
    return steps * _UNIT / (1 - steps * _UNIT)


def bound(certificates: tuple[Certificate, Certificate]) -> float:
    """Return sqrt(rho_1) + sqrt(rho_2), the Lipschitz bound of Theorem 1, rounded upward."""
    first, second = (nextafter(sqrt(certificate.rho), inf) for certificate in certificates)
    return nextafter(first + second, inf)
