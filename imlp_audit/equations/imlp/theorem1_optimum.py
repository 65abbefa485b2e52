"""The semidefinite program of Theorem 1 gives a bound that is never above the product of the spectral norms and GeLU's
steepest slope, branch by branch, and never below the largest gradient norm of the module. What the solver proposes is
proven by a Cholesky factorisation with a margin for rounding; its own status proves nothing.

Read as: each of the two inequalities has a T of its own, which is all that the proof needs. With one T for both, as the
letter of the theorem has it, sqrt(rho_1) + sqrt(rho_2) is no semi-definite program's objective, and its least value may
be above the product of norms (W^0 = 1, W^11 = 1, W^12 = 1/4: 1.94 against 1.41).

Place: Sec. 4.2, after Theorem 1
Printed: Theorem 1 gives an upper bound of L(f) = sqrt(rho_1) + sqrt(rho_2) on the Lipschitz constant of the AMLP
    module; it can be treated as a semi-definite program which can be solved numerically to derive its global minimum
Bound: of the product of norms, 1e-4: no rounding bound but how far a solver's proposal may be from the optimum, so that
    only the comparison with the product rests on it; of the gradient, 1e-14: sums of at most 6 products
Needs: a semidefinite program
"""

from __future__ import annotations

import numpy as np

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._theorem import Half, Module, modules
from imlp_audit.lipschitz.branches import Branch
from imlp_audit.lipschitz.certificate import Solver, bound, certify, minimise_rho
from imlp_audit.lipschitz.estimate import largest_gradient, product_of_norms


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Solve both programs, prove them, and hold the bound against the gradient and the norms."""
    first, second = (_branch(case, half) for half in case.halves)
    one, other = (certify(branch, minimise_rho(branch, Solver.CLARABEL)) for branch in (first, second))
    if one is None or other is None:
        return Trial(False, {**case.shown(), "proven": "nothing"})
    found = bound((one, other))
    product = product_of_norms(first) + product_of_norms(second)
    gradient = largest_gradient((first, second), [np.array(case.x), np.array(case.y)])
    holds = gradient <= found + 1e-14 * product and found <= product * (1 + 1e-4)
    return Trial(holds, {**case.shown(), "gradient": gradient, "bound": found, "product of norms": product})


def _branch(case: Module, half: Half) -> Branch:
    """Return a half with the coefficients of its AGeLU as part of the weights, so that phi is GeLU."""
    (alpha,), (beta,), (gamma,) = half.phi.alpha, half.phi.beta, half.phi.gamma
    w0, b0 = np.array(case.w0), np.array(case.b0)
    return Branch(inner=alpha * w0, shift=alpha * b0 + gamma, outer=beta * np.array(half.w1))


CLAIM = Claim(modules(), judge, share=0.1)
