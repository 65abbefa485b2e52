"""Sec. 4.2, after Theorem 1: the least rho of Eq. 9, proven in fractions, where it is a formula."""

from fractions import Fraction
from math import inf, nan

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from imlp_audit.claims import NONZERO, NUMBERS, Sides, choice, claim_about, modules
from imlp_audit.errors import SolverError
from imlp_audit.models.imlp import Imlp, amlp

from ._certificate import (
    GELU,
    INTERVALS,
    Branch,
    Matrix,
    Slopes,
    Solver,
    branches,
    certify,
    holds,
    minimise_rho,
    prove,
    prove_least,
)

SIZES = st.integers(1, 3)
SIZE, POWER = st.sampled_from(NONZERO), st.sampled_from((0, -20, 20, 100, -100, -190, 150))
SOLVER = choice("solver", Solver.CLARABEL, Solver.SCS)


def least_rho(a: float, b: float, n: int, t: float, slopes: Slopes) -> Fraction:
    """Return -2 p q t s + (p + q)^2 t^2 s / (2 t - omega), s = n a^2 = ||W^0||^2 and omega = n b^2 = ||W^1i||^2."""
    (p, q), s, omega = map(Fraction, slopes), n * Fraction(a) ** 2, n * Fraction(b) ** 2
    return -2 * p * q * Fraction(t) * s + ((p + q) * Fraction(t)) ** 2 * s / (2 * Fraction(t) - omega)


def best_t(omega: float, slopes: Slopes) -> float:
    """Return the t of the smallest rho, which is max(|p|, |q|)^2 s omega."""
    p, q = slopes
    return omega * (1 + abs(p + q) / (q - p)) / 2


@st.composite
def branch_of(draw: st.DrawFn, number: st.SearchStrategy[float]) -> Branch:
    """Draw W^0 and W^1i of up to 3 inputs, hidden units and outputs."""
    n_0, n, m = (draw(SIZES) for _ in range(3))
    w0, w1 = (draw(st.lists(number, min_size=size, max_size=size)) for size in (n * n_0, m * n))
    return np.array(w0).reshape(n, n_0), np.array(w1).reshape(m, n)


claim = claim_about(slopes=INTERVALS, powers=st.tuples(POWER, POWER), W0=SIZE, W1=SIZE, solver=SOLVER)


@claim(
    branch=branch_of(st.sampled_from(NUMBERS)),
    share_above=st.sampled_from((1.0, 0.1, 0.25, 2.0**-20, 1e-9)),
    place="Sec. 4.2, Theorem 1 and Eq. 9",
    corrected="M(rho, T) <= 0 for every rho that is accepted; no M(0.99999999 rho, T) <= 0 for the rho that is proven "
    "with T >= 0.55 ||W^1i||^2",
)
def theorem1_proven_exactly(branch: Branch, slopes: Slopes, share_above: float) -> Sides:
    """Whatever rho the package accepts for a T makes M(rho, T) negative semidefinite in exact fractions. It proves one
    for every T that exceeds half the squared norm of W^1i by a share of at least 10^-9; it is at most 10^-8 above the
    least where T is well above.
    """
    w0, w1 = branch
    assume(w0.any())
    t = np.full(len(w0), (np.linalg.norm(w1, 2) or 1.0) ** 2 / 2 * (1 + share_above))
    proven = prove(branch, t, slopes)
    if proven is None or not holds(branch, proven.rho, t, slopes) or holds(branch, 0.0, t, slopes):
        return False
    return share_above < 0.1 or not holds(branch, proven.rho * (1 - 1e-8), t, slopes)


@claim(
    a=SIZE,
    b=SIZE,
    n=st.sampled_from((1, 2, 4)),
    n_0=st.integers(1, 4),
    place="Sec. 4.2, Theorem 1 and Eq. 9",
    corrected="rho = -2 p q t s + (p + q)^2 t^2 s / (2 t - omega) with s = ||W^0||^2, omega = ||W^1i||^2 and T = t I; "
    "its minimum over t is max(|p|, |q|)^2 s omega",
)
def theorem1_least_rho(a: float, b: float, n: int, n_0: int, slopes: Slopes, powers: tuple[int, int]) -> Sides:
    """For weights with orthogonal columns and one number as T, the rho that the package proves is at most 2 10^-10
    above the least; where a solver's T is a little too small, it still proves the optimum to a millionth, and
    where it is too small for any rho, one at most 1.4 times as large. Where weights are multiplied by powers of 2 from
    2^-190 to 2^150, it proves as much times their squares.
    """
    signs = signs_of(n)
    branch, omega = (a * signs[:, :n_0], b * signs), b * b * n
    scaled, (inner, outer) = (
        (branch[0] * 2.0 ** powers[0], branch[1] * 2.0 ** powers[1]),
        (4.0**power for power in powers),
    )
    optimum = max(map(abs, slopes)) ** 2 * (a * b * n) ** 2

    def diagonal(t: float) -> Matrix:
        return np.full(n, t)

    least, proven = least_rho(a, b, n, 1.5 * omega, slopes), prove(branch, diagonal(1.5 * omega), slopes)
    multiple = prove(scaled, diagonal(1.5 * omega * outer), slopes)
    near = certify(scaled, diagonal(best_t(omega, slopes) * outer * (1 - 1e-9)), slopes)
    hardly = certify(branch, diagonal(omega / 2 * (1 - 1e-9)), slopes)
    if not (proven and multiple and near and hardly):
        return False
    return [
        least <= Fraction(proven.rho) <= least * (1 + Fraction(2, 10**10)),
        1 - 1e-14 <= near.rho / inner / outer / optimum <= 1 + 1e-6,
        hardly.rho <= 1.4 * optimum,
        abs(multiple.rho / inner / outer / proven.rho - 1) <= 1e-12,
    ]


