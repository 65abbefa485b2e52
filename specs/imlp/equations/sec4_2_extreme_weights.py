"""Sec. 4.2, after Theorem 1: what the package proves for weights that cannot be squared, in exact fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan

import numpy as np

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.branches import Branch
from imlp_audit.equations.lipschitz.certificate import certify, holds, surely_negative
from imlp_audit.equations.lipschitz.slopes import Slopes

from ._certificates import INTERVALS, eq9, make_branch, positive_semidefinite


@dataclass(frozen=True)
class Extreme:
    """A branch of one hidden unit whose weights may be too large or too small to be squared, its slopes and a rho."""

    inner: float
    outer: float
    slopes: Slopes
    rho: float

    @property
    def branch(self) -> Branch:
        """The branch."""
        return make_branch([[self.inner]], [[self.outer]])

    @property
    def optimum(self) -> Fraction:
        """The smallest rho of any T, (max(|p|, |q|) W^0 W^1i)^2."""
        p, q = self.slopes.low, self.slopes.high
        return (Fraction(max(abs(p), abs(q))) * Fraction(self.inner) * Fraction(self.outer)) ** 2

    @property
    def best_t(self) -> float:
        """The T of this rho; 0 or infinite where no number of float64 is."""
        p, q = self.slopes.low, self.slopes.high
        return self.outer * self.outer * (1 + abs(p + q) / (q - p)) / 2


_EXTREME = st.sampled_from((1.0, -3e155, 1e-170, 0.3e-120, 1e60, 1e-60, 2e-162, 1e120, 1e300, 1e-300))
_RHOS = st.sampled_from((1.0, 0.0, -1.0, 1e300, 1e-300, 1e-60))
_NOT_FINITE = (nan, inf, -inf)


@claim(st.builds(Extreme, _EXTREME, _EXTREME, INTERVALS, _RHOS))
def theorem1_extreme_weights(case: Extreme, _: Arithmetic) -> Trial:
    """However large or small the weights of a hidden unit are, the package accepts a rho and a T only if M(rho, T) is
    negative semidefinite in exact fractions, and none for weights that are not finite. From 10^-170 to 10^120 it proves
    the optimum, or next to nothing where that underflows.

    Place: Sec. 4.2, Theorem 1 and Eq. 9
    Corrected: M(rho, T) <= 0 for every rho and T that are accepted; for the proven one, rho <= (1 + 10^-6) max(|p|,
        |q|)^2 |W^0|^2 |W^1i|^2 + 10^-300 (1 + |W^0|^2)
    Bound: none: weights, T and rho are fractions
    """
    # Judge what is accepted by exact elimination, and hand over numbers that are not finite.
    proposed = (1.0, 1e-300, 1e80, case.best_t * 1.5)
    pairs = [(case.rho, t) for t in proposed if holds(case.branch, case.rho, np.array([t]), case.slopes)]
    if _provable(case):
        proven = certify(case.branch, np.array([case.best_t]), case.slopes)
        slack = Fraction(1, 10**6) * case.optimum + Fraction(1, 10**300) * (1 + Fraction(case.inner) ** 2)
        if proven is None or proven.rho > case.optimum + slack:
            return Trial(False, {**vars(case), "proven": proven})
        pairs.append((proven.rho, float(proven.t[0])))
    false = [(rho, t) for rho, t in pairs if not _is_true(case, rho, t)]
    accepted = [value for value in _NOT_FINITE if _accepts(value)]
    return Trial(not false and not accepted, {**vars(case), "false rho and T": false, "accepted weights": accepted})


def _is_true(case: Extreme, rho: float, t: float) -> bool:
    return positive_semidefinite(eq9(case.branch, rho, np.array([t]), case.slopes))


def _provable(case: Extreme) -> bool:
    sizes = abs(case.inner), abs(case.outer)
    return all(1e-170 <= size <= 1e120 for size in sizes) and sizes[0] * sizes[1] <= 1e140


def _accepts(value: float) -> bool:
    """Return whether anything is proven of a branch or matrix with this number, or of such an error."""
    branches, one = (make_branch([[value]], [[1.0]]), make_branch([[1.0]], [[value]])), np.ones(1)
    matrices = (surely_negative(np.array([[value]]), 0.0), surely_negative(-np.eye(2), abs(value)))
    return any(holds(branch, 1.0, one, Slopes(0.0, 1.0)) for branch in branches) or any(matrices)
