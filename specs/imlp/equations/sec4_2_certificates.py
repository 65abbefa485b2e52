"""Sec. 4.2, after Theorem 1: what the package proves of Eq. 9 without trusting a solver, judged in exact fractions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, nan

import numpy as np

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.certificate import (
    Certificate,
    Solver,
    bound,
    certify,
    eq9_matrix,
    holds,
    minimise_rho,
    prove,
    surely_negative,
)
from imlp_audit.equations.lipschitz.estimate import product_bound, product_of_norms, prove_least
from imlp_audit.equations.lipschitz.slopes import GELU, Slopes
from imlp_audit.equations.strategies import nonzero, numbers, plain
from imlp_audit.errors import SolverError

from ._certificates import INTERVALS, Near, eq9, make_branch, near_branches, positive_semidefinite


@claim(near_branches(), share=0.6)
def theorem1_proven_exactly(case: Near, _: Arithmetic) -> Trial:
    """Whatever rho the package accepts for a T makes M(rho, T) negative semidefinite in exact fractions: the one that
    it proves, and the smallest that it accepts, found by bisection. It proves one for every T that is not hardly above
    half the squared norm of W^1i, at most 10^-8 above the least where T is well above.

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
    five times the margin that Rump's theorem asks for, and never where they are below 0 by less than both.
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
        signs = _signs(self.n)
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


def _signs(n: int) -> Matrix:
    """Return Sylvester's matrix of 1, 2 or 4 rows."""
    signs, two = np.ones((1, 1)), np.array([[1.0, 1.0], [1.0, -1.0]])
    while len(signs) < n:
        signs = np.kron(signs, two)
    return signs


_POWERS = st.sampled_from((0, -20, 20, 100, -100, -190, 150))
_ORTHOGONAL = plain(
    st.builds(
        Orthogonal, nonzero(), nonzero(), st.sampled_from((1, 2, 4)), st.integers(1, 4), INTERVALS,
        st.tuples(_POWERS, _POWERS),
    )
)  # fmt: skip


@claim(_ORTHOGONAL, share=0.5)
def theorem1_least_rho(case: Orthogonal, _: Arithmetic) -> Trial:
    """For weights with orthogonal columns and one number as T, the rho that the package proves is at most 2 10^-10
    above the least; where a solver's T is a little too small, it still proves the optimum to a millionth, and
    where it is too small for any rho, one at most 1.4 times as large. Where weights
    are multiplied by powers of 2, however large or small, it proves as much times their squares.

    Place: Sec. 4.2, Theorem 1 and Eq. 9
    Corrected: rho = -2 p q t s + (p + q)^2 t^2 s / (2 t - omega) with s = ||W^0||^2, omega = ||W^1i||^2 and T = t I;
        its minimum over t is max(|p|, |q|)^2 s omega
    Bound: 2 10^-10 and 10^-6 above: no rounding bounds but the steps by which the package enlarges rho and T; none
        below; 10^-12 between weights and their multiples
    """
    # Compare with the formula in exact fractions.
    t = 1.5 * case.omega
    least, proven = case.least_rho(t), prove(case.branch, np.full(case.n, t), case.slopes)
    inner, outer = (4.0**power for power in case.scales)
    scaled = prove(case.scaled, np.full(case.n, t * outer), case.slopes)
    close = certify(case.scaled, np.full(case.n, case.best_t * outer * (1 - 1e-9)), case.slopes)
    shown = {**vars(case), "least rho": float(least), "proven": proven, "scaled": scaled, "optimum": case.optimum}
    if proven is None or scaled is None or close is None:
        return Trial(False, shown)
    optimum = close.rho / inner / outer / case.optimum
    hardly = certify(case.branch, np.full(case.n, case.omega / 2 * (1 - 1e-9)), case.slopes)
    true = least <= Fraction(proven.rho) <= least * (1 + Fraction(2, 10**10)) and 1 - 1e-14 <= optimum <= 1 + 1e-6
    true = true and hardly is not None and hardly.rho <= 1.4 * case.optimum
    of_scaled = scaled.rho / inner / outer / proven.rho
    return Trial(true and abs(of_scaled - 1) <= 1e-12, {**shown, "near the optimum": close})


@dataclass(frozen=True)
class Unused:
    """A branch of one hidden unit and of others that no output reads, and what a solver may propose of T for them."""

    inner: float
    outer: float
    others: tuple[float, ...]
    t: float

    @property
    def branch(self) -> Branch:
        """The branch; the unit that is read comes last."""
        return make_branch([[each] for each in (*self.others, self.inner)], [[*[0.0] * len(self.others), self.outer]])

    @property
    def proposed(self) -> Matrix:
        """The best T of the unit that is read, and `t` times that of the others."""
        own = self.outer**2 * GELU.high / (GELU.high - GELU.low)
        return np.array([*[self.t * own] * len(self.others), own])


