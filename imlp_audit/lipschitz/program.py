"""The semidefinite program of Theorem 1, solved by cvxpy."""

from __future__ import annotations

import warnings
from enum import StrEnum

import numpy as np

from imlp_audit.errors import SolverError
from imlp_audit.lipschitz.branches import Branch, Matrix
from imlp_audit.lipschitz.slopes import GELU, Slopes


class Solver(StrEnum):
    """Clarabel, an interior-point method, is exact and slow; SCS, a first-order method, is rough and fast."""

    CLARABEL = "clarabel"
    SCS = "scs"


def minimise_rho(branch: Branch, solver: Solver, slopes: Slopes = GELU, seconds: float = 120.0) -> Matrix:
    """Return the diagonal of the T that lets rho be smallest in M(rho, T) <= 0 (Eq. 9).

    What is returned is a proposal: `certify` proves what follows from it. Raises SolverError with the solver's
    status where it does not end with a solution.
    """
    import cvxpy  # a second to import, for this alone

    # both norms brought to 1: T and rho scale with them, and a solver's tolerances are absolute
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
            warnings.simplefilter("ignore")  # "may be inaccurate": the status says it, and nothing is taken on trust
            problem.solve(solver=solver.name, **_options(solver, seconds))
    except cvxpy.SolverError as error:
        raise SolverError(f"{solver} failed: {error}") from error
    if problem.status != cvxpy.OPTIMAL:
        raise SolverError(f"{solver} ended with status {problem.status!r} (limit {seconds:g} s); no bound is given")
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
    """Return the spectral norm; 1 for a matrix of zeros, which cannot be scaled."""
    return float(np.linalg.norm(matrix, 2)) or 1.0
