"""Sec. 4.2, after Theorem 1: what the package proves of Eq. 9 without trusting a solver, judged in exact fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.certificate import (
    Certificate,
    Solver,
    eq9_matrix,
    holds,
    prove,
    surely_negative,
)
from imlp_audit.equations.lipschitz.estimate import prove_least
from imlp_audit.equations.lipschitz.slopes import GELU, Slopes
from imlp_audit.equations.strategies import nonzero, plain

from ._certificates import Near, eq9, make_branch, near_branches, positive_semidefinite


@claim(near_branches(), share=0.6)
def theorem1_proven_exactly(case: Near, _: Arithmetic) -> Trial:
    """Whatever rho the package accepts for a T makes M(rho, T) negative semidefinite in exact fractions: the one that
    it proves, and the smallest that it accepts, found by bisection. It proves one for every T that exceeds half
    the squared norm of W^1i by a share of at least 10^-9; it is at most 10^-8 above the least where T is well above.

    Place: Sec. 4.2, Theorem 1 and Eq. 9
    Corrected: M(rho, T) <= 0 for every rho that is accepted; no M(0.99999999 rho, T) <= 0 for the rho that is proven
        with T >= 0.55 ||W^1i||^2
    Bound: none: weights, T and rho are fractions
    """
    # Judge the least rho that is accepted by exact elimination.
    branch, t = case.branch, case.t
    proven = prove(branch, t, case.slopes)
    shown: dict[str, object] = {**vars(case), "t": t.tolist(), "proven": proven}
    if proven is None:
        return Trial(case.share < 1e-9, shown)
    least = _least_accepted(branch, proven, case.slopes)
    true = all(positive_semidefinite(eq9(branch, rho, t, case.slopes)) for rho in (proven.rho, least))
    if case.share >= 0.1:
        true = true and not positive_semidefinite(eq9(branch, proven.rho * (1 - 1e-8), t, case.slopes))
    return Trial(true, {**shown, "least that is accepted": least})


def _least_accepted(branch: Branch, proven: Certificate, slopes: Slopes) -> float:
    refused, accepted = 0.0, proven.rho
    for _ in range(54):
        middle = (refused + accepted) / 2
        if holds(branch, middle, proven.t, slopes):
            accepted = middle
        else:
            refused = middle
    return accepted


@claim(near_branches(), share=0.5)
def theorem1_matrix_rounding(case: Near, _: Arithmetic) -> Trial:
    """The matrix of Eq. 9 that the package computes is no further from the exact one than the bound that comes with it,
    which has all roundings of its sums: one for each term and three more, and less than three times as many.

    Place: Sec. 4.2, Theorem 1 and Eq. 9
    Corrected: ||M' - M||_F <= e for the computed M'; gamma_k ||S||_F <= e < 3 gamma_k ||S||_F, k = max(n, m) + 3 and
        gamma_k = k u / (1 - k u), u = 2^-53, where S has the sum of the magnitudes of each element's terms
    Bound: none: all numbers are fractions
    """
    # Compare with exact fractions.
    branch, t = case.branch, case.t
    rho = float(np.sum(branch.inner**2))
    found, error = eq9_matrix(branch, rho, t, case.slopes)
    exact, own = eq9(branch, rho, t, case.slopes), found.tolist()
    off = sum((Fraction(x) + y) ** 2 for rows in zip(own, exact, strict=True) for x, y in zip(*rows, strict=True))
    steps = max(branch.outer.shape) + 3
    least = steps / (2.0**53 - steps) * float(np.linalg.norm(_magnitudes(case, rho)))
    true = off <= Fraction(error) ** 2 and least <= error <= 3 * least
    return Trial(true, {**vars(case), "rho": rho, "M": own, "error": error})


def _magnitudes(case: Near, rho: float) -> Matrix:
    """Return the sums of the magnitudes of the terms of each element of M."""
    p, q, t = abs(case.slopes.low), abs(case.slopes.high), float(case.t[0])
    w0, w1 = np.abs(case.branch.inner), np.abs(case.branch.outer)
    upper = 2 * p * q * t * (w0.T @ w0) + rho * np.eye(w0.shape[1])
    side = (p + q) * t * w0
    return np.block([[upper, side.T], [side, w1.T @ w1 + 2 * t * np.eye(len(w0))]])


@dataclass(frozen=True)
class Barely:
    """Numbers of a diagonal matrix, an error, and by how much the least number is above the error, in margins."""

    numbers: tuple[float, ...]
    error: float
    margins: Fraction


_BARELY = st.builds(
    Barely,
    st.integers(1, 8).flatmap(lambda size: st.tuples(*[st.sampled_from((1.0, 3.0, 0.75, 100.0))] * size)),
    st.sampled_from((0.0, 1e-15, 1e-3, 1e-9)),
    st.sampled_from((Fraction(-1), Fraction(0), Fraction(9, 10), Fraction(5), Fraction(100), Fraction(-(10**6)))),
)


@claim(_BARELY)
def theorem1_margin(case: Barely, _: Arithmetic) -> Trial:
    """The package says that a matrix is surely negative semidefinite where its eigenvalues are below 0 by its error and
    five times the margin that Rump's theorem asks for, and never where they are above minus the sum of the error and
    one margin.
    Shown by diagonal matrices.

    Place: Sec. 4.2, Theorem 1 and Eq. 9
    Corrected: M' <= -(e + gamma_{N+1} / (1 - gamma_{N+1}) sum_i |M'_ii|) I with gamma_k = k u / (1 - k u), u = 2^-53
    Bound: a tenth of the margin, for the rounding of the least number
    """
    # Put the least number just below or above the margin.
    order = len(case.numbers) + 1
    gamma = Fraction(order + 1, 2**53 - order - 1)
    margin = gamma / (1 - gamma) * (sum(map(Fraction, case.numbers)) + Fraction(case.error))
    least = float(Fraction(case.error) + case.margins * margin)
    matrix = -np.diag([*case.numbers, least])
    found = surely_negative(matrix, case.error)
    shown = {**vars(case), "least": least, "surely negative": found}
    return Trial(found == (case.margins > 1), shown)


_SIZES = st.sampled_from((1.0, 1e-170, 1e-162, 1e60, 1e-120))


@claim(st.tuples(plain(st.tuples(nonzero(), nonzero(), st.booleans())), _SIZES), share=0.3)
def theorem1_constant_branch(case: tuple[tuple[float, float, bool], float], _: Arithmetic) -> Trial:
    """For a branch that is constant, because W^0 or W^1i diag(beta_i) is 0, the package has a T and a rho of next to
    nothing that make M(rho, T) negative semidefinite in exact fractions, also where the squares of weights underflow.

    Place: Sec. 4.2, Theorem 1 and Eq. 9
    Corrected: M(rho, T) <= 0 with rho <= 10^-300
    Bound: none: weights, T and rho are fractions
    """
    # Judge the pair by exact elimination.
    (one, other, inner), size = case
    one, other = one * size, other * size
    weights = ([[0.0], [0.0]], [[one, other]]) if inner else ([[one], [other]], [[0.0, 0.0]])
    branch = make_branch(*weights)
    proven = prove_least(branch, Solver.CLARABEL, 60.0)
    true = proven.rho <= 1e-300 and positive_semidefinite(eq9(branch, proven.rho, proven.t, GELU))
    return Trial(true, {"W^0": weights[0], "W^1i": weights[1], "proven": proven})