_OTHERS = st.integers(1, 3).flatmap(lambda count: st.tuples(*[numbers()] * count))
_UNUSED = st.builds(Unused, nonzero(), nonzero(), _OTHERS, st.sampled_from((0.0, -1e-3, 1e-12, -1e-14)))


@claim(plain(_UNUSED), share=0.5)
def theorem1_unread_units(case: Unused, _: Arithmetic) -> Trial:
    """Hidden units that no output reads do not change what the package proves, even if a solver's T is 0 for them or,
    by its tolerance, less. A T with an entry below 0, and a T or rho that is no number or infinite, prove nothing.

    Place: Sec. 4.2, Theorem 1 and Eq. 8
    Corrected: sqrt(rho) = 1.12890 |W^0| |W^1i| of the one unit that is read
    Bound: 10^-6 above: no rounding bound but how far the package moves T; none below, except for 10^-12 for rounding
    """
    # Compare what is certified with the formula, and hand over what is no T and no rho.
    branch, proven = case.branch, certify(case.branch, case.proposed)
    if proven is None:
        return Trial(False, {**vars(case), "proven": None})
    least, slack = (GELU.high * case.inner * case.outer) ** 2, 1e-6 * (1 + sum(each**2 for each in case.others))
    near = least * (1 - 1e-12) <= proven.rho <= least * (1 + slack / case.inner**2) and bool(np.all(proven.t >= 0))
    bad = [np.array([value, *proven.t[1:]]) for value in (-1.0, nan, inf)]
    refused = not any(holds(branch, proven.rho * 10, t) for t in bad)
    refused = refused and not any(holds(branch, rho, proven.t) for rho in (inf, nan, -1.0, 0.0))
    return Trial(near and refused, {**vars(case), "least rho": least, "proven": proven, "others are refused": refused})


_RHOS = st.tuples(st.integers(10**9, 4 * 10**9), st.integers(10**8, 10**9), st.sampled_from((1, 10**3, 10**40)))


@claim(st.tuples(*[_RHOS] * 20))
def theorem1_bound_rounds_upward(case: tuple[tuple[int, int, int], ...], _: Arithmetic) -> Trial:
    """The bound that the package gives for two rhos is not below the sum of their roots, and at most 2^-50 of it above.

    Place: Sec. 4.2, Theorem 1
    Corrected: sqrt(rho_1) + sqrt(rho_2) <= L(f) <= (1 + 2^-50) (sqrt(rho_1) + sqrt(rho_2))
    Bound: none: the squares of both sides are fractions
    """
    # Compare squares: L >= a + b where L^2 - a^2 - b^2 >= 2 a b.
    for first, second, scale in case:
        one, other = first / scale, second / scale
        found = Fraction(bound((Certificate(one, np.ones(1)), Certificate(other, np.ones(1)))))
        if not _above_roots(found, one, other) or _above_roots(found / (1 + Fraction(1, 2**50)), one, other):
            return Trial(False, {"rho_1": one, "rho_2": other, "L(f)": float(found)})
    return Trial(True)


def _above_roots(length: Fraction, one: float, other: float) -> bool:
    """Return whether a number is the sum of two roots or more."""
    both = length**2 - Fraction(one) - Fraction(other)
    return both >= 0 and both**2 >= 4 * Fraction(one) * Fraction(other)


@dataclass(frozen=True)
class Halves:
    """Two branches a_i H and b_i R_i H of n units: R_1 = R_2, or the outputs of one are none of the other's."""

    n: int
    first: tuple[float, float]
    second: tuple[float, float]
    apart: bool

    @property
    def branches(self) -> tuple[Branch, Branch]:
        """Both branches, with 2 n outputs."""
        signs, zeros = _signs(self.n), np.zeros((self.n, self.n))
        (a, b), (a_, b_) = self.first, self.second
        one = make_branch(a * signs, np.vstack((b * signs, zeros)))
        return one, make_branch(a_ * signs, np.vstack((zeros, b_ * signs) if self.apart else (b_ * signs, zeros)))

    @property
    def norms(self) -> tuple[float, float, float]:
        """The squared products of both branches' norms, and that of the joined one's, over n^2."""
        (a, b), (a_, b_) = self.first, self.second
        outer = max(b * b, b_ * b_) if self.apart else b * b + b_ * b_
        return (a * b) ** 2, (a_ * b_) ** 2, (a * a + a_ * a_) * outer


_FACTORS = st.tuples(numbers(), numbers())


