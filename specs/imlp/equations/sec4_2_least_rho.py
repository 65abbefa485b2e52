"""Sec. 4.2, after Theorem 1: the rho and the bounds that the package finds, where they are formulas."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan

import numpy as np

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.certificate import Certificate, Solver, bound, certify, holds, minimise_rho, prove
from imlp_audit.equations.lipschitz.slopes import GELU
from imlp_audit.equations.strategies import nonzero, numbers, plain
from imlp_audit.errors import SolverError

from ._certificates import make_branch
from ._orthogonal import ONE_UNIT, ORTHOGONAL, Orthogonal


@claim(ORTHOGONAL, share=0.5)
def theorem1_least_rho(case: Orthogonal, _: Arithmetic) -> Trial:
    """For weights with orthogonal columns and one number as T, the rho that the package proves is at most 2 10^-10
    above the least; where a solver's T is a little too small, it still proves the optimum to a millionth, and
    where it is too small for any rho, one at most 1.4 times as large. Where weights are multiplied by powers of 2 from
    2^-190 to 2^150, it proves as much times their squares.

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


@claim(plain(ONE_UNIT), share=0.1)
def theorem1_proposed_t(case: Orthogonal, _: Arithmetic) -> Trial:
    """The T that each solver proposes to the package for a branch of one hidden unit is the one of the least rho,
    whatever slopes and however small or large weights are; a solver whose time is up proposes nothing.

    Place: Sec. 4.2, after Theorem 1
    Corrected: T = ||W^1i||^2 (1 + |p + q| / (q - p)) / 2
    Bound: of rho, 10^-6 for Clarabel and 10^-4 for SCS, and a hundredth of it of T: no rounding bounds but how far they
        may be from the optimum
    Needs: a semidefinite program
    """
    # Put the proposed T into the formula of the least rho.
    for solver, slack in ((Solver.CLARABEL, 1e-6), (Solver.SCS, 1e-4)):
        (t,) = minimise_rho(case.scaled, solver, case.slopes).tolist()
        moved = float(t) / 4.0 ** case.scales[1] * (1 + slack / 100)
        best = 2 * moved > case.omega and case.least_rho(moved) <= case.optimum * (1 + slack)
        if not best or _after_its_time(case, solver):
            return Trial(False, {**vars(case), "solver": solver, "T": moved, "best T": case.best_t})
    return Trial(True)


def _after_its_time(case: Orthogonal, solver: Solver) -> bool:
    try:
        minimise_rho(case.branch, solver, case.slopes, seconds=1e-9)
    except SolverError:
        return False
    return True


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
    """Hidden units that no output reads change what the package proves by little, even if a solver's T is 0 for them
    or, by its tolerance, less: by a share that grows with their weights. A T with an entry below 0, and a T or rho that
    is no number or infinite, prove nothing.

    Place: Sec. 4.2, Theorem 1 and Eq. 8
    Corrected: sqrt(rho) = 1.12890 |W^0| |W^1i| of the one unit that is read
    Bound: 10^-8 (1 + ||w||^2 / |W^0|^2) above, with w the weights of the units that are not read: no rounding bound but
        how far the package moves T; none below, except for 10^-12 for rounding
    """
    # Compare what is certified with the formula, and hand over what is no T and no rho.
    branch, proven = case.branch, certify(case.branch, case.proposed)
    if proven is None:
        return Trial(False, {**vars(case), "proven": None})
    least, others = (GELU.high * case.inner * case.outer) ** 2, sum(each**2 for each in case.others)
    slack = 1e-8 * (1 + others / case.inner**2)
    near = least * (1 - 1e-12) <= proven.rho <= least * (1 + slack) and bool(np.all(proven.t >= 0))
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
