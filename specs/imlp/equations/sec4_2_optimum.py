"""Sec. 4.2, after Theorem 1: its bound as the optimum of a semidefinite program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.lipschitz.branches import Branch, Matrix, branches
from imlp_audit.equations.lipschitz.certificate import Certificate, Solver, bound, certify, holds, minimise_rho, prove
from imlp_audit.equations.lipschitz.estimate import largest_gradient, product_of_norms
from imlp_audit.equations.lipschitz.slopes import GELU
from imlp_audit.equations.matrix import RoundedMatrix

from ._theorem import Module, modules, modules_of


@dataclass(frozen=True)
class OneUnit:
    """W^11 and W^12 of a module of one hidden unit whose W^0 is 1 and whose AGeLUs are GeLU."""

    w11: float
    w12: float

    def rhos(self, t: Matrix) -> tuple[Matrix, Matrix]:
        """Return, for every T, the least rho_i with M(rho_i, T) <= 0, by Eq. 9's Schur complement."""
        p, q = GELU.low, GELU.high
        first, second = (-2 * p * q * t + (p + q) ** 2 * t * t / (2 * t - w * w) for w in (self.w11, self.w12))
        return first, second

    def ts(self) -> Matrix:
        """Return the Ts that are tried: 2 T above both squared weights by 0.01 % to 100 times the larger one."""
        larger: Matrix = max(self.w11**2, self.w12**2) * (1 + np.geomspace(1e-4, 100, 8000)) / 2
        return larger


_WEIGHTS = st.permutations((1.0, 2.0, 0.5))


@claim(_WEIGHTS.map(lambda weights: OneUnit(*weights[:2])))
def theorem1_optimum(case: OneUnit, arithmetic: Arithmetic) -> Trial:
    """A semidefinite program finds the global minimum of sqrt(rho_1) + sqrt(rho_2).

    Read as: over rho_1, rho_2 and the one T that the theorem has for both inequalities. A semidefinite program
    minimises a linear function, here rho_1 + rho_2. Tested with one hidden unit, W^0 = 1, W^11 other than W^12 and
    phi_1 = phi_2 = GeLU, where the least rho_i of a T is a formula; no solver is run.

    Place: Sec. 4.2, after Theorem 1
    Printed: Theorem 1 gives an upper bound of L(f) = sqrt(rho_1) + sqrt(rho_2) on the Lipschitz constant of the AMLP
        module; it can be treated as a semi-definite program which can be solved numerically to derive its global
        minimum
    Nearest: theorem1_optimum_corrected
    Bound: 1e-4 of L(f); T is searched in steps of 0.2 % of 2 T - w^2, and L(f) at the two is 8e-4 or more apart
    """
    # Look for a T that has a smaller sqrt(rho_1) + sqrt(rho_2) than the one with the least rho_1 + rho_2.
    ts = case.ts()
    first, second = case.rhos(ts)
    bounds = np.sqrt(first) + np.sqrt(second)
    of_program, least = int((first + second).argmin()), int(bounds.argmin())
    found = {"T of the least rho_1 + rho_2": round(ts[of_program], 2), "L(f) there": round(bounds[of_program], 4)}
    found |= {"another T": round(ts[least], 2), "its L(f)": round(bounds[least], 4)}
    apart = round(GELU.high * (case.w11 + case.w12), 4)
    shown = {"W^0": 1.0, "W^11": case.w11, "W^12": case.w12, **found, "with a T for each": apart}
    return Trial(bool(bounds[of_program] <= bounds[least] * (1 + 1e-4)), shown)


@claim(modules())
def theorem1_inequality(case: Module, arithmetic: Arithmetic) -> Trial:
    """The least rho_i of a T makes M(rho_i, T) negative semidefinite, and 0.99 rho_i does not: the matrix of Eq. 9 is
    the one that the package proves the inequality of.

    Place: Sec. 4.2, Eq. 9
    Corrected: M(rho_i, T) = [[-2 p_i q_i W^0' T W^0 - rho_i I, (p_i + q_i) W^0' T], [(p_i + q_i) T W^0, -2 T + W^1i'
        W^1i]] <= 0 for the least rho_i alone
    Bound: of an eigenvalue that should be 0, 1e-9 of the matrix's norm: the least rho is proven to 1e-10
    """
    # Hold the eigenvalues of the printed matrix against what the package proves.
    for i, (half, proven) in enumerate(zip(case.halves, case.own_ts, strict=True)):
        branch = Branch(inner=np.array(case.w0), shift=np.array(case.b0), outer=np.array(half.w1))
        for share in (1.0, 0.99):
            rho = share * proven.rho
            eigenvalue = _largest_eigenvalue(case, i, rho, proven.t.tolist(), arithmetic)
            if (eigenvalue <= 1e-9) != (share == 1.0) or holds(branch, rho, proven.t, half.slopes) != (share == 1.0):
                return Trial(False, {**case.shown(), "i": i + 1, "rho": rho, "largest eigenvalue": eigenvalue})
    return Trial(True)