def signs_of(n: int) -> Matrix:
    """Return Sylvester's matrix of 1, 2 or 4 rows."""
    two = np.array([[1.0, 1.0], [1.0, -1.0]])
    return {1: np.ones((1, 1)), 2: two, 4: np.kron(two, two)}[n]


@claim(
    place="Sec. 4.2, after Theorem 1",
    corrected="T = ||W^1i||^2 (1 + |p + q| / (q - p)) / 2",
    needs="a semidefinite program",
    share=0.1,
)
def theorem1_proposed_t(W0: float, W1: float, slopes: Slopes, powers: tuple[int, int], solver: Solver) -> Sides:
    """The T that each solver proposes to the package for a branch of one hidden unit is the one of the least rho,
    whatever slopes and however small or large weights are; a solver whose time is up proposes nothing.
    """
    slack = {Solver.CLARABEL: 1e-6, Solver.SCS: 1e-4}[solver]
    branch = np.array([[W0 * 2.0 ** powers[0]]]), np.array([[W1 * 2.0 ** powers[1]]])
    t = float(minimise_rho(branch, solver, slopes)[0]) / 4.0 ** powers[1] * (1 + slack / 100)
    optimum = max(map(abs, slopes)) ** 2 * (W0 * W1) ** 2
    best = 2 * t > W1**2 and least_rho(W0, W1, 1, t, slopes) <= optimum * (1 + slack)
    try:
        minimise_rho(branch, solver, slopes, seconds=1e-9)
    except SolverError:
        return best
    return False


@claim(
    w=st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3),
    t=st.sampled_from((0.0, -1e-3, 1e-12, -1e-14)),
    place="Sec. 4.2, Theorem 1 and Eq. 8",
    corrected="sqrt(rho) = 1.12890 |W^0| |W^1i| of the one unit that is read",
)
def theorem1_unread_units(W0: float, W1: float, w: list[float], t: float) -> Sides:
    """Hidden units that no output reads change what the package proves by little, even if a solver's T is 0 for them
    or, by its tolerance, less: by a share that grows with their weights. A T with an entry below 0, and a T or rho that
    is no number or infinite, prove nothing.
    """
    branch = np.array([*([each] for each in w), [W0]]), np.array([[*[0.0] * len(w), W1]])
    own = best_t(W1**2, GELU)
    proven = certify(branch, np.array([*[t * own] * len(w), own]))
    if proven is None:
        return False
    least = (GELU[1] * W0 * W1) ** 2
    slack = 1e-8 * (1 + sum(each**2 for each in w) / W0**2)
    bad = [np.array([value, *proven.t[1:]]) for value in (-1.0, nan, inf)]
    return [
        least * (1 - 1e-12) <= proven.rho <= least * (1 + slack) and bool((proven.t >= 0).all()),
        not any(holds(branch, proven.rho * 10, each) for each in bad),
        not any(holds(branch, rho, proven.t) for rho in (inf, nan, -1.0, 0.0)),
    ]


@claim(
    f=modules(amlp, st.integers(1, 2), 1, st.integers(1, 2)),
    powers=st.sampled_from(((0, 0), (-30, 0), (30, -30), (0, 30))),
    place="Sec. 4.2, after Theorem 1",
    corrected="sqrt(rho_i) = 1.12890 ||alpha_i W^0|| ||W^1i beta_i|| for one hidden unit; L(f) = sqrt(rho_1) + "
    "sqrt(rho_2)",
    needs="a semidefinite program",
    share=0.24,
)
def theorem1_one_unit(f: Imlp, powers: tuple[int, int], solver: Solver) -> Sides:
    """For a module of one hidden unit, the bound that the package finds and proves with each of its solvers is the sum
    over both branches of GeLU's steepest slope times the norms of the branch.

    Read as: each inequality has a T of its own. Branches that are equal, have one of their matrices in common, or are
    constant have their own bounds all the same, and so have small and large weights.
    """
    for w0, w1 in branches(f):
        branch = w0 * 2.0 ** powers[0], w1 * 2.0 ** powers[1]
        root = GELU[1] * float(np.linalg.norm(branch[0]) * np.linalg.norm(branch[1]))
        found = prove_least(branch, solver).rho ** 0.5
        if not root * (1 - 1e-12) <= found <= root * (1 + {Solver.CLARABEL: 1e-4, Solver.SCS: 1e-2}[solver]):
            return False
    return True
