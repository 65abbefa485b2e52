"""Theorem 1's certificate: the slopes of GeLU, and pairs rho, T with M(rho, T) <= 0 (Eq. 9), proven in fractions.

A branch is W^1i diag(beta_i) GeLU(diag(alpha_i) W^0 x + ...): the coefficients of AGeLU are part of its two matrices,
so that all of its hidden units have the slopes of GeLU.
"""

import warnings
from enum import StrEnum
from fractions import Fraction
from math import erf, exp, pi, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from imlp_audit.claims import choice
from imlp_audit.errors import SolverError
from imlp_audit.models.imlp import AGeLU

Matrix: TypeAlias = NDArray[np.float64]
Branch: TypeAlias = tuple[Matrix, Matrix]
Slopes: TypeAlias = tuple[float, float]

_OUTWARD = 2.0**-50  # four roundings of numbers near 1
# GeLU'(sqrt 2) = Phi(sqrt 2) + sqrt 2 phi(sqrt 2) = 1.12890...
Q = 0.5 + erf(1.0) / 2 + exp(-1.0) / sqrt(pi) + _OUTWARD
GELU: Slopes = (1 - Q, Q)  # both add up to 1, because GeLU(x) - GeLU(-x) = x
Q_TANH = 1.1289930686587717654559 + _OUTWARD  # of the tanh form, whose steepest place has no closed form
GELU_TANH: Slopes = (1 - Q_TANH, Q_TANH)
STEEPEST, STEEPEST_TANH = sqrt(2), 1.418504008790828355548
# Slopes of GeLU, of AGeLUs with alpha beta = -2, of ReLU, tanh and others; p + q is 0 or not, p q of either sign.
INTERVALS = choice("[p, q]", GELU, (-2 * Q, -2 * (1 - Q)), (0.0, 1.0), (-1.0, 1.0), (0.25, 1.0), (-1.5, -0.125))
_STEPS = [10.0**power for power in range(-10, 1)]  # by which T, and then rho, is made larger until a proof succeeds


class Solver(StrEnum):
    """Clarabel is an interior-point method, exact and slow; SCS is a first-order method, rough and fast."""

    CLARABEL = "clarabel"
    SCS = "scs"


class Proof(NamedTuple):
    """A pair of which M(rho, diag(t)) <= 0 is proven."""

    rho: float
    t: Matrix


def branches(f: nn.Module) -> tuple[Branch, Branch]:
    """Return both branches of an AMLP module."""
    own = {name: value.detach().cpu().numpy() for name, value in f.named_parameters()}
    halves = zip((1, 2), np.split(own["fc2.weight"], 2, axis=1), strict=True)
    first, second = (
        (own[f"act.agelu{i}.alpha"][:, None] * own["fc1.weight"], w1 * own[f"act.agelu{i}.beta"]) for i, w1 in halves
    )
    return first, second


def ends(f: AGeLU, slopes: Slopes) -> tuple[Tensor, Tensor]:
    """Return the slopes of an AGeLU from those of phi: alpha beta [p, q], turned round where alpha beta < 0."""
    p, q = sorted((f.alpha[0] * f.beta[0] * end).detach() for end in slopes)
    return p, q


def eq9(w0: Matrix, w1: Matrix, rho: float, t: Matrix, p: float, q: float) -> Matrix:
    """Return M(rho, diag(t)), in the numbers of its arguments."""
    side = (p + q) * (t[:, None] * w0)
    upper = -2 * p * q * (w0.T @ (t[:, None] * w0)) - rho * np.eye(w0.shape[1], dtype=int)
    return np.block([[upper, side.T], [side, w1.T @ w1 - 2 * np.diag(t)]])


def holds(branch: Branch, rho: float, t: Matrix, slopes: Slopes = GELU) -> bool:
    """Return whether M(rho, diag(t)) <= 0, by elimination in fractions: no pivot of -M is negative."""
    numbers: list[Any] = [*branch, rho, t, *slopes]
    if not all(np.isfinite(each).all() for each in numbers):
        return False
    rest = eq9(*(np.vectorize(Fraction, otypes=[object])(each)[()] for each in numbers)) * -1
    while len(rest):
        pivot, row = rest[0, 0], rest[0, 1:]
        if pivot < 0 or (pivot == 0 and row.any()):
            return False
        rest = rest[1:, 1:] - (np.outer(row, row) / pivot if pivot else 0)
    return True