def _largest_eigenvalue(case: Module, i: int, rho: float, t: Sequence[float], arithmetic: Arithmetic) -> float:
    """Return the largest eigenvalue of M(rho, T), in units of its norm."""
    of_13, of_15 = case.blocks_of_13(i, arithmetic, t), case.blocks_of_15(i, arithmetic, rho)
    left, right = (np.block([[_values(block) for block in row] for row in blocks]) for blocks in (of_13, of_15))
    return float(np.linalg.eigvalsh(left - right)[-1] / np.linalg.norm(left - right))


def _values(block: RoundedMatrix) -> Matrix:
    return np.array([[entry.value for entry in row] for row in block])


_SMALL = st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 2)).flatmap(lambda size: modules_of(*size))


@claim(_SMALL, share=0.1)
def theorem1_optimum_corrected(case: Module, arithmetic: Arithmetic) -> Trial:
    """With a T of its own, the least rho_i of each inequality is the optimum of a semidefinite program, and
    sqrt(rho_1) + sqrt(rho_2) is never above the product of the spectral norms and GeLU's steepest slope, branch by
    branch, and never below the largest gradient norm of the module.

    The branches are those of the package's module, whose gradient is held against theirs. What the solver proposes is
    proven by a Cholesky factorisation with a margin for rounding; its own status proves nothing. The least rho is a
    convex function of T: that it is the optimum is tested by steps of 5 % from T in every direction of its entries.

    Place: Sec. 4.2, after Theorem 1
    Corrected: L(f) = sqrt(rho_1) + sqrt(rho_2), rho_i the minimum of the semi-definite program over rho_i and T_i with
        M(rho_i, T_i) <= 0; gradient norm <= L(f) <= sum_{i=1}^{2} 1.12890 ||diag(alpha_i) W^0|| ||W^1i diag(beta_i)||
    Bound: of the optimum and the product of norms, 1e-4: no rounding bound but how far a solver's proposal may be from
        the optimum, so that only these comparisons rest on it; of the gradient, 1e-14, and 100 u between its two forms:
        sums of at most 6 products
    Needs: a semidefinite program
    """
    # Solve both programs, prove them, and hold the bound against other Ts, the gradient and the norms.
    f = case.built(case.w1, arithmetic)
    first, second = branches(f.state_dict())
    one, other = (certify(branch, minimise_rho(branch, Solver.CLARABEL)) for branch in (first, second))
    if one is None or other is None:
        return Trial(False, {**case.shown(), "proven": "nothing"})
    found = bound((one, other))
    largest = product_of_norms(first) + product_of_norms(second)
    gradient = largest_gradient((first, second), [np.array(case.x), np.array(case.y)])
    at_x = largest_gradient((first, second), [np.array(case.x)], rounds=0)
    of_module = float(torch.linalg.matrix_norm(jacobian(f, arithmetic.tensor([case.x]))[0, :, 0], 2))
    least = bound((_best_near(first, one), _best_near(second, other)))
    true = gradient <= found + 1e-14 * largest and found <= min(largest, least) * (1 + 1e-4)
    true = true and abs(at_x - of_module) <= 100 * arithmetic.unit * largest
    bounds = {"bound": found, "with a T nearby": least, "product of norms": largest}
    gradients = {"norm of the gradient at x": at_x, "the module's": of_module, "largest": gradient}
    return Trial(true, {**case.shown(), **gradients, **bounds})


def _best_near(branch: Branch, optimum: Certificate) -> Certificate:
    """Return the proven pair of least rho, of the optimum and the Ts whose entries are 5 % more, less or the same."""
    factors = product((1.0, 0.95, 1.05), repeat=len(optimum.t))
    near = (prove(branch, optimum.t * np.array(factor)) for factor in factors)
    return min((pair for pair in near if pair is not None), key=lambda pair: pair.rho, default=optimum)