@claim(plain(st.builds(Halves, st.sampled_from((1, 2, 4)), _FACTORS, _FACTORS, st.booleans())))
def theorem1_product_of_norms(case: Halves, _: Arithmetic) -> Trial:
    """The bound without Theorem 1 that the package compares with is the smaller of two: the sum of the products of the
    norms of both branches, and that of the module as one branch; each is rounded upward, by at most 10^-11.

    Place: Sec. 4.2, after Theorem 1
    Corrected: min(sum_{i=1}^{2} 1.12890 ||alpha_i W^0|| ||W^1i beta_i||, 1.12890 ||[alpha_1 W^0; alpha_2 W^0]|| ||[W^11
        beta_1  W^12 beta_2]||)
    Bound: none below: the squares of norms of orthogonal matrices are fractions
    """
    # Compare squares in exact fractions.
    pair = case.branches
    one, other, joined = (Fraction(norm) * case.n**2 * Fraction(GELU.high) ** 2 for norm in case.norms)
    found, least = Fraction(product_bound(pair)), Fraction(10**11 - 1, 10**11)
    each = [Fraction(product_of_norms(branch)) for branch in pair]
    true = all(_close(ours, exact) for ours, exact in zip(each, (one, other), strict=True))
    above = found**2 >= joined or _above_fractions(found, one, other)
    below = (found * least) ** 2 >= joined or _above_fractions(found * least, one, other)
    return Trial(true and above and (not below or found < 1e-300), {**vars(case), "found": float(found)})


def _close(found: Fraction, square: Fraction) -> bool:
    return found**2 >= square and (found * Fraction(10**11 - 1, 10**11)) ** 2 <= max(square, Fraction(1, 10**600))


def _above_fractions(length: Fraction, one: Fraction, other: Fraction) -> bool:
    both = length**2 - one - other
    return both >= 0 and both**2 >= 4 * one * other


@dataclass(frozen=True)
class Solved:
    """A branch of one hidden unit and its slopes, and one of the solvers."""

    case: Orthogonal
    solver: Solver


_ONE_UNIT = st.builds(Orthogonal, nonzero(), nonzero(), st.just(1), st.just(1), INTERVALS, st.tuples(_POWERS, _POWERS))


@claim(plain(st.builds(Solved, _ONE_UNIT, st.sampled_from((Solver.CLARABEL, Solver.SCS)))), share=0.1)
def theorem1_proposed_t(case: Solved, _: Arithmetic) -> Trial:
    """The T that a solver proposes to the package for a branch of one hidden unit is the one of the least rho, whatever
    slopes and however small or large weights are; a solver whose time is up proposes nothing.

    Place: Sec. 4.2, after Theorem 1
    Corrected: T = ||W^1i||^2 (1 + |p + q| / (q - p)) / 2
    Bound: of rho, 10^-6 for Clarabel and 10^-4 for SCS, and a hundredth of it of T: no rounding bounds but how far they
        may be from the optimum
    Needs: a semidefinite program
    """
    # Put the proposed T into the formula of the least rho.
    own = case.case
    (t,) = minimise_rho(own.scaled, case.solver, own.slopes).tolist()
    slack = 1e-6 if case.solver is Solver.CLARABEL else 1e-4
    moved = float(t) / 4.0 ** own.scales[1] * (1 + slack / 100)
    best = 2 * moved > own.omega and own.least_rho(moved) <= own.optimum * (1 + slack)
    try:
        late: object = minimise_rho(own.branch, case.solver, own.slopes, seconds=1e-9)
    except SolverError:
        late = None
    return Trial(best and late is None, {**vars(case), "T": t, "best T": own.best_t, "after its time": late})


@claim(plain(st.tuples(nonzero(), nonzero(), st.booleans())), share=0.3)
def theorem1_constant_branch(case: tuple[float, float, bool], _: Arithmetic) -> Trial:
    """For a branch that is constant, because W^0 or W^1i diag(beta_i) is 0, the package has a T and a rho of next to
    nothing that make M(rho, T) negative semidefinite in exact fractions.

    Place: Sec. 4.2, Theorem 1 and Eq. 9
    Corrected: M(rho, T) <= 0 with rho <= 10^-300
    Bound: none: weights, T and rho are fractions
    """
    # Judge the pair by exact elimination.
    one, other, inner = case
    weights = ([[0.0], [0.0]], [[one, other]]) if inner else ([[one], [other]], [[0.0, 0.0]])
    branch = make_branch(*weights)
    proven = prove_least(branch, Solver.CLARABEL, 60.0)
    true = proven.rho <= 1e-300 and positive_semidefinite(eq9(branch, proven.rho, proven.t, GELU))
    return Trial(true, {"W^0": weights[0], "W^1i": weights[1], "proven": proven})
