"""Everything that is said about the Lipschitz constant of one AMLP module."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from math import inf, nextafter
from unittest.mock import patch

import numpy as np

from imlp_audit.errors import SolverError
from imlp_audit.lipschitz.branches import Branch, Matrix
from imlp_audit.lipschitz.certificate import Certificate, bound, certify
from imlp_audit.lipschitz.gradient import largest_gradient
from imlp_audit.lipschitz.program import Solver, minimise_rho
from imlp_audit.lipschitz.slopes import GELU
from imlp_audit.workers import workers

_SMALL = 32  # hidden units of a branch up to which Clarabel takes about a second


@dataclass(frozen=True)
class Estimate:
    """Bounds on a module's Lipschitz constant: proven by Theorem 1, by norms alone, and found as a gradient.

    `width` is C, `hidden` the units of a branch (C'/2), `rho` the proven rho_1 and rho_2, `solvers` the bound that
    each solver's proposal led to.
    """

    width: int
    hidden: int
    rho: tuple[float, float]
    solvers: dict[str, float]
    product: float
    gradient: float

    @property
    def bound(self) -> float:
        """The smallest proven bound."""
        return min(self.solvers.values())


def estimate(branches: tuple[Branch, Branch], starts: Sequence[Matrix], seconds: float) -> Estimate:
    """Bound the Lipschitz constant of a module. Raises SolverError where a solver or its proof fails.

    Small modules are given to both solvers, each the other's second opinion; larger ones to SCS alone.
    """
    hidden, width = branches[0].inner.shape
    solvers = [Solver.SCS, *([Solver.CLARABEL] if hidden <= _SMALL else [])]
    proofs = {solver: _proofs(branches, solver, seconds) for solver in solvers}
    best = min(proofs.values(), key=bound)
    return Estimate(
        width=width,
        hidden=hidden,
        rho=(best[0].rho, best[1].rho),
        solvers={solver.value: bound(pair) for solver, pair in proofs.items()},
        product=min(sum(map(product_of_norms, branches)), product_of_norms(_joined(branches))),
        gradient=largest_gradient(branches, starts),
    )


def _proofs(branches: tuple[Branch, Branch], solver: Solver, seconds: float) -> tuple[Certificate, Certificate]:
    """Prove both branches, side by side; equal ones once."""
    first, second = branches
    if np.array_equal(first.inner, second.inner) and np.array_equal(first.outer, second.outer):
        proof = _proof(first, solver, seconds)
        return proof, proof
    if first.inner.shape[0] <= _SMALL:
        return _proof(first, solver, seconds), _proof(second, solver, seconds)
    # a process a branch, each on one core: threads of both on every core take twice as long
    with patch.dict(os.environ, {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}), workers(2) as pool:
        one, other = [pool.submit(_proof, branch, solver, seconds) for branch in branches]
        try:
            return one.result(), other.result()
        except BrokenProcessPool as error:
            raise SolverError(f"{solver} was ended from outside, perhaps for want of memory") from error


def _proof(branch: Branch, solver: Solver, seconds: float) -> Certificate:
    if not (branch.inner.any() and branch.outer.any()):  # constant: every rho > 0 has a T, and no solver finds it
        return Certificate(float(np.finfo(float).tiny), np.full(len(branch.inner), np.sum(branch.outer**2)))
    proof = certify(branch, minimise_rho(branch, solver, seconds=seconds))
    if proof is None:
        raise SolverError(f"{solver} proposed a solution from which nothing could be proven")
    return proof


def _joined(branches: tuple[Branch, Branch]) -> Branch:
    """Return the whole module as one branch of all C' hidden units."""
    first, second = branches
    return Branch(
        inner=np.vstack((first.inner, second.inner)),
        shift=np.concatenate((first.shift, second.shift)),
        outer=np.hstack((first.outer, second.outer)),
    )


def product_of_norms(branch: Branch) -> float:
    """Return the steepest slope times the spectral norms of both weights: the bound without Theorem 1."""
    norms = np.linalg.norm(branch.inner, 2) * np.linalg.norm(branch.outer, 2)
    return nextafter(GELU.high * float(norms) * (1 + 1e-12), inf)