def prove(branch: Branch, t: Matrix, slopes: Slopes = GELU) -> Proof | None:
    """Return the least rho for this T, a little larger where rounding needs it; None where there is none."""
    least = _least_rho(branch, t, slopes)
    larger = () if least is None else (float(least * (1 + step)) for step in _STEPS)
    return next((Proof(rho, t) for rho in larger if holds(branch, rho, t, slopes)), None)


def _least_rho(branch: Branch, t: Matrix, slopes: Slopes) -> float | None:
    """Estimate it by the Schur complement of the lower right block, with weights of norm 1."""
    (w0, w1), (inner, outer), (p, q) = map(_unit, branch), map(_norm, branch), slopes
    t = t / outer**2
    side = (p + q) * t[:, None] * w0
    try:
        np.linalg.cholesky(lower := 2 * np.diag(t) - w1.T @ w1)
    except np.linalg.LinAlgError:
        return None
    upper = side.T @ np.linalg.solve(lower, side) - 2 * p * q * (w0.T @ (t[:, None] * w0))
    return max(float(np.linalg.eigvalsh(upper)[-1]), 0.0) * inner**2 * outer**2


def certify(branch: Branch, t: Matrix, slopes: Slopes = GELU) -> Proof | None:
    """Return the smallest rho that is proven with a T near the given one, or None."""
    largest = float(t.max(initial=0.0)) or _norm(branch[1]) ** 2
    moved = (np.maximum(t, 0.0) * (1 + step) + largest * step for step in _STEPS)
    return min(filter(None, (prove(branch, each, slopes) for each in moved)), default=None, key=lambda proof: proof.rho)


def minimise_rho(branch: Branch, solver: Solver, slopes: Slopes = GELU, seconds: float = 120.0) -> Matrix:
    """Return the T that a solver proposes for the smallest rho. Raises SolverError where it finds none."""
    import cvxpy  # takes a second to import

    (w0, w1), (p, q) = map(_unit, branch), slopes
    hidden, width = w0.shape
    t, rho = cvxpy.Variable(hidden, nonneg=True), cvxpy.Variable()
    weighted = cvxpy.multiply(cvxpy.reshape(t, (hidden, 1), order="C"), w0)
    upper, side = -2 * p * q * (w0.T @ weighted) - rho * np.eye(width), (p + q) * weighted
    matrix = cvxpy.bmat([[upper, side.T], [side, w1.T @ w1 - 2 * cvxpy.diag(t)]])
    problem = cvxpy.Problem(cvxpy.Minimize(rho), [matrix << 0])
    limits = {
        Solver.SCS: {"eps_abs": 1e-5, "eps_rel": 1e-5, "max_iters": 100_000, "time_limit_secs": seconds},
        Solver.CLARABEL: {"time_limit": seconds},
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": the status says so, and the proposal is proven
            problem.solve(solver=solver.name, **limits[solver])
    except cvxpy.SolverError as error:
        raise SolverError(f"{solver} failed: {error}") from error
    if problem.status != cvxpy.OPTIMAL:
        raise SolverError(f"{solver} ended with status {problem.status!r} (limit {seconds:g} s)")
    return np.asarray(t.value, dtype=np.float64) * _norm(branch[1]) ** 2


def prove_least(branch: Branch, solver: Solver) -> Proof:
    """Return the least rho of any T, as a solver proposes it and as it is proven; of a constant branch it is 0."""
    w0, w1 = branch
    if not (w0.any(axis=1) & w1.any(axis=0)).any():
        return Proof(0.0, np.where(w0.any(axis=1), 0.0, _norm(w1) ** 2))
    proof = certify(branch, minimise_rho(branch, solver))
    if proof is None:
        raise SolverError(f"{solver} proposed a T of which nothing could be proven")
    return proof


def _unit(matrix: Matrix) -> Matrix:
    return matrix / _norm(matrix)


def _norm(matrix: Matrix) -> float:
    """Return the spectral norm, or 1 for a matrix of zeros, which cannot be scaled."""
    return float(np.linalg.norm(matrix, 2)) or 1.0
