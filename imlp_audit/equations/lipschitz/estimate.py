"""Bounds on the Lipschitz constant of one AMLP module: proven from above, and the largest gradient found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from math import inf, nextafter

import numpy as np
import torch
from torch import Tensor

from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.certificate import Certificate, Solver, bound, certify, minimise_rho
from imlp_audit.equations.lipschitz.slopes import GELU
from imlp_audit.errors import SolverError
from imlp_audit.processes.workers import workers
from imlp_audit.records.listing import LipschitzBounds

_STEPS = (1.0, 0.3, 0.1, 0.03, 0.01)  # of the ascent, in units of the input
_SMALL = 32  # hidden units; Clarabel solves a branch of this size in about a second


def estimate(
    branches: tuple[Branch, Branch], starts: Sequence[Matrix], seconds: float, block: str = ""
) -> LipschitzBounds:
    """Bound the Lipschitz constant of the module at the path `block`; each solver has `seconds` for a branch.

    The largest gradient is searched for from `starts` (C,). Raises SolverError if a solver or its proof fails.

    Small modules go to both solvers, so that each confirms the other; larger ones only to SCS.
    """
    hidden, width = branches[0].inner.shape
    solvers = [Solver.SCS, *([Solver.CLARABEL] if hidden <= _SMALL else [])]
    proofs = {solver: _prove_both(branches, solver, seconds) for solver in solvers}
    best = min(proofs.values(), key=bound)
    bounds = {solver.value: bound(pair) for solver, pair in proofs.items()}
    return LipschitzBounds(
        block=block,
        bound=min(bounds.values()),
        width=width,
        hidden=hidden,
        rho=(best[0].rho, best[1].rho),
        solvers=bounds,
        product=product_bound(branches),
        gradient=largest_gradient(branches, starts),
    )


def _prove_both(branches: tuple[Branch, Branch], solver: Solver, seconds: float) -> tuple[Certificate, Certificate]:
    """Prove a bound for both branches, in parallel if they are large; equal branches only once."""
    first, second = branches
    if np.array_equal(first.inner, second.inner) and np.array_equal(first.outer, second.outer):
        proof = prove_least(first, solver, seconds)
        return proof, proof
    if first.inner.shape[0] <= _SMALL:
        return prove_least(first, solver, seconds), prove_least(second, solver, seconds)
    # One process per branch with one thread each: with more threads they slow each other down to half the speed.
    with _single_threaded_children(), workers(2) as pool:
        one, other = [pool.submit(prove_least, branch, solver, seconds) for branch in branches]
        try:
            return one.result(), other.result()
        except BrokenProcessPool as error:
            raise SolverError(f"{solver} was killed by the system, perhaps because memory ran out") from error


@contextmanager
def _single_threaded_children() -> Iterator[None]:
    """Start processes whose linear algebra uses one thread; it reads these variables when it is imported."""
    wanted = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def prove_least(branch: Branch, solver: Solver, seconds: float) -> Certificate:
    """Return the smallest rho that is proven for a branch, with its T. Raises SolverError if nothing is proven."""
    if not (branch.inner.any() and branch.outer.any()):
        return _prove_constant(branch)
    proof = certify(branch, minimise_rho(branch, solver, seconds=seconds))
    if proof is None:
        raise SolverError(f"{solver} proposed a solution from which no bound could be proven")
    return proof


def _prove_constant(branch: Branch) -> Certificate:
    """Return a proof for W^0 = 0 or W^1i = 0: every rho > 0 has a T, but solvers find none."""
    tiny = float(np.finfo(float).tiny)
    # squares that underflow must not leave a T of 0 beside weights that are not
    t = max(tiny, float(np.sum(branch.outer**2))) if branch.outer.any() else 0.0
    return Certificate(tiny, np.full(len(branch.inner), t))


def _join(branches: tuple[Branch, Branch]) -> Branch:
    """Return the whole module as one branch with all C' hidden units."""
    first, second = branches
    return Branch(
        inner=np.vstack((first.inner, second.inner)),
        shift=np.concatenate((first.shift, second.shift)),
        outer=np.hstack((first.outer, second.outer)),
    )


def product_bound(branches: tuple[Branch, Branch]) -> float:
    """Return the smaller of two bounds without Theorem 1: both branches apart, and both as one of twice the units."""
    return min(nextafter(sum(map(product_of_norms, branches)), inf), product_of_norms(_join(branches)))


def product_of_norms(branch: Branch) -> float:
    """Return the steepest slope times both spectral norms: the bound without Theorem 1."""
    norms = np.linalg.norm(branch.inner, 2) * np.linalg.norm(branch.outer, 2)
    return nextafter(GELU.high * float(norms) * (1 + 1e-12), inf)


def largest_gradient(branches: tuple[Branch, Branch], starts: Iterable[Matrix], rounds: int = 20) -> float:
    """Return the largest spectral norm of the module's Jacobian found by gradient ascent from each start (C,).

    No Lipschitz constant can be smaller. The Jacobian at x is the sum of outer diag(GeLU'(inner x + shift)) inner over
    the branches. With its first singular vectors u and v, the gradient of its norm is that of u^T J(x) v.
    """
    return max(_ascend(branches, start, rounds) for start in starts)


def _ascend(branches: tuple[Branch, Branch], x: Matrix, rounds: int) -> float:
    best, direction = norm_and_gradient(branches, x)
    for _ in range(rounds):
        size = float(np.linalg.norm(direction))
        if size == 0:
            break
        tries = ((x + step * direction / size) for step in _STEPS)
        norm, slope, place = max(
            ((*norm_and_gradient(branches, place), place) for place in tries), key=lambda one: one[0]
        )
        if norm <= best:
            break
        best, direction, x = norm, slope, place
    return best


def norm_and_gradient(branches: tuple[Branch, Branch], x: Matrix) -> tuple[float, Matrix]:
    """Return the norm of the Jacobian at x, and the gradient of that norm."""
    hidden = [branch.inner @ x + branch.shift for branch in branches]
    jacobian = sum(b.outer @ (_slope(z)[:, None] * b.inner) for b, z in zip(branches, hidden, strict=True))
    left, sizes, right = np.linalg.svd(np.asarray(jacobian), full_matrices=False)
    u, v = left[:, 0], right[0]
    gradient = sum(
        b.inner.T @ (_curvature(z) * (b.outer.T @ u) * (b.inner @ v)) for b, z in zip(branches, hidden, strict=True)
    )
    return float(sizes[0]), np.asarray(gradient)


def _slope(z: Matrix) -> Matrix:
    """Return GeLU'(z) = Phi(z) + z phi(z)."""
    x = torch.from_numpy(z)
    slope: Matrix = (torch.special.ndtr(x) + x * _density(x)).numpy()
    return slope


def _curvature(z: Matrix) -> Matrix:
    """Return GeLU''(z) = phi(z) (2 - z^2)."""
    x = torch.from_numpy(z)
    curvature: Matrix = (_density(x) * (2 - x * x)).numpy()
    return curvature


def _density(x: Tensor) -> Tensor:
    density: Tensor = torch.exp(-x * x / 2) / (2 * torch.pi) ** 0.5
    return density
